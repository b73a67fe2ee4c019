import { setTimeout as sleep } from 'node:timers/promises'
import type { llm } from '@livekit/agents'
import { test } from 'tap'
import type { CallEventBody } from '../../../../runtime/call/log/events.ts'
import { call, RATE_HZ } from './support/harness.ts'
import { type Reply, ScriptedLlm, ScriptedStt, ToneTts } from './support/providers.ts'
import { speech } from './support/speech.ts'

const GROUPS = ['My number is four one five', 'double five five', 'oh one two three and that is all'] as const
const YES = 'Yes.'
const NO = 'No the last digit is five I am quite sure'
const PIN = 'four two four two four two four two four two four two four two four two please now'

const item = (name: string, type: 'phone' | 'digits', secret = false, more = {}) => ({
  ...{ name, type, secret, spellBack: !secret, attempts: 3 },
  ...more,
})

/** The results that a model reads. */
const results = ({ items }: llm.ChatContext): string[] =>
  items.flatMap((one) => (one.type === 'function_call_output' ? [one.output] : []))

/** Asks for the value first; once it is there, says so. */
const wants =
  (tool: string): Reply =>
  (_words, context) => {
    const [result] = results(context)
    return result === undefined ? `call ${tool}` : `Thank you for ${result}`
  }

function providers(reply: Reply, utterances: readonly string[] = [...GROUPS, YES, NO, PIN]) {
  return { stt: new ScriptedStt({ utterances }), llm: new ScriptedLlm(reply), tts: new ToneTts() }
}

const collected = (events: readonly CallEventBody[]) => events.filter(({ type }) => type === 'collected')

/** The process stands still, as on a machine that has too much to do: the caller's sound comes later. */
const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('a number dictated in groups with pauses of a second and a half is one answer, read back and corrected', async (t) => {
  const made = providers(wants('collect_phone'))
  const { port, say, type, hangUp } = await call({
    providers: made,
    agent: { collect: [item('phone', 'phone')], firstMessage: '' },
  })
  t.teardown(hangUp)
  type('I want to be called back.')
  await port.until('the number was asked for', () => port.said.includes('assistant: What is your phone number?'))
  for (const [i, group] of GROUPS.entries()) {
    if (i > 0) await sleep(750)
    // Of these the caller hears and says nothing: their pause is as long as the others.
    if (i === 1) standStill(1_200)
    if (i > 0) await sleep(750)
    await say(speech(group, RATE_HZ))
  }
  await port.until('it was read back', () => port.said.some((one) => one.includes('0 1 2 3. Is that right?')))
  t.ok(port.said.includes(`user: ${GROUPS.join(' ')}`), 'one turn')
  await say(speech(NO, RATE_HZ))
  await port.until('the correction was read back', () =>
    port.said.some((one) => one.includes('0 1 2 5. Is that right?')),
  )
  await say(speech(YES, RATE_HZ))
  await port.until('the model went on', () => port.said.some((one) => one.startsWith('assistant: Thank you for')))
  t.match(collected(port.events), [{ name: 'phone', status: 'collected', value: '+14155550125', attempts: 1 }])
  const last = made.llm.contexts.at(-1)!
  t.match(JSON.parse(results(last)[0]!), { value: '+14155550125' })
  const calls = last.items.filter((one) => one.type === 'function_call')
  t.equal(calls.length, 1, 'each call of a tool has its result')
  t.equal(made.llm.contexts.length, 2, 'the model was asked for the first turn and for the value, never for a group')
})

test('a secret is kept by the api node: no event and no request of the model holds it', async (t) => {
  const made = providers(wants('collect_card'))
  const agent = { collect: [item('card', 'digits', true, { luhn: true })], firstMessage: '' }
  const { port, say, press, type, hangUp } = await call({ providers: made, agent })
  t.teardown(hangUp)
  type('I want to pay.')
  await port.until('the card was asked for', () => port.said.some((one) => one.includes('What is the number')))
  await say(speech(PIN, RATE_HZ))
  await port.until('it was collected', () => collected(port.events).length === 1)
  await port.until('the model went on', () => port.said.some((one) => one.startsWith('assistant: Thank you for')))
  t.same(port.secrets, [{ name: 'card', value: '4242424242424242' }])
  const logged = JSON.stringify([port.events, port.said, port.words, made.llm.contexts.map(({ items }) => items)])
  t.notMatch(logged, /4242|four two/)
  t.match(logged, /\{\{card\}\}/)
  press('1')
})

test('answers are guarded: a sentence is made once more, and an unguarded agent is not slower for it', async (t) => {
  const reply: Reply = (_words, { items }) => {
    const note = items.findLast((one) => one.type === 'message' && one.role === 'system')
    const isAgain = note?.type === 'message' && /was stopped/.test(note.textContent ?? '')
    return isAgain ? 'I do not know the price.' : 'Let me see. That is 85 dollars. Anything else?'
  }
  const agent = { guardrails: { grounded: ['money' as const] }, firstMessage: '' }
  const made = providers(reply)
  const { port, type, hangUp } = await call({ providers: made, agent })
  t.teardown(hangUp)
  type('What does it cost?')
  await port.until('the answer was said', () => port.said.some((one) => one.includes('I do not know the price.')))
  t.notMatch(port.said.join(' '), /85/)
  t.notMatch(made.tts.said.join(' '), /85/)
  t.match(
    port.events.filter(({ type }) => type === 'guarded'),
    [{ rule: 'money', action: 'regenerated', found: '85 dollars' }],
  )
})
