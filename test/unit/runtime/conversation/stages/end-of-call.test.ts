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

t.test('a caller who speaks so softly that only words are known of it is there', async (t) => {
  const { take, pass, report, now } = begin()
  for (let i = 0; i < 5; i++) {
    pass(4_000)
    report({ type: 'heard_words', text: 'I would', final: false, startMs: now(), endMs: now() })
  }
  t.same(
    take().filter((one) => one.startsWith('says')),
    [],
  )
})

t.test('a patience too short for a question ends without one', async (t) => {
  const { take, pass } = begin({ idleMs: 700 })
  pass(720)
  t.same(take(), ['ends: idle'])
})

t.test('a call ends at its longest duration, and the agent finishes what it is saying', async (t) => {
  const silent = begin({ maxDurationMs: 1_000 })
  silent.pass(980)
  t.same(silent.take(), [])
  silent.pass(20)
  t.same(silent.take(), ['ends: max_duration'])
  const speaking = begin({ maxDurationMs: 1_000 })
  speaking.report({ type: 'voice_started', purpose: 'reply' })
  speaking.pass(4_000)
  t.same(speaking.take(), [])
  speaking.report({ type: 'voice_ended', text: 'Good.', startMs: 0, endMs: 4_000, interrupted: false })
  speaking.pass(20)
  t.same(speaking.take(), ['ends: max_duration'])
  const endless = begin({ maxDurationMs: 1_000 })
  endless.report({ type: 'voice_started', purpose: 'reply' })
  endless.pass(8_980)
  t.same(endless.take(), [])
  endless.pass(20)
  t.same(endless.take(), ['ends: max_duration'])
})

t.test('that a call will end is said before, once', async (t) => {
  const { take, pass, says } = begin({ idleMs: 600_000 })
  pass(44_980)
  t.same(take(), [])
  pass(20)
  t.same(take(), ["says: We're almost out of time: this call will end in a few seconds."])
  says('All right.')
  take()
  pass(14_980)
  t.notOk(take().some((one) => one.includes('out of time')))
  pass(20)
  t.ok(take().includes('ends: max_duration'))
})

t.test('a caller is not told twice by two workers, and a machine not at all', async (t) => {
  const limits = { idleMs: 600_000, maxDurationMs: 60_000 }
  const second = desk({}, { limits, elapsedMs: 50_000 })
  second.report({ type: 'begin' })
  second.take()
  second.pass(9_000)
  t.same(second.take(), [])
  const machine = begin({ idleMs: 600_000 })
  machine.report({ type: 'muted' })
  machine.pass(50_000)
  t.notOk(machine.take().some((one) => one.includes('out of time')))
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
