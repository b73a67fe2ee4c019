import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { joinSamples } from '../../../runtime/media/frame.ts'
import { wavHead } from '../../../runtime/recording/wav.ts'
import { renderSpeech } from '../../../scripts/demo/speech.ts'
import { type Teardown, testFolder } from '../instance/services.ts'

const RATE_HZ = 48_000

/** What Chromium's microphone says, from when it is opened: sentences, and pauses in milliseconds. */
export type Speech = readonly (string | number)[]

/** The options of a Chromium whose microphone says `speech` once. */
export async function microphoneArgs(t: Teardown, speech: Speech): Promise<string[]> {
  const parts = await Promise.all(
    speech.map(async (part) =>
      typeof part === 'number' ? new Int16Array((part * RATE_HZ) / 1000) : await renderSpeech(part, RATE_HZ),
    ),
  )
  const samples = joinSamples(parts)
  const stereo = new Int16Array(2 * samples.length)
  for (const [i, sample] of samples.entries()) stereo.fill(sample, 2 * i, 2 * i + 2)
  const file = join(await testFolder(t), 'microphone.wav')
  await writeFile(file, Buffer.concat([wavHead(RATE_HZ, stereo.byteLength), new Uint8Array(stereo.buffer)]))
  return [
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    `--use-file-for-fake-audio-capture=${file}%noloop`,
  ]
}
