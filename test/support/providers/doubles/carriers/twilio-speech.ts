import { spawn } from 'node:child_process'
import type { Lines } from '../../../../../plugins/sim/sim-callee.ts'
import { encodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { Resampler } from '../../../../../runtime/media/dsp/resample.ts'
import { ESPEAK_SAMPLE_RATE_HZ, espeak } from '../../../../../runtime/plugin-sdk/speech/espeak.ts'

const RATE_HZ = 8_000

/** What is said, as μ-law of a telephone, spoken by espeak-ng. */
export async function speech(text: string): Promise<Uint8Array> {
  const resampler = new Resampler(ESPEAK_SAMPLE_RATE_HZ, RATE_HZ)
  const parts: Uint8Array[] = []
  const start: Parameters<typeof espeak>[0] = (program, args, options) =>
    spawn(program, args, { ...options, stdio: 'pipe' })
  for await (const samples of espeak(start, text, { voice: 'en-us', trimEnd: true }, new AbortController().signal)) {
    parts.push(encodeG711('pcmu', resampler.push(samples)))
  }
  parts.push(encodeG711('pcmu', resampler.flush()))
  return Buffer.concat(parts)
}

/** The lines of a person who asks these questions and says goodbye. */
export async function linesOf(questions: readonly string[]): Promise<Lines> {
  const [hello, goodbye, ...rest] = await Promise.all(['Hello.', 'Thanks, goodbye.', ...questions].map(speech))
  return { hello: hello!, goodbye: goodbye!, questions: rest }
}
