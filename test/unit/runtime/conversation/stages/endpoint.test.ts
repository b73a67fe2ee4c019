import t from 'tap'
import type { AgentSpec } from '../../../../../runtime/call/types/agent-spec.ts'
import { desk } from './support/desk.ts'

const endsAfter = (endpointing: NonNullable<AgentSpec['endpointing']>, probability: number, text: string): number => {
  const { report, did } = desk({ endpointing })
  report({ type: 'paused', probability, text, endMs: 1_000 })
  return Number(/turn ends at (.*)/.exec(did.join())?.[1]) - 1_000
}

t.test('the surer the model and the words, the shorter the silence that ends a turn', async (t) => {
  t.equal(endsAfter('balanced', 0.9, 'Are you open?'), 140)
  t.ok(endsAfter('balanced', 0.3, 'Are you open?') < endsAfter('balanced', 0.3, 'are you'))
  t.ok(endsAfter('balanced', 0.9, 'I would like to book a table for') > 1_000)
})

t.test('an eager agent waits for less, a patient one for more', async (t) => {
  for (const [probability, text] of [
    [0.9, 'Are you open?'],
    [0.3, 'four people'],
    [0.1, 'and then'],
  ] as const) {
    const balanced = endsAfter('balanced', probability, text)
    t.ok(endsAfter('eager', probability, text) < balanced)
    t.ok(endsAfter('patient', probability, text) > balanced)
  }
})
