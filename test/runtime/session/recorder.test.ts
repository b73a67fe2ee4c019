import { pino } from 'pino'
import t from 'tap'
import type { CallJournal } from '../../../runtime/session/journal.ts'
import { Recorder } from '../../../runtime/session/recorder.ts'

const log = pino({ level: 'silent' })
const USAGE = { llmInputTokens: 1, llmOutputTokens: 2, sttSeconds: 0.5, ttsCharacters: 3 }
const TURN = { role: 'user', text: 'hi', startMs: 0, endMs: 1, interrupted: false } as const
const OUTCOME = { status: 'completed', endReason: 'idle', disposition: 'completed' } as const

/** A journal that fails as often as told before each write. */
function journal(failures = 0) {
  const written: unknown[] = []
  let left = failures
  const write = async (...entry: unknown[]): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve))
    if (left-- > 0) throw new Error('database away')
    left = failures
    written.push(entry)
  }
  const target: CallJournal = {
    ringing: (callId) => write('ringing', callId),
    answered: (callId) => write('answered', callId),
    turn: (_, seq, { text }) => write('turn', seq, text),
    progress: (_, usage, latenciesMs) => write('progress', usage.llmInputTokens, usage.sttSeconds, latenciesMs),
    ended: (_, { endReason }, __, durationMs) => write('ended', endReason, durationMs),
  }
  return { target, written }
}

t.test('a call is written in order, each sum once, and its end last', async (t) => {
  for (const failures of [0, 2]) {
    const { target, written } = journal(failures)
    const recorder = new Recorder('c', target, log)
    recorder.ringing()
    recorder.answered(new Date(0))
    recorder.turn(0, TURN)
    for (let i = 0; i < 5; i++) {
      recorder.usage(USAGE)
      recorder.latency(100 + i)
    }
    await recorder.ended(OUTCOME, new Date(0), 1234)
    t.same(written, [
      ['ringing', 'c'],
      ['answered', 'c'],
      ['turn', 0, 'hi'],
      ['progress', 5, 2.5, [100, 101, 102, 103, 104]],
      ['ended', 'idle', 1234],
    ])
  }
})

t.test('what comes while sums are written is written after them', async (t) => {
  const { target, written } = journal()
  const recorder = new Recorder('c', target, log)
  recorder.usage(USAGE)
  await new Promise((resolve) => setTimeout(resolve, 20))
  recorder.usage(USAGE)
  await recorder.ended(OUTCOME, new Date(0), 0)
  t.same(written, [
    ['progress', 1, 0.5, []],
    ['progress', 1, 0.5, []],
    ['ended', 'idle', 0],
  ])
})

t.test('an entry that cannot be written does not keep back the next', async (t) => {
  const { target, written } = journal()
  target.turn = () => Promise.reject(new Error('never'))
  const recorder = new Recorder('c', target, log)
  recorder.turn(0, TURN)
  await recorder.ended(OUTCOME, new Date(0), 0)
  t.same(written, [['ended', 'idle', 0]])
})
