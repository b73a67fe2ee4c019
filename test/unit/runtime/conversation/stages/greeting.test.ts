import t from 'tap'
import type { OpenSession } from '../../../../../runtime/call/link/messages.ts'
import { resumeAfter } from '../support/resume-after.ts'
import { desk } from './support/desk.ts'

const NOTICE = 'This call is recorded.'
const QUESTION = 'May we record this call?'
const HELLO = 'Hello, this is Ada. How can I help you?'
const asking = { recordingNotice: NOTICE, consentMessage: QUESTION, firstMessage: HELLO }

type Resume = NonNullable<OpenSession['resume']>
const resumed = (resume: Partial<Resume>) => ({
  elapsedMs: 20_000,
  resume: { ...resumeAfter([]), ...resume },
})
const turn = (role: 'user' | 'assistant', text: string, interrupted = false) => {
  return { role, text, startMs: 0, endMs: 1_000, interrupted }
}

t.test('the notice comes first and to its end, then the first message', async (t) => {
  const { report, take, over } = desk({ recordingNotice: NOTICE, firstMessage: HELLO })
  report({ type: 'begin' })
  t.same(take(), ['greeting: notice', `says to the end: ${NOTICE}`])
  over('notice')
  t.same(take(), ['greeting: first_message', `says: ${HELLO}`])
  over('first_message')
  t.same(take(), ['greeting: done'])
})

t.test('a key during the notice waits for its end, and then is the answer to the question', async (t) => {
  const { report, take, key, over } = desk(asking)
  report({ type: 'begin' })
  report({ type: 'uninterruptible', on: true })
  take()
  key('1')
  t.same(take(), [], 'neither heard before the question nor an error')
  over('notice')
  t.same(take(), [
    'greeting: consent_asked',
    `says: ${QUESTION}`,
    'consent: given by 0',
    'stops',
    'greeting: first_message',
    `says: ${HELLO}`,
  ])
})

t.test('keys and words typed during the notice are answered after it', async (t) => {
  const { report, take, key, type, over } = desk({ recordingNotice: NOTICE, firstMessage: HELLO })
  report({ type: 'begin' })
  report({ type: 'uninterruptible', on: true })
  for (const digit of ['4', '2', '#']) key(digit)
  type('I need help')
  take()
  over('notice')
  t.same(take().slice(2), [
    'greeting: done',
    'turn: [The caller pressed 4 2 # on the keypad] by 0,1,2',
    'answers: [The caller pressed 4 2 # on the keypad]',
    'turn: I need help by 3',
    'answers: I need help',
  ])
})

t.test('an answer that is none is asked for once more, then left to the agent', async (t) => {
  const { report, take, says, speaks } = desk({ consentMessage: QUESTION })
  report({ type: 'begin' })
  speaks(QUESTION, 'consent')
  take()
  t.equal(says('Who is this?'), true)
  t.same(take(), ['turn: Who is this?', 'stops', 'greeting: consent_asked', `says: ${QUESTION}`])
  speaks(QUESTION, 'consent')
  t.equal(says('What do you want?'), false)
  t.same(take(), ['consent: unanswered', 'greeting: done', 'turn: What do you want?'])
})

t.test('a typed yes answers the question, too, and key 2 refuses', async (t) => {
  const typed = desk({ consentMessage: QUESTION, firstMessage: HELLO })
  typed.report({ type: 'begin' })
  typed.take()
  typed.type('Yes, of course')
  t.same(typed.take(), [
    'consent: given',
    'turn: Yes, of course by 0',
    'stops',
    'greeting: first_message',
    `says: ${HELLO}`,
  ])
  const keyed = desk({ consentMessage: QUESTION, firstMessage: HELLO })
  keyed.report({ type: 'begin' })
  keyed.take()
  keyed.key('7')
  t.same(keyed.take(), [])
  keyed.key('2')
  t.same(keyed.take(), ['consent: refused by 1', 'stops', 'greeting: first_message', `says: ${HELLO}`])
})

t.test('a worker that takes over goes on where the greeting stood', async (t) => {
  const begun = (agent: object, resume: Partial<Resume>) => {
    const one = desk(agent, resumed(resume))
    one.report({ type: 'begin' })
    return one
  }
  const cut = begun(asking, { greeting: 'notice', turns: [turn('assistant', 'This call', true)] })
  t.same(cut.take(), ['greeting: notice', `says to the end: ${NOTICE}`], 'a notice is heard as a whole')
  const heard = begun(asking, { greeting: 'notice', turns: [turn('assistant', NOTICE)] })
  t.same(heard.take(), ['greeting: consent_asked', `says: ${QUESTION}`])

  const asked = begun(asking, { greeting: 'consent_asked', turns: [turn('assistant', `${NOTICE} ${QUESTION}`)] })
  t.same(asked.take(), [], 'who was asked is waited for')
  t.equal(asked.says('Yes.'), true)
  t.match(asked.take(), ['consent: given', 'turn: Yes.', 'stops', 'greeting: first_message', `says: ${HELLO}`])

  const given = begun(asking, { greeting: 'consent_asked', consent: 'given', turns: [turn('user', 'Yes.')] })
  t.same(given.take(), ['greeting: first_message', `says: ${HELLO}`])

  const half = begun(asking, {
    greeting: 'first_message',
    consent: 'given',
    turns: [turn('user', 'Yes.'), turn('assistant', 'Hello, this is Ada.', true)],
  })
  t.same(half.take(), ['greeting: first_message', 'says: How can I help you?'], 'what was heard is not said again')
  half.speaks('How can I help you?', 'first_message')
  t.same(half.take(), ['greeting: done'], 'and nothing besides')

  const open = begun(asking, { greeting: 'done', turns: [turn('assistant', HELLO), turn('user', 'Are you open?')] })
  t.same(open.take(), ['answers'])
  const over = begun(asking, { greeting: 'done', turns: [turn('user', 'Hi'), turn('assistant', 'We are', true)] })
  t.same(over.take(), ['finishes'])
  const known = begun(asking, {
    greeting: 'done',
    turns: [turn('user', 'Hi'), turn('assistant', 'We are', true)],
    said: 'We are open from nine.',
  })
  t.same(known.take(), ['says: open from nine.'], 'word for word, where the words are known')
  const silent = begun(asking, { greeting: 'done', turns: [turn('user', 'Hi')], said: 'Good morning.' })
  t.same(silent.take(), ['says: Good morning.'])
  const looking = begun(asking, {
    greeting: 'done',
    turns: [turn('user', 'Where is it?'), turn('assistant', 'Let me', true)],
    said: 'Let me look.',
    tools: [{ id: 'tool-1', name: 'order_status', arguments: {}, turn: 1 }],
  })
  t.same(looking.take(), ['finishes'], 'what a tool brings is more than that')
  const waits = begun(asking, { greeting: 'done', turns: [turn('user', 'Hi'), turn('assistant', 'Yes?')] })
  t.same(waits.take(), [])
  const machine = begun({ ...asking, voicemail: { behaviour: 'continue', message: '' } }, { muted: true })
  t.same(machine.take(), ['ends: voicemail'])
})

t.test('what was said before the question was heard to its end is no answer', async (t) => {
  const { report, take, says, speaks, pass } = desk({ consentMessage: QUESTION, firstMessage: HELLO })
  report({ type: 'begin' })
  take()
  t.equal(says('Yes.'), true, 'over the first words of the question')
  t.same(take(), ['turn: Yes.', 'stops', 'greeting: consent_asked', `says: ${QUESTION}`])
  speaks('May we', 'consent', { interrupted: true })
  t.equal(says('Yes.'), true, 'over the second ones')
  t.same(take(), ['turn: Yes.', 'stops', 'greeting: consent_asked', `says: ${QUESTION}`])
  pass(3_000)
  speaks(QUESTION, 'consent')
  const late = { text: 'Yes.', startMs: 1_000, endMs: 1_200 }
  report({ type: 'turn_over', turn: late, kept: true })
  t.same(take(), ['turn: Yes.', 'stops', 'greeting: consent_asked', `says: ${QUESTION}`], 'spoken long before its end')
  speaks(QUESTION, 'consent')
  says('Yes.')
  t.same(take().slice(0, 2), ['consent: given', 'turn: Yes.'])
})

t.test('who has heard the question to its question mark may answer over the rest', async (t) => {
  const text = 'May I record this call? Please say yes or no, or press 1 for yes and 2 for no.'
  const { report, take, says, now } = desk({ consentMessage: text, firstMessage: HELLO })
  report({ type: 'begin' })
  report({ type: 'voice_started', purpose: 'consent' })
  report({ type: 'voice_progress', text: 'May I record this call? Please', startMs: 0, endMs: now() })
  take()
  says('Yes, of course.')
  t.equal(take()[0], 'consent: given')
})

t.test('a question that was not understood is asked again, and again', async (t) => {
  const { report, take, says, speaks } = desk({ consentMessage: QUESTION, firstMessage: HELLO, language: 'de' })
  report({ type: 'begin' })
  for (const text of ['Wie bitte?', 'Ich habe Sie nicht verstanden.', 'Was?']) {
    speaks(QUESTION, 'consent')
    take()
    t.equal(says(text), true, text)
    t.same(take(), [`turn: ${text}`, 'stops', 'greeting: consent_asked', `says: ${QUESTION}`])
  }
  speaks(QUESTION, 'consent')
  says('Ja, hallo?')
  take()
  speaks(QUESTION, 'consent')
  says('Ja, gerne.')
  t.equal(take()[0], 'consent: given')
})

const DISCLOSURE = "You're speaking with an AI assistant."

t.test('that an AI speaks is said after the first message, to its end, once, whatever cuts in', async (t) => {
  const { report, take, speaks, says } = desk({ firstMessage: HELLO, aiDisclosure: 'after' })
  report({ type: 'begin' })
  t.same(take(), ['greeting: first_message', `says: ${HELLO}`], 'the first message stays the first words')
  speaks(HELLO, 'first_message')
  t.same(take(), [`says to the end: ${DISCLOSURE}`, 'greeting: done'])
  says('I need a table.')
  t.notOk(take().some((one) => one.includes(DISCLOSURE)))

  const cut = desk({ firstMessage: HELLO, aiDisclosure: 'after' })
  cut.report({ type: 'begin' })
  cut.take()
  cut.speaks('Hello,', 'first_message', { interrupted: true })
  t.same(cut.take(), [`says to the end: ${DISCLOSURE}`, 'greeting: done'])

  const turned = desk({ firstMessage: HELLO, aiDisclosure: 'after' })
  turned.report({ type: 'begin' })
  turned.take()
  turned.says('I need a table.')
  t.same(turned.take().slice(0, 2), [`says to the end: ${DISCLOSURE}`, 'greeting: done'])

  const silent = desk({ firstMessage: '', aiDisclosure: 'after', language: 'de' })
  silent.report({ type: 'begin' })
  t.same(silent.take(), ['says to the end: Sie sprechen mit einem KI-Assistenten.', 'greeting: done'])
})

t.test('before everything else, where the agent is set so', async (t) => {
  const { report, take, over } = desk({ recordingNotice: NOTICE, firstMessage: HELLO, aiDisclosure: 'before' })
  report({ type: 'begin' })
  t.same(take(), ['greeting: notice', `says to the end: ${DISCLOSURE} ${NOTICE}`])
  over('notice')
  t.same(take(), ['greeting: first_message', `says: ${HELLO}`])
  over('first_message')
  t.same(take(), ['greeting: done'])
})

t.test('a worker that takes over says it only if it was not heard', async (t) => {
  const begun = (turns: Resume['turns']) => {
    const one = desk({ firstMessage: HELLO, aiDisclosure: 'after' }, resumed({ greeting: 'done', turns }))
    one.report({ type: 'begin' })
    return one.take()
  }
  t.same(begun([turn('assistant', `${HELLO} ${DISCLOSURE}`), turn('user', 'Hi'), turn('assistant', 'Yes?')]), [])
  t.same(begun([turn('assistant', HELLO)]), [`says to the end: ${DISCLOSURE}`])
})
