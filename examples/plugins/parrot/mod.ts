import { definePlugin } from '@patchbay/plugin'
import { InboundAudio } from './ears.ts'
import { embed } from './letters.ts'
import { chat } from './model.ts'
import { repeat } from './repeat.ts'
import { whistle } from './whistle.ts'

const RATE_HZ = 16_000

export default definePlugin({
  stt: () => ({
    sampleRateHz: RATE_HZ,
    async *recognise(audio) {
      const ears = new InboundAudio(RATE_HZ)
      for await (const samples of audio) yield* ears.push(samples)
      yield* ears.end()
    },
  }),
  tts: () => ({ sampleRateHz: RATE_HZ, speak: (text, signal) => whistle(text, RATE_HZ, signal) }),
  llm: (host) => ({ chat: (request, signal) => chat(host, request, signal) }),
  embedding: () => ({ dimensions: 26, embed: async (texts) => texts.map(embed) }),
  tools: () => repeat,
})
