import t from 'tap'
import { desk } from './support/desk.ts'

t.test('a turn that cuts the agent off is told after what was heard of the agent', async (t) => {
  const { report, told } = desk()
  report({ type: 'begin' })
  report({ type: 'voice_started', purpose: 'reply' })
  report({ type: 'voice_progress', text: 'We are', startMs: 0, endMs: 500 })
  report({ type: 'turn_over', turn: { text: 'Stop', startMs: 400, endMs: 600 }, kept: false })
  report({ type: 'voice_ended', text: 'We are open', startMs: 0, endMs: 700, interrupted: true })
  t.same(
    told.filter(({ type }) => type === 'heard' || type === 'turn'),
    [
      { type: 'heard', text: 'We are', start_ms: 0, end_ms: 500, interrupted: false, final: false },
      { type: 'heard', text: 'We are open', start_ms: 0, end_ms: 700, interrupted: true, final: true },
      { type: 'turn', text: 'Stop', start_ms: 400, end_ms: 600 },
    ],
  )
})

t.test('an agent of whom nothing was heard leaves nothing in the record', async (t) => {
  const { report, take, told } = desk()
  report({ type: 'begin' })
  report({ type: 'voice_started', purpose: 'reply' })
  report({ type: 'voice_ended', text: '', startMs: 0, endMs: 0, interrupted: true })
  report({ type: 'turn_over', turn: { text: 'Hello', startMs: 0, endMs: 1 }, kept: false })
  t.notOk(told.some(({ type }) => type === 'heard'))
  t.match(take().at(-1), 'turn: Hello')
})

t.test('two turns typed in a row are two turns, each with its input, and both are answered', async (t) => {
  const { report, take, type } = desk()
  report({ type: 'begin' })
  take()
  type('Are you open?')
  type('And tomorrow?')
  t.same(take(), [
    'turn: Are you open? by 0',
    'answers: Are you open?',
    'turn: And tomorrow? by 1',
    'answers: And tomorrow?',
  ])
})
