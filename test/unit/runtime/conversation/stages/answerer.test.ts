import t from 'tap'
import type { AgentSpec } from '../../../../../runtime/call/types/agent-spec.ts'
import { desk } from './support/desk.ts'

const HELLO = 'Hello, this is Ada.'
const GREETED = ['greeting: first_message', `says: ${HELLO}`]
const begin = (voicemail: NonNullable<AgentSpec['voicemail']>) => {
  const one = desk({ firstMessage: HELLO, voicemail })
  one.report({ type: 'begin' })
  t.same(one.take(), GREETED)
  const words = (text: string) =>
    one.report({ type: 'heard_words', text, final: true, startMs: one.now(), endMs: one.now() })
  return { ...one, words }
}

t.test('an answering machine is hung up on', async (t) => {
  const { take, pass, words } = begin({ behaviour: 'hang_up', message: '' })
  pass(1_000)
  words('please leave a message')
  t.same(take(), ['answered by: machine', 'muted', 'stops all', 'ends: voicemail'])
})

t.test('a message is left after the beep, and nobody answers what the machine says', async (t) => {
  const { take, pass, words, report, now, says, over } = begin({
    behaviour: 'leave_message',
    message: 'Please call Ada back.',
  })
  report({ type: 'speech_started', atMs: now() })
  pass(2_000)
  words('please leave a message after the tone')
  t.same(take(), ['answered by: machine', 'muted', 'stops, unless to the end'])
  t.equal(says('Please leave a message after the tone.'), true)
  t.same(take(), ['turn: Please leave a message after the tone.'])
  report({ type: 'beep', atMs: now() })
  pass(300)
  t.same(take(), [], 'some beep twice')
  pass(600)
  t.same(take(), ['says to the end: Please call Ada back.'])
  over('voicemail')
  t.same(take(), ['ends: voicemail'])
})

t.test(
  'a machine that does not beep gets its message when it is silent, and one that never ends is left',
  async (t) => {
    const { take, pass, words, report, now } = begin({ behaviour: 'leave_message', message: '' })
    report({ type: 'speech_started', atMs: now() })
    words('please leave a message')
    pass(1_000)
    report({ type: 'speech_ended', atMs: now() })
    take()
    pass(1_900)
    t.same(take(), [])
    pass(200)
    t.same(take(), [`says to the end: ${HELLO}`])
    pass(91_000)
    t.equal(take().at(-1), 'ends: voicemail')
  },
)

t.test('an agent that goes on, and one who is asked who is calling, stay', async (t) => {
  const machine = begin({ behaviour: 'continue', message: '' })
  machine.words('please leave a message')
  t.same(machine.take(), ['answered by: machine'])
  const screened = begin({ behaviour: 'hang_up', message: '' })
  screened.words('who is calling please')
  t.same(screened.take(), ['answered by: screening'])
  t.equal(screened.says('Who is calling please?'), false, 'the agent answers')
})

t.test('a human stays one, whatever is said later', async (t) => {
  const { take, pass, words, report, now } = begin({ behaviour: 'hang_up', message: '' })
  report({ type: 'speech_started', atMs: now() })
  words('Hello?')
  pass(400)
  report({ type: 'speech_ended', atMs: now() })
  pass(1_000)
  t.same(take(), ['answered by: human'])
  words('She is not available right now, can I take a message?')
  pass(5_000)
  t.same(
    take().filter((one) => one.startsWith('answered')),
    [],
  )
})

t.test('a fax and a full mailbox take no message', async (t) => {
  const { take, report, now } = begin({ behaviour: 'leave_message', message: 'Hi' })
  report({ type: 'fax', atMs: now() })
  t.same(take(), ['answered by: fax', 'muted', 'stops all', 'ends: voicemail'])
})

t.test('a machine that says its mailbox is full after its greeting is left without a message', async (t) => {
  const { take, pass, words, report, now } = begin({ behaviour: 'leave_message', message: 'Please call Ada back.' })
  report({ type: 'speech_started', atMs: now() })
  words("you've reached the voicemail of Bob")
  t.same(take(), ['answered by: machine', 'muted', 'stops, unless to the end'])
  pass(2_000)
  words('the mailbox is full and cannot accept any messages')
  t.same(take(), ['answered by: mailbox_full', 'ends: voicemail'])
  report({ type: 'speech_ended', atMs: now() })
  pass(5_000)
  t.same(take(), [])
})

t.test('a message says that an AI left it, where the agent has to and the message does not', async (t) => {
  const left = (message: string, agent: Partial<AgentSpec>) => {
    const one = desk({ firstMessage: HELLO, voicemail: { behaviour: 'leave_message', message }, ...agent })
    one.report({ type: 'begin' })
    one.report({ type: 'heard_words', text: 'please leave a message', final: true, startMs: 0, endMs: 0 })
    one.take()
    one.report({ type: 'beep', atMs: one.now() })
    one.pass(1_000)
    return one.take()
  }
  const disclosure = "You're speaking with an AI assistant."
  t.same(left('Call us back.', { aiDisclosure: 'after' }), [`says to the end: Call us back. ${disclosure}`])
  t.same(left('', { aiDisclosure: 'before' }), [`says to the end: ${HELLO} ${disclosure}`])
  t.same(left('This is the AI of Aurora.', { aiDisclosure: 'after' }), ['says to the end: This is the AI of Aurora.'])
  t.same(left('Call us back.', {}), ['says to the end: Call us back.'])
})
