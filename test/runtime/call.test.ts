import t from 'tap'
import { fromCaller, fromWorker, type PathCall } from '../../runtime/call.ts'
import { bytesOf, samplesOf } from '../../runtime/media/frame.ts'
import { CallRecording } from '../../runtime/recording/call-recording.ts'
import { AGENT, CALLER } from '../../runtime/recording/stereo.ts'
import { LineTimes } from '../../runtime/session/line-times.ts'

const FORMAT = { encoding: 'pcm_s16le', sampleRateHz: 8_000 } as const
const FRAME = 160
const FRAME_MS = 20
const LOUD_FRAME = 5

/** A call of two seconds of either side's frames, on a machine that is elsewhere whenever somebody looked at the clock. */
function playOnBusyMachine() {
  let nowMs = 0
  let awayMs = 0
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => {
      const seenMs = nowMs
      nowMs += awayMs
      return seenMs
    },
  }
  const recorded: number[] = []
  const sink = { write: (bytes: Uint8Array) => void recorded.push(...samplesOf(bytes)), end: () => {} }
  const lineTimes = new LineTimes(FORMAT)
  const tap = new CallRecording(FORMAT, sink, clock.monotonicMs)
  const call = {
    ...{ tap, lineTimes, leg: { format: FORMAT, sendAudio: () => {} }, audio: { hear: () => {} } },
    supervision: { caller: () => {}, agent: () => {} },
    callMs: (atMs = clock.monotonicMs()) => atMs,
  } as unknown as PathCall
  const [caller, worker] = [fromCaller(call, clock), fromWorker(call, clock)]
  for (let i = 0; i < 100; i++) {
    nowMs = (i + 1) * FRAME_MS
    awayMs = i < 60 ? 25 : 0
    const frame = bytesOf(new Int16Array(FRAME).fill(i === LOUD_FRAME ? 9_000 : 0))
    caller.audio(frame, i * FRAME)
    nowMs = (i + 1) * FRAME_MS
    // The agent falls silent and speaks again: what it says anew has a time of its own.
    if (i === LOUD_FRAME || i < 3) worker.audio(frame, i * FRAME)
  }
  tap.ended()
  const loudMs = (side: 0 | 1) => recorded.filter((_, i) => i % 2 === side).findIndex((sample) => sample > 0) / 8
  return { lineTimes, callerMs: loudMs(CALLER), agentMs: loudMs(AGENT) }
}

t.test('what was said stands in the log where the recording has it, on a machine that is busy', async (t) => {
  const { lineTimes, callerMs, agentMs } = playOnBusyMachine()
  t.equal(lineTimes.spoken(LOUD_FRAME * FRAME), callerMs)
  t.equal(lineTimes.onLine(LOUD_FRAME * FRAME_MS, 'start'), agentMs)
})
