import t from 'tap'
import { desk } from './support/desk.ts'

const TEXT = 'Nobody is free.'
const announcing = () => desk({ firstMessage: TEXT, recordingNotice: 'This call is recorded.' }, { announcement: true })

t.test('an announcement is said to its end, then the agent hangs up', async (t) => {
  const { report, take, over, says, key, pass } = announcing()
  report({ type: 'begin' })
  t.same(take(), [`says to the end: ${TEXT}`])
  says('Who is this?')
  key('1')
  pass(5_000)
  t.same(take(), ['turn: Who is this?'], 'what the callee says is written down and not answered')
  over('notice')
  t.same(take(), ['ends: agent_hangup'])
})

t.test('one that nothing is heard of ends all the same', async (t) => {
  const late = announcing()
  late.report({ type: 'begin' })
  late.take()
  late.pass(29_000)
  t.same(late.take(), [])
  late.pass(2_000)
  t.same(late.take(), ['ends: agent_hangup'])
  const voiceless = announcing()
  voiceless.report({ type: 'begin' })
  voiceless.take()
  voiceless.report({ type: 'unanswered', stage: 'tts', why: 'down', hopeless: true, purpose: 'notice' })
  t.same(voiceless.take(), ['ends: agent_hangup'])
})
