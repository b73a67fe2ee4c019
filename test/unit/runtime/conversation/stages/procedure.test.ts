import t from 'tap'
import { languageOf } from '../../../../../runtime/conversation/languages/index.ts'
import { procedure } from '../../../../../runtime/conversation/stages/procedure.ts'
import type { Report, Signal } from '../../../../../runtime/conversation/stages/signal.ts'
import { initialState } from '../../../../../runtime/conversation/stages/state.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'
import { desk } from './support/desk.ts'

const REFUND = {
  ...{ name: 'refund', when: 'A refund.', text: 'Be kind.', tools: [] },
  fixed: [
    { say: 'This call may be checked.' },
    { ask: 'What is your order number?' },
    { tool: 'find_order', arguments: { source: 'phone' } },
  ],
}

function stageOf(resume?: { id: string; name: string; step: number }) {
  const agent = { ...AGENT_SPEC, procedures: [REFUND, { ...REFUND, name: 'plain', fixed: [] }] }
  const open = {
    ...{ session: 1, callId: 'c', agent, format: { encoding: 'pcm_s16le', sampleRateHz: 8000 }, elapsedMs: 0 },
    limits: { idleMs: 1, maxDurationMs: 1 },
    ...(resume === undefined ? {} : { resume: { turns: [], tools: [], notes: [], waiting: [], procedure: resume } }),
  }
  const stage = procedure({
    open: open as never,
    callMs: (ms) => ms,
    language: () => languageOf('en'),
    tag: () => 'en',
    nowMs: () => 0,
  })
  const state = initialState(undefined)
  return (report: Report) => {
    const { signals = [], consumed = false } = stage.on(report, state, 0) ?? {}
    return { did: signals.map(shown), consumed }
  }
}

function shown(signal: Signal): string {
  switch (signal.type) {
    case 'say':
      return `${signal.interruptible ? 'asks' : 'says'}: ${signal.text}`
    case 'tell':
      return JSON.stringify(signal.event)
    case 'run_tool':
      return `runs ${signal.id}: ${signal.name} ${JSON.stringify(signal.arguments)}`
    case 'note':
      return `${signal.role}: ${signal.text}`
    default:
      return signal.type
  }
}
const over = { type: 'speech_over', purpose: 'step', interrupted: false, hangsUp: false } as const
const said = (text: string): Report => ({ type: 'turn_over', turn: { text, startMs: 0, endMs: 1 }, kept: false })
const done = (step: number, result?: string) =>
  JSON.stringify({ type: 'procedure_step', name: 'refund', step, ...(result === undefined ? {} : { result }) })

t.test('a fixed step collects a value, and the next one follows once it is known or given up', (t) => {
  const on = desk({
    collect: [{ name: 'phone', type: 'phone', spellBack: true, secret: false, attempts: 2 }],
    procedures: [
      {
        ...REFUND,
        name: 'call_back',
        fixed: [{ collect: 'gone' }, { collect: 'phone' }, { say: 'We will call you.' }],
      },
    ],
  })
  on.report({ type: 'begin' })
  on.over('first_message')
  on.take()
  on.report({ type: 'procedure_begun', id: 'tool-1', name: 'call_back' })
  t.same(on.take(), ['says: What is your phone number?'])
  on.speaks('What is your phone number?', 'collect')
  on.take()
  on.says('Why do you need it?')
  t.match(on.take(), [/turn/, /remembers/, 'stops', /says: Sorry/], 'a question does not leave the step')
  on.says('four one five, five five five, oh one two three')
  t.match(on.take().at(-1), /Is that right/)
  on.says('Yes.')
  t.match(on.take().at(-1), 'collected: phone +14155550123', 'and no model answers')
  on.report({ type: 'collect_over', id: 'another', status: 'collected' })
  t.same(on.take(), [])
  on.report({ type: 'collect_over', id: 'tool-1.1', status: 'collected' })
  t.same(on.take(), ['says to the end: We will call you.'])
  const steps = on.told.filter((event) => event.type === 'procedure_step')
  t.match(steps, [
    { step: 0, result: 'unknown' },
    { step: 1, result: 'collected' },
  ])
  t.end()
})

t.test('fixed steps are made in order without the model, which goes on behind the last', (t) => {
  const report = stageOf()
  t.same(report({ type: 'procedure_begun', id: 'tool-3', name: 'refund' }).did, ['says: This call may be checked.'])
  t.same(report(over).did, [done(0), 'asks: What is your order number?'])
  t.same(report(over).did, [], 'the answer is awaited')
  t.same(report(said('it is 4711')), {
    did: [
      'caller_turn',
      'user: it is 4711',
      done(1, 'it is 4711'),
      'awaited',
      'runs tool-3.2: find_order {"source":"phone"}',
    ],
    consumed: true,
  })
  t.same(report({ type: 'tool_over', output: 'paid' }).did, [
    done(2, 'paid'),
    JSON.stringify({ type: 'procedure_ended', name: 'refund' }),
    'awaited',
    'continue_reply',
  ])
  t.same(report(said('thanks')), { did: [], consumed: false }, 'the model answers again')
  t.end()
})

t.test('what the caller says over a sentence is kept, and over a question is its answer', (t) => {
  const report = stageOf()
  report({ type: 'procedure_begun', id: 'tool-1', name: 'refund' })
  t.same(report(said('hm')), { did: ['caller_turn', 'user: hm'], consumed: true })
  report(over)
  t.same(report(said('4711')).did, ['caller_turn', 'user: 4711', 'interrupt'])
  t.same(report({ ...over, interrupted: true }).did, [
    done(1, '4711'),
    'awaited',
    'runs tool-1.2: find_order {"source":"phone"}',
  ])
  t.end()
})

t.test('a worker that takes the call over begins with the step that is not done, by the same name', (t) => {
  const report = stageOf({ id: 'tool-1', name: 'refund', step: 2 })
  t.same(report({ type: 'greeted', before: true }), {
    did: ['awaited', 'runs tool-1.2: find_order {"source":"phone"}'],
    consumed: true,
  })
  const plain = stageOf({ id: 'tool-1', name: 'plain', step: 0 })
  t.same(plain({ type: 'greeted', before: true }), { did: [], consumed: false }, 'the model goes on by itself')
  t.end()
})

t.test('a supervisor who takes over ends the steps', (t) => {
  const report = stageOf()
  report({ type: 'procedure_begun', id: 'tool-1', name: 'refund' })
  t.same(report({ type: 'taken_over', on: true }).did, [JSON.stringify({ type: 'procedure_ended', name: 'refund' })])
  t.same(report(over).did, [])
  t.end()
})
