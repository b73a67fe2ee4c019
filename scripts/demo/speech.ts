import { spawn } from 'node:child_process'
import { Resampler } from '../../runtime/media/dsp/resample.ts'
import { joinSamples } from '../../runtime/media/frame.ts'
import { ESPEAK_SAMPLE_RATE_HZ, espeak } from '../../runtime/plugin-sdk/speech/espeak.ts'

/** A sentence as the simulated caller says it: mono 16-bit samples at `rateHz`, without silence around it. */
export async function renderSpeech(text: string, rateHz: number, voice = 'en-us'): Promise<Int16Array<ArrayBuffer>> {
  const resampler = new Resampler(ESPEAK_SAMPLE_RATE_HZ, rateHz)
  const parts: Int16Array[] = []
  const start = (program: string, args: readonly string[], options?: { signal?: AbortSignal }) =>
    spawn(program, args, { ...options, stdio: 'pipe' })
  for await (const part of espeak(start, text, { voice, trimEnd: true }, new AbortController().signal)) {
    parts.push(resampler.push(part))
  }
  parts.push(resampler.flush())
  return joinSamples(parts)
}
