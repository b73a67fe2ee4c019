import t from 'tap'
import { NOTHING_YET } from '../../../../runtime/call/log/fold.ts'
import { fromCaller, fromWorker, type PathCall } from '../../../../runtime/call/path.ts'
import { CallTimeline } from '../../../../runtime/call/timeline.ts'
import { bytesOf, samplesOf } from '../../../../runtime/media/frame.ts'
import { CallRecording } from '../../../../runtime/recording/call-recording.ts'
import { AGENT, CALLER } from '../../../../runtime/recording/stereo.ts'

const FORMAT = { encoding: 'pcm_s16le', sampleRateHz: 8_000 } as const
const FRAME = 160
const FRAME_MS = 20
const LOUD_FRAME = 5

/** A call on a machine that may be elsewhere whenever somebody looked at the clock. */
function callOnBusyMachine() {
  const machine = { nowMs: 0, awayMs: 0 }
  const clock = {
    nowMs: () => machine.nowMs,
    monotonicMs: () => {
      const seenMs = machine.nowMs
      machine.nowMs += machine.awayMs
      return seenMs
    },
  }
  const recorded: number[] = []
  const sink = { write: (bytes: Uint8Array) => void recorded.push(...samplesOf(bytes)), end: () => {} }
  const timeline = new CallTimeline(FORMAT, (nowMs) => nowMs)
  const tap = new CallRecording(FORMAT, sink, clock.monotonicMs)
  const leg = { format: FORMAT, sendAudio: () => {}, clear: () => {} }
  const call = {
    ...{ tap, timeline, leg, audio: { hear: () => {} } },
    log: { state: NOTHING_YET },
    supervision: { caller: () => {}, agent: () => {}, cleared: () => {} },
    callMs: (atMs = clock.monotonicMs()) => atMs,
  } as unknown as PathCall
  /** Where a side of the recording is loud, in milliseconds. */
  const loud = (side: 0 | 1) => {
    const samples = recorded.filter((_, i) => i % 2 === side)
    const isLoud = (sample: number) => sample > 0
    return { fromMs: samples.findIndex(isLoud) / 8, toMs: (samples.findLastIndex(isLoud) + 1) / 8 }
  }
  return { machine, tap, timeline, loud, caller: fromCaller(call, clock), worker: fromWorker(call, clock) }
}

const frameOf = (level: number) => bytesOf(new Int16Array(FRAME).fill(level))

t.test('what was said stands in the log where the recording has it, on a machine that is busy', async (t) => {
  const { machine, tap, timeline, loud, caller, worker } = callOnBusyMachine()
  for (let i = 0; i < 100; i++) {
    machine.nowMs = (i + 1) * FRAME_MS
    machine.awayMs = i < 60 ? 25 : 0
    const frame = frameOf(i === LOUD_FRAME ? 9_000 : 0)
    caller.audio(frame, i * FRAME)
    machine.nowMs = (i + 1) * FRAME_MS
    // The agent falls silent and speaks again: what it says anew has a time of its own.
    if (i === LOUD_FRAME || i < 3) worker.audio(frame, i * FRAME)
  }
  tap.ended()
  t.equal(timeline.spoken(LOUD_FRAME * FRAME), loud(CALLER).fromMs)
  t.equal(timeline.onLine(LOUD_FRAME * FRAME_MS, 'start'), loud(AGENT).fromMs)
})

t.test('what was cut off ends in the log where it ends in the recording', async (t) => {
  const { machine, tap, timeline, loud, worker } = callOnBusyMachine()
  machine.nowMs = 100
  for (let i = 0; i < 5; i++) worker.audio(frameOf(9_000), i * FRAME)
  machine.nowMs = 130
  machine.awayMs = 25
  worker.message({ type: 'clear', session: 1 })
  machine.nowMs = 400
  tap.ended()
  t.same(loud(AGENT), { fromMs: 100, toMs: 130 })
  t.equal(timeline.onLine(30, 'end'), 130)
})

t.test('while a secret is given the recording, supervisors and the log get nothing of it; the worker gets it', (t) => {
  const taps: string[] = []
  const tap = { caller: () => taps.push('recorded') }
  const supervision = { caller: () => taps.push('supervised'), speaker: undefined }
  const sent: unknown[] = []
  const link = { audio: () => sent.push('sound'), event: (event: object) => sent.push(event) }
  const logged: object[] = []
  const state = { ...NOTHING_YET, collecting: undefined as object | undefined }
  const log = {
    state,
    append: (event: object) => {
      logged.push(event)
      return { ...event, seq: logged.length, at: 0 }
    },
  }
  const timeline = { heard: () => ({ at: 0, moved: 0, movedFrom: 0, arrivedMs: 0 }) }
  const call = { tap, supervision, link, log, timeline, audio: { hear: () => {} } } as unknown as PathCall
  const caller = fromCaller(call, { monotonicMs: () => 0, nowMs: () => 0 })
  caller.audio(frameOf(0), 0)
  t.same(taps.splice(0), ['recorded', 'supervised'])
  state.collecting = { secret: true }
  caller.audio(frameOf(9_000), FRAME)
  caller.dtmf('7')
  caller.text('4242')
  t.same(taps, [])
  t.same(logged, [
    { type: 'key', digit: '*' },
    { type: 'typed', text: '***' },
  ])
  t.match(sent.slice(1), ['sound', { type: 'key', digit: '7' }, { type: 'typed', text: '4242' }])
  state.collecting = undefined
  caller.audio(frameOf(0), 2 * FRAME)
  t.same(taps, ['recorded', 'supervised'])
  t.end()
})
