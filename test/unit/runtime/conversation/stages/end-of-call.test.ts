import t from 'tap'
import { desk } from './support/desk.ts'

const limits = { idleMs: 10_000, maxDurationMs: 60_000 }
const begin = (over: Partial<typeof limits> = {}) => {
  const one = desk({}, { limits: { ...limits, ...over } })
  one.report({ type: 'begin' })
  one.take()
  return one
}

t.test('a silent caller is asked once whether they are still there, then the call ends', async (t) => {
  const { take, pass, speaks } = begin()
  pass(4_900)
  t.same(take(), [])
  pass(200)
  t.same(take(), ['says: Are you still there?'])
  speaks('Are you still there?', 'prompt')
  pass(4_900)
  t.notOk(take().some((one) => one.startsWith('ends')))
  pass(200)
  t.same(take(), ['ends: idle'])
})

t.test('a caller who is there after all is asked anew the next time', async (t) => {
  const { take, pass, speaks, says } = begin()
  pass(5_100)
  speaks('Are you still there?', 'prompt')
  says('Yes, one second.')
  speaks('Of course.')
  take()
  pass(5_100)
  t.same(take(), ['says: Are you still there?'])
})

t.test('nobody is idle who speaks, listens to the agent, waits for it or is on hold', async (t) => {
  const { take, pass, report, now } = begin()
  report({ type: 'speech_started', atMs: now() })
  pass(12_000)
  report({ type: 'speech_ended', atMs: now() })
  report({ type: 'agent_state', state: 'thinking' })
  pass(12_000)
  report({ type: 'agent_state', state: 'listening' })
  report({ type: 'input', event: { type: 'held', direction: 'sendonly', seq: 0, at: 0 } })
  pass(12_000)
  const spoken = take().filter((one) => !one.startsWith('fills'))
  t.same(spoken, [])
})

t.test('a patience too short for a question ends without one', async (t) => {
  const { take, pass } = begin({ idleMs: 700 })
  pass(720)
  t.same(take(), ['ends: idle'])
})

t.test('a call ends at its longest duration, whoever speaks', async (t) => {
  const { take, pass, report } = begin({ maxDurationMs: 1_000 })
  report({ type: 'voice_started', purpose: 'reply' })
  pass(1_000)
  t.equal(take()[0], 'ends: max_duration')
})

t.test('an agent that hangs up has said goodbye, and lets a caller who speaks up stay', async (t) => {
  const said = begin()
  said.says('Bye')
  said.take()
  said.speaks('Goodbye, and thank you.', 'reply', { hangsUp: true })
  t.same(said.take(), ['ends: agent_hangup'])
  const silent = begin()
  silent.says('Bye')
  silent.take()
  silent.report({ type: 'speech_over', purpose: 'reply', interrupted: false, hangsUp: true })
  t.same(silent.take(), ['says to the end: Goodbye.'])
  silent.over('goodbye')
  t.same(silent.take(), ['ends: agent_hangup'])
  const stays = begin()
  stays.speaks('Goodb', 'reply', { interrupted: true, hangsUp: true })
  t.same(stays.take(), [])
})
