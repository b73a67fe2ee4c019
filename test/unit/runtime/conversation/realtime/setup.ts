import type { Test } from 'tap'
import { type Call, type CallOptions, call } from '../support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from '../support/providers.ts'
import { DELIVERY, PROMPT, type RealtimeWorld, WHERE } from './support.ts'

export const WEATHER = {
  name: 'weather',
  description: 'The weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  kind: 'http' as const,
}
export const WHERE_ANSWER = 'assistant: The shop is at 12 Pier Street.'
export const DELIVERY_ANSWER = 'assistant: Delivery costs three euros anywhere in town.'

interface Setup extends Partial<Pick<CallOptions, 'prepare' | 'line' | 'agent' | 'open'>> {
  /** What the pipeline says where the session fails; none: there is no fallback. */
  fallback?: string
  own?: Record<string, unknown>
  /** What the recogniser knows. Default: the two questions. */
  utterances?: readonly string[]
  /** What the recogniser makes of them. Default: their words. */
  writes?: (text: string) => string
}

/** A call whose agent thinks with the world's model. */
export async function realtimeCall(t: Test, world: RealtimeWorld, setup: Setup = {}): Promise<Call> {
  const { fallback, own, agent, utterances = [WHERE, DELIVERY], writes, ...rest } = setup
  const model = await world.model(own)
  const one = await call({
    providers: {
      stt: new ScriptedStt({ utterances, ...(writes && { writes }) }),
      llm: fallback === undefined ? model : [model, new ScriptedLlm(() => fallback)],
      tts: new ToneTts(),
    },
    agent: { systemPrompt: PROMPT, firstMessage: '', ...agent },
    ...rest,
  })
  t.teardown(one.hangUp)
  return one
}
