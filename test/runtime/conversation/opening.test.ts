import type { voice } from '@livekit/agents'
import t from 'tap'
import type { CallEventBody } from '../../../runtime/call-log/events.ts'
import { readConsent } from '../../../runtime/conversation/consent.ts'
import type { SessionPort } from '../../../runtime/conversation/contract.ts'
import { Ears } from '../../../runtime/conversation/ears.ts'
import { english } from '../../../runtime/conversation/languages/en.ts'
import { Opening } from '../../../runtime/conversation/opening.ts'
import type { AgentSpec, OpenSession } from '../../../runtime/link/messages.ts'
import { AGENT_SPEC } from '../../support/agent-spec.ts'

const AGENT: AgentSpec = { ...AGENT_SPEC, firstMessage: 'Hello, this is Ada.' }

/** An opening at a desk: its ears, its clock, and what it did. */
function begin(agent: Partial<AgentSpec>) {
  const did: string[] = []
  let nowMs = 0
  const ears = new Ears({ nowMs: () => nowMs, monotonicMs: () => nowMs })
  const session = {
    say: (text: string, options: { allowInterruptions?: boolean } = {}) => {
      did.push(`${options.allowInterruptions === false ? 'says to the end' : 'says'}: ${text}`)
      return { waitForPlayout: async () => undefined, addDoneCallback: () => undefined }
    },
    interrupt: () => did.push('stops'),
  }
  const port = {
    tell: (event: CallEventBody) => {
      if (event.type === 'answered_by') did.push(`told: ${event.by}`)
      else if (event.type === 'consent') did.push(`consent: ${event.consent}`)
    },
  }
  const open: OpenSession = {
    session: 1,
    callId: 'c',
    agent: { ...AGENT, ...agent },
    format: { encoding: 'pcmu', sampleRateHz: 8_000 },
    limits: { idleMs: 1, maxDurationMs: 1 },
    elapsedMs: 0,
  }
  const opening = new Opening(open, port as unknown as SessionPort, ears, 0, {
    voicemail: () => did.push('ends'),
    userTurn: (text) => did.push(`heard: ${text}`),
    failed: (error) => {
      throw error
    },
  })
  opening.begin(session as unknown as voice.AgentSession)
  return {
    did,
    opening,
    /** Time passes, with silence or with a tone on the line. */
    async pass(ms: number, hz = 0) {
      for (let i = 0; i < ms / 20; i++) {
        const samples = Int16Array.from({ length: 320 }, (_, n) =>
          hz === 0 ? 0 : 6_000 * Math.sin((2 * Math.PI * hz * (i * 320 + n)) / 16_000),
        )
        nowMs += 20
        ears.hear(samples)
        opening.tick(nowMs)
      }
      await new Promise((resolve) => setImmediate(resolve))
    },
    now: () => nowMs,
  }
}

t.test('the notice comes first and to its end, then the first message', async (t) => {
  const { did } = begin({ recordingNotice: 'This call is recorded.' })
  t.same(did, ['says to the end: This call is recorded.', 'says: Hello, this is Ada.'])
})

t.test('consent is asked for before the first message', async (t) => {
  const { did, opening } = begin({ consentMessage: 'May we record this call?' })
  t.same(did.splice(0), ['says: May we record this call?'])
  t.equal(opening.takesTurn('Yes, of course.'), true)
  t.same(did.splice(0), ['consent: given', 'heard: Yes, of course.', 'says: Hello, this is Ada.'])
  t.equal(opening.takesTurn('What are your opening hours?'), false)
})

t.test('an answer that is none is asked for once more, then left to the agent', async (t) => {
  const { did, opening } = begin({ consentMessage: 'May we record?' })
  t.equal(opening.takesTurn('Who is this?'), true)
  t.equal(opening.takesTurn('What do you want?'), false)
  t.same(did, ['says: May we record?', 'heard: Who is this?', 'says: May we record?', 'consent: unanswered'])
})

t.test('key 2 refuses', async (t) => {
  const { did, opening } = begin({ consentMessage: 'May we record?' })
  t.equal(opening.takesKey('7', 1), false)
  t.equal(opening.takesKey('2', 2), true)
  t.same(did.slice(1), ['consent: refused', 'stops', 'says: Hello, this is Ada.'])
  t.equal(opening.takesKey('2', 2), false, 'later keys are the conversation’s')
})

t.test('a doubtful consent is none', async (t) => {
  for (const yes of ['Yes', 'Sure, go ahead', 'no problem', "I don't mind", 'Ja, gerne', 'Sí, claro'])
    t.equal(readConsent(yes, english), 'given', yes)
  for (const no of ['No', 'No thanks', "I'd rather not", 'Yes, no, please do not', 'Nein danke'])
    t.equal(readConsent(no, english), 'refused', no)
  t.equal(readConsent('What is this about?', english), undefined)
})

t.test('an answering machine is hung up on', async (t) => {
  const { did, opening, pass, now } = begin({ voicemail: { behaviour: 'hang_up', message: '' } })
  await pass(1_000)
  opening.words('please leave a message', now())
  t.same(did, ['says: Hello, this is Ada.', 'told: machine', 'stops', 'ends'])
})

t.test('a message is left after the beep', async (t) => {
  const { did, opening, pass, now } = begin({
    voicemail: { behaviour: 'leave_message', message: 'Please call Ada back.' },
  })
  opening.speechStarted(now())
  await pass(2_000)
  opening.words('please leave a message after the tone', now())
  t.equal(opening.takesTurn('Please leave a message after the tone.'), true, 'nobody answers a machine')
  opening.speechEnded(now())
  t.same(did.splice(0), [
    'says: Hello, this is Ada.',
    'told: machine',
    'stops',
    'heard: Please leave a message after the tone.',
  ])
  await pass(400, 1_000)
  t.same(did, [], 'the beep still sounds')
  await pass(600)
  t.same(did, ['says to the end: Please call Ada back.', 'ends'])
})

t.test('a machine that does not beep gets its message when it is silent', async (t) => {
  const { did, opening, pass, now } = begin({ voicemail: { behaviour: 'leave_message', message: '' } })
  opening.speechStarted(now())
  opening.words('please leave a message', now())
  await pass(1_000)
  opening.speechEnded(now())
  await pass(1_900)
  t.equal(did.length, 3)
  await pass(200)
  t.same(did.slice(3), ['says to the end: Hello, this is Ada.', 'ends'])
})

t.test('an agent that goes on, and one who is asked who is calling, stay', async (t) => {
  const machine = begin({ voicemail: { behaviour: 'continue', message: '' } })
  machine.opening.words('please leave a message', machine.now())
  const screened = begin({ voicemail: { behaviour: 'hang_up', message: '' } })
  screened.opening.words('who is calling please', screened.now())
  await Promise.all([machine.pass(5_000), screened.pass(5_000)])
  t.same(machine.did, ['says: Hello, this is Ada.', 'told: machine'])
  t.same(screened.did, ['says: Hello, this is Ada.', 'told: screening'])
  t.equal(screened.opening.takesTurn('Who is calling please?'), false, 'the agent answers')
})

t.test('ringback after the answer is nobody, and the person after it is a human to the end', async (t) => {
  const { did, opening, pass, now } = begin({ voicemail: { behaviour: 'hang_up', message: '' } })
  for (let ring = 0; ring < 2; ring++) {
    await pass(2_000, 440)
    await pass(1_000)
  }
  t.same(did.splice(0), ['says: Hello, this is Ada.'])
  opening.speechStarted(now())
  await pass(600)
  opening.words('Hello?', now())
  opening.speechEnded(now())
  await pass(1_000)
  t.same(did.splice(0), ['told: human'])
  opening.words('Sorry, he is not available right now. Would you like to leave a message?', now())
  await pass(400, 1_000)
  await pass(2_000)
  t.same(did, [])
})

t.test('a fax is hung up on, whatever the agent does with voicemail', async (t) => {
  for (const behaviour of ['hang_up', 'leave_message', 'continue'] as const) {
    const { did, pass } = begin({ voicemail: { behaviour, message: 'Please call back.' } })
    await pass(1_000)
    await pass(1_500, 2_100)
    t.same(did, ['says: Hello, this is Ada.', 'told: fax', 'stops', 'ends'], behaviour)
  }
})
