import { pino } from 'pino'
import t from 'tap'
import { CallLog } from '../../../../../runtime/call/log/call-log.ts'
import { CallRow } from '../../../../../runtime/call/log/call-row.ts'
import type { CallJournal } from '../../../../../runtime/call/log/journal.ts'

const log = pino({ level: 'silent' })
const TURN = { type: 'turn', text: 'hi', start_ms: 0, end_ms: 1 } as const
const OUTCOME = { status: 'completed', endReason: 'idle', disposition: 'completed' } as const

/** A log that is written into the row, and some use of models. */
function rowOf(target: CallJournal) {
  const row = new CallRow('c', target, log)
  const call = new CallLog({ nowMs: () => 0 }, [(event) => row.take(event)])
  const use = () => {
    call.append({ type: 'usage', stage: 'llm', input_tokens: 1, output_tokens: 2 })
    call.append({ type: 'usage', stage: 'stt', seconds: 0.5 })
  }
  return { row, call, use }
}

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
    const { row, call, use } = rowOf(target)
    call.append({ type: 'ringing' })
    call.append({ type: 'answered' })
    call.append(TURN)
    for (let i = 0; i < 5; i++) {
      use()
      call.append({ type: 'latency', endpointing_ms: 0, stt_ms: 0, llm_ms: 0, tts_ms: 0, total_ms: 100 + i })
    }
    await row.ended(OUTCOME, new Date(0), 1234)
    t.same(written, [
      ['ringing', 'c'],
      ['answered', 'c'],
      ['turn', 0, 'hi'],
      ['progress', 5, 2.5, [100, 101, 102, 103, 104]],
      ['ended', 'idle', 1234],
    ])
  }
})

t.test('what is used while a call runs is written soon, and what comes later after it', async (t) => {
  const { target, written } = journal()
  const { row, use } = rowOf(target)
  use()
  while (written.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  use()
  await row.ended(OUTCOME, new Date(0), 0)
  t.same(written, [
    ['progress', 1, 0.5, []],
    ['progress', 1, 0.5, []],
    ['ended', 'idle', 0],
  ])
})

t.test('an entry that cannot be written does not keep back the next', async (t) => {
  const { target, written } = journal()
  target.turn = () => Promise.reject(new Error('never'))
  const { row, call } = rowOf(target)
  call.append(TURN)
  await row.ended(OUTCOME, new Date(0), 0)
  t.same(written, [['ended', 'idle', 0]])
})
