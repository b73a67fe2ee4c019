import t from 'tap'
import { CallerAudio } from '../../../../../runtime/call/control/caller-audio.ts'
import type { CallEventBody } from '../../../../../runtime/call/log/events.ts'

const FRAME_MS = 20

/** A call answered at 0, whose caller's audio comes in frames of 20 ms. */
function line() {
  const audio = new CallerAudio()
  let nowMs = 0
  audio.take({ type: 'answered' }, 0)
  return {
    pass(ms: number) {
      for (let i = 0; i < ms / FRAME_MS; i++) {
        nowMs += FRAME_MS
        audio.hear(new Uint8Array([1]), nowMs, nowMs)
      }
    },
    told: (event: CallEventBody) => audio.take(event, nowMs),
    /** From when to when the next worker hears, in milliseconds of the call. */
    heard(): [number, number] | undefined {
      const times: number[] = []
      audio.deliver({ audio: (_bytes, timestamp) => void times.push(timestamp) }, nowMs)
      const [first] = times
      return first === undefined ? undefined : [first, times.at(-1)!]
    },
    now: () => nowMs,
  }
}

t.test('speech that is no turn yet is kept from before its start', async (t) => {
  const call = line()
  call.pass(20_000)
  call.told({ type: 'speech_started' })
  call.pass(12_000)
  t.same(call.heard(), [19_000, 32_000])
})

t.test('what is a turn is not heard again, what follows it is', async (t) => {
  const call = line()
  call.pass(10_000)
  call.told({ type: 'speech_started' })
  call.pass(3_000)
  call.told({ type: 'speech_ended' })
  call.pass(1_000)
  call.told({ type: 'turn', text: 'Hello?', start_ms: 10_000, end_ms: 13_000 })
  t.same(call.heard(), [13_000, 14_000])
})

t.test('a typed turn leaves what is being spoken alone', async (t) => {
  const call = line()
  call.pass(10_000)
  call.told({ type: 'speech_started' })
  call.pass(3_000)
  call.told({ type: 'turn', text: 'typed', start_ms: 13_000, end_ms: 13_000, inputs: [4] })
  t.same(call.heard(), [9_000, 13_000])
})

t.test('of a caller who is silent the last seconds are kept: a worker that hung spoke of none of it', async (t) => {
  const call = line()
  call.pass(60_000)
  call.told({ type: 'worker_lost', worker: 'w', reason: 'no heartbeat' })
  t.same(call.heard(), [54_000, 60_000])
})

t.test('speech that became no turn for long was none', async (t) => {
  const call = line()
  call.told({ type: 'speech_started' })
  call.pass(1_000)
  call.told({ type: 'speech_ended' })
  call.pass(9_000)
  call.told({ type: 'worker_lost', worker: 'w', reason: 'killed' })
  t.same(call.heard(), [4_000, 10_000])
})

t.test('while there is no worker everything is kept, and at most half a minute', async (t) => {
  const call = line()
  call.pass(10_000)
  call.told({ type: 'worker_lost', worker: 'w', reason: 'killed' })
  call.pass(20_000)
  t.same(call.heard(), [4_000, 30_000])
  call.told({ type: 'worker_lost', worker: 'w', reason: 'killed' })
  call.pass(60_000)
  t.same(call.heard(), [60_000, 90_000])
})

t.test('what was begun before the turn before it was told is of the next turn', async (t) => {
  const call = line()
  call.pass(10_000)
  call.told({ type: 'speech_started' })
  call.pass(2_000)
  call.told({ type: 'speech_ended' })
  call.pass(200)
  call.told({ type: 'speech_started' })
  call.pass(300)
  call.told({ type: 'turn', text: 'Hello?', start_ms: 10_000, end_ms: 12_000 })
  call.pass(9_000)
  t.same(call.heard(), [12_000, 21_500])
})

t.test('a second worker that dies before the turn leaves it to the third', async (t) => {
  const call = line()
  call.pass(10_000)
  call.told({ type: 'speech_started' })
  call.pass(2_000)
  const first = call.heard()
  call.told({ type: 'worker_lost', worker: 'w', reason: 'killed' })
  t.same(call.heard(), first)
})

t.test('the end of a turn is not heard again though the clock of its worker was late', async (t) => {
  const call = line()
  call.pass(10_000)
  call.told({ type: 'speech_started' })
  call.pass(2_000)
  call.told({ type: 'speech_ended' })
  call.pass(500)
  // By the worker's own time the caller was silent from 11,000 on.
  call.told({ type: 'turn', text: 'Hello?', start_ms: 9_000, end_ms: 11_000 })
  t.same(call.heard(), [11_800, 12_500])
})
