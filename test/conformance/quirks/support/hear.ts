import { stt } from '@livekit/agents'
import type { Test } from 'tap'
import type { SpeechOptions } from '../../../../runtime/plugin/contract.ts'
import { registryWith, spokenFrames } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'
import { collect, errorsOf, ONE_ATTEMPT, silence, withInstance } from '../../support.ts'

export const SENTENCE = 'What time do you open on Saturday?'

/** What a recogniser makes of a sentence, at its provider's double. */
export async function hear(
  t: Test,
  provider: string,
  chosen: Partial<Omit<SpeechOptions, 'settings'>>,
  options: Record<string, unknown> = {},
): Promise<{ text: string; language: string; errors: string[] }> {
  const { env, stop } = await startDoubles()
  t.teardown(stop)
  const registry = await registryWith(t, env, { [provider]: options })
  const heard = { text: '', language: '', errors: [] as string[] }
  await withInstance(
    () => registry.create('stt', provider, chosen),
    async (recogniser) => {
      const errors = errorsOf(recogniser)
      const stream = recogniser.stream({ connOptions: ONE_ATTEMPT })
      const frames = await spokenFrames(SENTENCE)
      for (const frame of [...frames, ...silence(1_500, 16_000)]) stream.pushFrame(frame)
      stream.endInput()
      for (const { type, alternatives } of await collect(stream, 30_000)) {
        if (type !== stt.SpeechEventType.FINAL_TRANSCRIPT) continue
        heard.text += alternatives?.[0].text ?? ''
        heard.language = alternatives?.[0].language ?? ''
      }
      stream.close()
      heard.errors = errors.map(({ error }) => error.message)
    },
  )
  return heard
}
