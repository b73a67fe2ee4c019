import t from 'tap'
import { desk } from './support/desk.ts'

const begin = (agent: Parameters<typeof desk>[0] = {}) => {
  const one = desk(agent)
  one.report({ type: 'begin' })
  one.take()
  const over = (text: string) => one.report({ type: 'over_speech', text, startMs: one.now(), endMs: one.now() })
  const ends = (text: string, interrupted = false) => {
    one.report({ type: 'voice_ended', text, startMs: 0, endMs: one.now(), interrupted })
    one.report({ type: 'speech_over', purpose: 'reply', interrupted, hangsUp: false })
  }
  return { ...one, over, ends }
}

t.test('a yes over the last words of a question answers it', async (t) => {
  const { report, take, pass, over, ends } = begin()
  report({ type: 'voice_started', purpose: 'reply' })
  over('Yes.')
  pass(1_900)
  ends('Shall I book the table for you, please?')
  take()
  pass(300)
  t.same(take(), [])
  pass(200)
  t.same(take(), ['turn: Yes.', 'answers: Yes.'])
})

t.test('a yes in the middle of an answer is none, nor is one that something else follows', async (t) => {
  const early = begin()
  early.report({ type: 'voice_started', purpose: 'reply' })
  early.over('Okay.')
  early.pass(1_900)
  early.ends('We are open from nine to five.')
  early.pass(2_000)
  t.same(early.take(), [])
  const more = begin()
  more.report({ type: 'voice_started', purpose: 'reply' })
  more.over('Yes.')
  more.ends('Shall I book it?')
  more.says('Yes, but for six people.')
  more.pass(2_000)
  t.same(more.take(), ['turn: Yes, but for six people.'])
  const cut = begin()
  cut.report({ type: 'voice_started', purpose: 'reply' })
  cut.over('Right.')
  cut.ends('Shall I', true)
  cut.pass(2_000)
  t.same(cut.take(), [])
})

t.test('a yes over the question for consent is the consent', async (t) => {
  const one = desk({ consentMessage: 'May we record this call?', firstMessage: 'Hello.' })
  one.report({ type: 'begin' })
  one.take()
  one.report({ type: 'voice_started', purpose: 'reply' })
  one.report({ type: 'over_speech', text: 'Sure.', startMs: 0, endMs: 0 })
  one.speaks('May we record this call?', 'consent')
  one.pass(600)
  t.same(one.take(), ['consent: given', 'turn: Sure.', 'stops', 'greeting: first_message', 'says: Hello.'])
})

t.test('where callers may not interrupt, what they say is answered after the agent has spoken', async (t) => {
  const { report, take, pass, over, ends } = begin({ interruption: { enabled: false, sensitivity: 'normal' } })
  report({ type: 'voice_started', purpose: 'reply' })
  over('I want to know something else.')
  pass(8_000)
  ends('We are open from nine to five.')
  pass(500)
  t.same(take(), ['turn: I want to know something else.', 'answers: I want to know something else.'])
})

t.test('speech of which no words come is told, and the caller asked, twice at most', async (t) => {
  const { report, take, now, says } = begin()
  const mumbles = () => report({ type: 'no_words', startMs: now(), endMs: now(), reason: 'no_words' })
  const asks = "says: Sorry, I didn't catch that. Could you say it again?"
  mumbles()
  mumbles()
  mumbles()
  t.same(take(), ['not_understood', asks, 'not_understood', asks, 'not_understood'])
  says('Are you open?')
  take()
  mumbles()
  t.same(take(), ['not_understood', asks], 'words came in between')
})

t.test('a caller whom no recogniser hears is told after three seconds, once an outage', async (t) => {
  const { report, take, pass, now } = begin()
  const tells = "says: I'm sorry, I can't hear you right now. Please stay on the line."
  report({ type: 'stt_unavailable', sinceMs: now() })
  pass(2_900)
  t.same(take(), [])
  pass(10_000)
  t.same(take(), [tells])
  report({ type: 'stt_unavailable', sinceMs: undefined })
  report({ type: 'stt_unavailable', sinceMs: now() })
  pass(4_000)
  t.same(take(), [tells])
})

t.test('words said while nothing could be interrupted are answered, once nobody speaks', async (t) => {
  const { report, take, pass, ends } = begin()
  report({ type: 'voice_started', purpose: 'reply' })
  report({ type: 'heard_words', text: 'I need a plumber.', final: true, startMs: 0, endMs: 0 })
  pass(8_000)
  ends('This call is recorded.')
  pass(4_900)
  t.same(
    take().filter((one) => !one.startsWith('fills')),
    [],
  )
  pass(200)
  t.same(take(), ['turn: I need a plumber.', 'answers: I need a plumber.'])
  pass(20_000)
  t.notOk(take().some((one) => one.startsWith('turn')))
})

t.test('the last words of a caller who hangs up are in the record', async (t) => {
  const { report, take } = begin()
  report({ type: 'heard_words', text: 'I will call', final: true, startMs: 100, endMs: 600 })
  report({ type: 'heard_words', text: 'back', final: false, startMs: 700, endMs: 900 })
  report({ type: 'closing' })
  t.same(take(), ['turn: I will call back'])
  const done = begin()
  done.says('Goodbye.')
  done.take()
  done.report({ type: 'closing' })
  t.same(done.take(), [], 'a turn that was over is told once')
})
