import t from 'tap'
import { resumeAfter } from '../support/resume-after.ts'
import { desk } from './support/desk.ts'

const HELLO = 'Hello, this is Ada.'

/** A conversation whose greeting is over. */
function greeted() {
  const one = desk({ firstMessage: HELLO })
  one.report({ type: 'begin' })
  one.speaks(HELLO, 'first_message')
  one.take()
  return one
}

t.test('what a supervisor whispers the language model is told, and nothing is said', async (t) => {
  const { supervise, take } = greeted()
  const seq = supervise({ type: 'whispered', text: 'Offer ten percent.' })
  t.same(take(), [
    'is told: A supervisor who listens in tells you, unheard by the caller: Offer ten percent.',
    `takes ${seq}`,
  ])
})

t.test('what a supervisor has the agent say counts as said from its first sound on', async (t) => {
  const { supervise, take, told, speaks } = greeted()
  const seq = supervise({ type: 'supervisor_said', text: 'We will call you back.' })
  t.same(take(), ['says: We will call you back.'])
  speaks('We will call you back.', 'supervisor')
  t.ok(take().includes(`takes ${seq}`))
  t.match(
    told.filter(({ type }) => type === 'said'),
    [{ text: 'We will call you back.' }],
  )
})

t.test('what was cut off before its first sound is not said by another worker', async (t) => {
  const { supervise, take, report } = greeted()
  const seq = supervise({ type: 'supervisor_said', text: 'One moment.' })
  take()
  report({ type: 'speech_over', purpose: 'supervisor', interrupted: true, hangsUp: false })
  t.same(take(), [`takes ${seq}`])
})

t.test(
  'a supervisor who takes over: the agent falls silent, and turns are written down but not answered',
  async (t) => {
    const { supervise, take, says, type, key, pass } = greeted()
    const seq = supervise({ type: 'took_over' })
    t.match(take(), [`takes ${seq}`, /^is told: A supervisor talks/, 'falls silent'])
    t.equal(says('Who are you?'), true, 'the language model is not asked')
    t.same(take(), ['remembers: Who are you?', 'turn: Who are you?'])
    type('my number is 7')
    t.same(take(), ['remembers: my number is 7', `turn: my number is 7 by ${seq + 1}`])
    key('5')
    t.same(take(), [`takes ${seq + 2}`])
    pass(120_000)
    t.same(take(), [], 'nobody is asked whether they are there, and nothing fills the silence')
  },
)

t.test('given back, the agent knows what was said meanwhile and goes on', async (t) => {
  const { supervise, take, says, pass } = greeted()
  supervise({ type: 'took_over' })
  says('I want my money back.')
  take()
  const seq = supervise({ type: 'gave_back', summary: 'They get a voucher.' })
  t.match(take(), [
    `takes ${seq}`,
    /^is told: The supervisor has given the caller back to you. .*They get a voucher/,
    'may speak',
    'finishes',
  ])
  t.equal(says('Thanks.'), false, 'the language model answers again')
  take()
  pass(3_200)
  t.match(take(), [/^fills/], 'and the silence is filled again')
})

t.test('a call given back that was never taken over goes on as it was', async (t) => {
  const { supervise, take } = greeted()
  const seq = supervise({ type: 'gave_back' })
  t.same(take(), [`takes ${seq}`])
})

t.test('taken over during the greeting, the rest of it is never said and consent is not taken as given', async (t) => {
  const { report, take, supervise, says, over } = desk({
    firstMessage: HELLO,
    recordingNotice: 'Recorded.',
    consentMessage: 'May we?',
  })
  report({ type: 'begin' })
  take()
  supervise({ type: 'took_over' })
  t.ok(take().includes('greeting: done'))
  over('notice')
  t.same(take(), [])
  says('yes')
  supervise({ type: 'gave_back' })
  says('yes')
  t.notOk(take().some((one) => one.startsWith('consent') || one.startsWith('says')))
})

t.test(
  'what is typed or keyed while something is said to its end goes to the supervisor who cuts that off',
  async (t) => {
    const { report, take, supervise, type, over } = desk({ firstMessage: HELLO, recordingNotice: 'Recorded.' })
    report({ type: 'begin' })
    report({ type: 'uninterruptible', on: true })
    type('help')
    take()
    supervise({ type: 'took_over' })
    over('notice')
    t.ok(take().includes('turn: help by 0'))
  },
)

t.test('a goodbye for want of a language model is off when a human takes over', async (t) => {
  const { report, take, supervise, pass } = greeted()
  report({ type: 'unanswered', stage: 'llm', why: 'refused', hopeless: true, purpose: 'reply' })
  take()
  supervise({ type: 'took_over' })
  take()
  pass(20_000)
  t.same(take(), [])
})

t.test('a worker that takes over a supervised call is silent until it is given back', async (t) => {
  const turns = [{ role: 'user' as const, text: 'When?', startMs: 0, endMs: 900, interrupted: false }]
  const { report, take, says, supervise } = desk(
    { firstMessage: HELLO },
    { elapsedMs: 9_000, resume: { ...resumeAfter(turns), takenOver: true, greeting: 'done' } },
  )
  report({ type: 'begin' })
  t.same(take(), ['falls silent'])
  says('Tell me.')
  t.same(take(), ['remembers: Tell me.', 'turn: Tell me.'])
  supervise({ type: 'gave_back' })
  t.equal(take().at(-1), 'finishes')
})
