import type { tts } from '@livekit/agents'
import type { Test } from 'tap'
import { joinSamples } from '../../../../runtime/media/frame.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { collect, errorsOf, ONE_ATTEMPT, withInstance } from '../../support.ts'
import type { SoundQuirk } from './quirk.ts'
import { scriptedServer } from './scripted-server.ts'

/** The providers whose voices speak over plain HTTP, and how each is told where its server is. */
export const HTTP_VOICES = {
  openai: (url: string) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'k' }),
  azure: (url: string) => ({ AZURE_SPEECH_BASE_URL: url, AZURE_SPEECH_KEY: 'k' }),
} as const

export async function runSound(t: Test, quirk: SoundQuirk, provider: keyof typeof HTTP_VOICES): Promise<void> {
  const { url } = await scriptedServer(t, [quirk.reply])
  const registry = await registryWith(t, HTTP_VOICES[provider](url))
  await withInstance(
    () => registry.create('tts', provider),
    async (voice) => {
      const errors = errorsOf(voice)
      const stream = voice.stream({ connOptions: ONE_ATTEMPT })
      stream.pushText('We are open from nine to five.')
      stream.endInput()
      const items = await collect<tts.SynthesizedAudio | symbol>(stream, 20_000)
      stream.close()
      const samples = joinSamples(items.flatMap((item) => (typeof item === 'symbol' ? [] : [item.frame.data])))
      quirk.check(t, { samples, errors: errors.map(({ error }) => error.message) })
    },
  )
}

/** A second of a tone, as 16-bit PCM. */
export function tone(rateHz: number, channels = 1): Buffer {
  const bytes = Buffer.alloc(rateHz * channels * 2)
  for (let i = 0; i < rateHz; i++) {
    const sample = Math.round(8_000 * Math.sin((2 * Math.PI * 440 * i) / rateHz))
    for (let c = 0; c < channels; c++) bytes.writeInt16LE(sample, (i * channels + c) * 2)
  }
  return bytes
}

export function wav(rateHz: number, channels = 1): Buffer {
  const data = tone(rateHz, channels)
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + data.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(channels, 22)
  head.writeUInt32LE(rateHz, 24)
  head.writeUInt32LE(rateHz * channels * 2, 28)
  head.writeUInt16LE(channels * 2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}
