import { test } from 'tap'
import { testFaults } from '../../../../runtime/agent-tests/parse.ts'
import { runTest } from '../../../../runtime/agent-tests/run-test.ts'
import type { AgentTest, ExpectedFact } from '../../../../runtime/agent-tests/schema.ts'
import { BOOKING_AGENT, depsWith, type Model, textOf } from './support/booking-agent.ts'

const tool = (name: string, kind: 'http' | 'handoff' | 'procedure', more = {}) => ({
  ...{ name, description: name, parameters: { type: 'object' }, kind },
  ...more,
})

const AGENT = {
  ...BOOKING_AGENT,
  firstMessage: '',
  tools: [
    tool('find', 'http'),
    tool('refund', 'http'),
    tool('hand_off_to_billing', 'handoff', { says: 'I connect you with billing.' }),
    tool('begin_procedure', 'procedure'),
  ],
  collect: [{ name: 'phone', type: 'phone' as const, spellBack: true, secret: false, attempts: 1 }],
  guardrails: { never: ['guarantee'], grounded: ['money' as const] },
  procedures: [
    {
      ...{ name: 'cancel', when: 'w', text: 'Be kind.', tools: ['refund'] },
      fixed: [
        { say: 'It ends this month.' },
        { ask: 'What is your contract?' },
        { tool: 'find', arguments: { by: 'contract' } },
        { collect: 'phone' },
      ],
    },
    { name: 'plain', when: 'w', text: 'Be plain.', tools: [], fixed: [] },
  ],
}

const call = (name: string, given: Record<string, unknown> = {}) => ({ call: { name, arguments: given } })

/** Does what the caller names. */
const model: Model = (messages) => {
  if (textOf(messages, 'tool_result') !== '') return { text: 'There you are.' }
  if (/was stopped before/.test(JSON.stringify(messages.at(-1)))) return { text: 'I can say nothing of that.' }
  const asked = textOf(messages, 'user')
  if (/bill/.test(asked)) return call('hand_off_to_billing', { reason: 'It is about a bill.' })
  if (/price/.test(asked)) return { text: 'It costs 85 dollars.' }
  if (/call me/.test(asked)) return call('collect_phone')
  if (/plain/.test(asked)) return call('begin_procedure', { name: 'plain' })
  if (/cancel/.test(asked)) return call('begin_procedure', { name: 'cancel' })
  return { text: 'What would you like?' }
}

const HANDOFFS = new Map([['hand_off_to_billing', { agentId: 'b-1', agentName: 'Billing' }]])

/** The verdict of each fact on a conversation with these lines of the caller. */
async function judged(say: AgentTest['caller']['say'], expect: ExpectedFact[]) {
  const test: AgentTest = { name: 'n', caller: { say }, tools: { find: { returns: 'found' } }, expect }
  const result = await runTest(test, depsWith(model, { agent: AGENT, handoffs: HANDOFFS }))
  return {
    verdicts: result.facts.map(({ fact, verdict, why }) => `${fact}: ${verdict}${why === undefined ? '' : `, ${why}`}`),
    turns: result.record?.turns.map(({ role, text }) => `${role}: ${text}`),
    tools: result.record?.tools.map(({ name }) => name),
    error: result.error,
  }
}

test('a hand-off is a fact by the next agent’s name or id, and what is said before is heard', async (t) => {
  const { verdicts, turns } = await judged(
    ['It is about a bill.', 'Never said.'],
    [{ handed_off: 'billing' }, { handed_off: 'b-1', once: true }, { handed_off: 'Sales' }, { heard: 'with billing.' }],
  )
  t.same(verdicts, [
    'handed_off billing: pass',
    'handed_off b-1, once: pass',
    'handed_off Sales: fail, the caller was handed to Billing (It is about a bill.)',
    'heard with billing.: pass',
  ])
  t.same(turns, ['user: It is about a bill.', 'assistant: I connect you with billing.'])
  const stays = await judged(['Hello.'], [{ handed_off: 'Billing' }, { handed_off: 'Billing', times: 0 }])
  t.same(stays.verdicts, ['handed_off Billing: fail, no hand-off was made', 'handed_off Billing, times 0: pass'])
})

test('a collected value is a fact, and so is one that was given up', async (t) => {
  const say = ['Please call me.', 'four one five, five five five, oh one two three', 'Yes.']
  const there = await judged(say, [
    { collected: 'phone', value: '+14155550123' },
    { collected: 'phone', value: '/0124$/' },
    { collected: 'email' },
  ])
  t.same(there.verdicts, [
    'collected phone, value +14155550123: pass',
    'collected phone, value /0124$/: fail, it was +14155550123',
    'collected email: fail, it was not asked for',
  ])
  const gone = await judged(['Please call me.', 'Well.'], [{ collected: 'phone' }])
  t.same(gone.verdicts, ['collected phone: fail, gave_up after 1 questions'])
})

test('an answer is guarded as in a call, and that is a fact', async (t) => {
  const { verdicts, turns } = await judged(
    ['What is the price?'],
    [{ guarded: 'money', once: true }, { guarded: 'never' }, { never_heard: '85' }, { guarded: 'url', times: 0 }],
  )
  t.same(verdicts, [
    'guarded money, once: pass',
    'guarded never: fail, refused was money: It costs 85 dollars.',
    'never_heard 85: pass',
    'guarded url, times 0: pass',
  ])
  t.same(turns, ['user: What is the price?', 'assistant: It costs I can say nothing of that.'])
})

test('the fixed steps of a procedure are made without the model, and that they were is a fact', async (t) => {
  const say = ['I want to cancel.', '4711', 'four one five, five five five, oh one two three', 'Yes.']
  const made = await judged(say, [
    { procedure: 'cancel', to_end: true },
    { procedure: 'plain' },
    { called: 'find', once: true, with: { by: 'contract' } },
    { collected: 'phone' },
  ])
  t.equal(made.error, undefined)
  t.same(made.verdicts, [
    'procedure cancel, to_end: pass',
    'procedure plain: fail, it was not begun, but cancel',
    'called find, once, with {"by":"contract"}: pass',
    'collected phone: pass',
  ])
  t.same(made.turns, [
    'user: I want to cancel.',
    'assistant: It ends this month.',
    'assistant: What is your contract?',
    'user: 4711',
    'assistant: What is your phone number?',
    'user: four one five, five five five, oh one two three',
    'assistant: I have 4 1 5, 5 5 5, 0 1 2 3. Is that right?',
    'user: Yes.',
    'assistant: There you are.',
  ])
  t.same(made.tools, ['begin_procedure', 'find'])
  const left = await judged(['I want to cancel.'], [{ procedure: 'cancel' }, { procedure: 'cancel', to_end: true }])
  t.same(left.verdicts, ['procedure cancel: pass', 'procedure cancel, to_end: fail, its fixed steps were not all made'])
  const plain = await judged(['Be plain.'], [{ procedure: 'plain' }, { heard: 'There you are' }])
  t.same(plain.verdicts, ['procedure plain: pass', 'heard There you are: pass'], 'without steps the model goes on')
})

test('what qualifies one fact is refused beside another', (t) => {
  const faults = (fact: object) =>
    testFaults({ name: 'n', caller: { say: ['a'] }, expect: [fact] }).map(({ path, message }) => {
      return `${path.join('.')}: ${message}`
    })
  t.same(faults({ collected: 'phone', value: '/(/' }).length, 1)
  t.same(faults({ heard: 'a', value: 'b' }), ['expect.0.value: belongs to `collected`'])
  t.same(faults({ collected: 'a', to_end: true }), ['expect.0.to_end: belongs to `procedure`'])
  t.same(faults({ heard: 'a', once: true }), [
    'expect.0.once: belongs to `called`, `handed_off`, `collected`, `guarded`, `procedure`',
  ])
  t.same(faults({ guarded: 'money', times: 0 }), [])
  t.equal(faults({ guarded: 'prices' }).length, 1)
  t.end()
})
