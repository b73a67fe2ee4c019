import type { tts } from '@livekit/agents'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'
import { collect, errorsOf, inTime, ONE_ATTEMPT, withInstance } from '../../support.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

const CUT_IN = 6

export default {
  kind: 'protocol',
  title: 'answers that are cut off leave no contexts of Eleven v4 that speak on until there is room for no other',
  report:
    'npm @elevenlabs/elevenlabs-js 2.73.0: close_context flushes; tried by others on 2026-09-22: five contexts at most',
  async run(t) {
    const { env, stop } = await startDoubles()
    t.teardown(stop)
    const registry = await registryWith(t, env, { elevenlabs: { ttsModel: 'eleven_v4_turbo' } })
    await withInstance(
      () => registry.create('tts', 'elevenlabs'),
      async (voice) => {
        const errors = errorsOf(voice)
        for (let i = 0; i < CUT_IN; i++) {
          const cut = voice.stream({ connOptions: ONE_ATTEMPT })
          cut.pushText('We are open from nine to five on every day of the week but Sunday. '.repeat(10))
          cut.flush()
          await inTime(cut.next(), 30_000, 'the first sound')
          cut.close()
        }
        const stream = voice.stream({ connOptions: ONE_ATTEMPT })
        stream.pushText('Come in.')
        stream.endInput()
        const pieces = await collect<tts.SynthesizedAudio | symbol>(stream)
        stream.close()
        t.ok(pieces.length > 1, 'the next answer is spoken')
        t.same(errors, [])
      },
    )
  },
} satisfies ProtocolQuirk
