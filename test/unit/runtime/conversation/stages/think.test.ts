import t from 'tap'
import type { Purpose } from '../../../../../runtime/conversation/stages/signal.ts'
import { desk } from './support/desk.ts'

const APOLOGY = "says: Sorry, I'm having a little trouble. Could you say that again?"
const begin = () => {
  const one = desk()
  one.report({ type: 'begin' })
  one.take()
  const fails = (purpose: Purpose = 'reply', hopeless = false) =>
    one.report({ type: 'unanswered', stage: 'llm', why: 'It is down', hopeless, purpose })
  return { ...one, fails }
}

t.test('the third turn in a row without an answer ends the call; an apology that is heard is no answer', async (t) => {
  const { take, says, fails, speaks, over } = begin()
  for (const text of ['one', 'two']) {
    says(text)
    fails()
    fails()
    t.same(take(), [`turn: ${text}`, APOLOGY, APOLOGY].slice(0, text === 'one' ? 3 : 3))
    speaks('Sorry', 'apology')
    take()
  }
  says('three')
  fails()
  t.match(take(), ['turn: three', 'stops', /^says to the end: I'm sorry/])
  over('goodbye')
  t.same(take(), ['ends: error, The llm provider failed 3 times: It is down'])
})

t.test('an answer that is heard makes up for what failed before', async (t) => {
  const { take, says, fails, speaks } = begin()
  for (let i = 0; i < 5; i++) {
    says('one')
    fails()
    says('two')
    speaks('Here I am.')
  }
  t.notOk(take().some((one) => one.startsWith('ends')))
})

t.test(
  'an apology that nobody heard is tried again after four seconds, and at the third failure the call ends',
  async (t) => {
    const { take, says, fails, pass, over } = begin()
    says('one')
    fails('reply')
    take()
    fails('apology')
    pass(3_900)
    t.notOk(take().includes(APOLOGY))
    pass(200)
    t.ok(take().includes(APOLOGY))
    fails('apology')
    pass(4_100)
    t.match(take().at(-1), /^says to the end: I'm sorry/)
    over('goodbye')
    t.same(take(), ['ends: error, The llm provider failed 3 times: It is down'])
  },
)

t.test('a voice that fails while it apologises fails once a turn, and is not asked for ever', async (t) => {
  const { take, says, fails, pass } = begin()
  for (const text of ['one', 'two']) {
    says(text)
    fails('reply')
    fails('apology')
    t.same(take(), [`turn: ${text}`, APOLOGY], 'a voice that is away for a second ends no call')
  }
  says('three')
  fails('reply')
  t.match(take().at(-1), /^says to the end: I'm sorry/)
  fails('goodbye')
  pass(9_000)
  t.match(take().at(-1), /^ends: error/, 'with or without a goodbye')
})

t.test('where the key or the account is the reason, the first failure ends the call', async (t) => {
  const { take, says, fails } = begin()
  says('one')
  fails('reply', true)
  t.match(take(), ['turn: one', 'stops', /^says to the end: I'm sorry/])
})

t.test(
  'an answer is measured once, from the end of the speech to the first sound of the answer, by stage',
  async (t) => {
    const { report, told, now, pass, says, speaks } = begin()
    report({ type: 'speech_started', atMs: now() })
    pass(1_000)
    const endMs = now()
    report({ type: 'speech_ended', atMs: endMs })
    pass(100)
    report({ type: 'heard_words', text: 'Are you open?', final: true, startMs: 0, endMs })
    pass(200)
    report({ type: 'turn_over', turn: { text: 'Are you open?', startMs: 0, endMs }, kept: false })
    pass(400)
    report({ type: 'first_text', atMs: now() })
    pass(60)
    speaks('Sorry', 'apology')
    t.notOk(
      told.some(({ type }) => type === 'latency'),
      'an apology is no answer',
    )
    speaks('Yes.')
    speaks('More.')
    const measured = told.filter(({ type }) => type === 'latency')
    t.same(measured, [{ type: 'latency', stt_ms: 100, endpointing_ms: 200, llm_ms: 400, tts_ms: 60, total_ms: 760 }])
    says('And tomorrow?')
  },
)
