import fc from 'fast-check'
import t from 'tap'
import { CallTimeline } from '../../../../runtime/call/timeline.ts'
import { encodeG711 } from '../../../../runtime/media/codecs/g711.ts'
import { OpusEncoder } from '../../../../runtime/media/codecs/opus.ts'
import { OPUS_SILENCE } from '../../../../runtime/media/codecs/opus-packet.ts'
import { OPUS_RATE_HZ } from '../../../../runtime/media/codecs/opus-repair.ts'
import { bytesOf, samplesOf } from '../../../../runtime/media/frame.ts'
import { CallRecording } from '../../../../runtime/recording/call-recording.ts'
import { AGENT, CALLER, StereoWindow } from '../../../../runtime/recording/stereo.ts'

const RATE_HZ = 8_000
const FRAME = 160

/** A recording with a clock of its own, and what came out of it. */
function begin(encoding: 'pcm_s16le' | 'pcmu' = 'pcm_s16le') {
  let nowMs = 1_000
  const out: Int16Array[] = []
  let ends = 0
  const sink = {
    write: (bytes: Uint8Array) => void out.push(samplesOf(bytes).slice()),
    end: () => void ends++,
  }
  const format = { encoding, sampleRateHz: RATE_HZ }
  const tap = new CallRecording(format, sink, () => nowMs)
  const timeline = new CallTimeline(format, (atMs) => atMs)
  /** As the call path records what passes. */
  const recording = {
    caller: (bytes: Uint8Array, timestamp: number) => tap.caller(bytes, timeline.heard(bytes, timestamp, nowMs)),
    agent: (bytes: Uint8Array) => tap.agent(bytes, timeline.said(bytes, nowMs)),
    cleared: () => tap.cleared(timeline.cleared(nowMs)),
    flush: () => tap.flush(),
    ended: () => tap.ended(),
  }
  const side = (which: 0 | 1) => out.flatMap((frames) => [...frames].filter((_, i) => i % 2 === which))
  return {
    recording,
    pass: (ms: number) => {
      nowMs += ms
    },
    left: () => side(CALLER),
    right: () => side(AGENT),
    written: () => out.reduce((sum, { length }) => sum + length / 2, 0),
    largest: () => Math.max(0, ...out.map(({ length }) => length / 2)),
    ends: () => ends,
  }
}

const tone = (value: number, samples = FRAME) => bytesOf(new Int16Array(samples).fill(value))
/** Runs of equal samples as [value, length]. */
function runs(samples: readonly number[]): [number, number][] {
  const found: [number, number][] = []
  for (const sample of samples) {
    const last = found.at(-1)
    if (last?.[0] === sample) last[1]++
    else found.push([sample, 1])
  }
  return found
}

t.test('a caller whose first packet was held up stands where they were heard all the same', async (t) => {
  const call = begin()
  // What was spoken from 1,000 ms on comes from 1,220 ms on: two packets at once, and then as it is spoken.
  call.pass(220)
  call.recording.caller(tone(1), 0)
  for (let i = 1; i < 10; i++) call.recording.caller(tone(1), i * FRAME)
  for (let i = 10; i < 60; i++) {
    call.pass(20)
    call.recording.caller(tone(i < 30 ? 1 : 7), i * FRAME)
  }
  call.pass(100)
  call.recording.ended()
  const [from] = runs(call.left()).reduce<[number, number]>(
    ([at, sum], [value, length]) => (value === 7 && at < 0 ? [sum, sum] : [at, sum + length]),
    [-1, 0],
  )
  // The 31st packet came at 640 ms, with what was spoken in the 20 ms before.
  t.equal(from, 8 * 620)
})

t.test('both sides stand where they were heard and sent: the caller left, the agent right', async (t) => {
  const call = begin()
  for (let i = 0; i < 50; i++) {
    call.pass(20)
    call.recording.caller(tone(7), i * FRAME)
    if (i >= 25) call.recording.agent(tone(9))
  }
  call.recording.ended()
  t.same(runs(call.left()), [[7, 8_000]])
  // The 26th frame leaves at 520 ms; the last one still plays when the call ends.
  t.same(runs(call.right()), [
    [0, 4_160],
    [9, 3_840],
  ])
  t.equal(call.ends(), 1)
})

t.test('packets that jitter stand one after the other, lost ones leave their gap', async (t) => {
  const call = begin()
  const arrivals = [20, 60, 61, 95, 140, 160]
  let now = 0
  for (const [i, at] of arrivals.entries()) {
    call.pass(at - now)
    now = at
    if (i !== 3) call.recording.caller(tone(i + 1), i * FRAME)
  }
  call.recording.ended()
  t.same(
    runs(call.left())
      .filter(([, length]) => length === FRAME)
      .map(([value]) => value),
    [1, 2, 3, 0, 5, 6],
  )
})

t.test('a packet that comes late stands where it belongs', async (t) => {
  const call = begin()
  call.pass(100)
  for (const i of [0, 2, 1, 3]) {
    call.pass(20)
    call.recording.caller(tone(i + 1), i * FRAME)
  }
  call.pass(100)
  call.recording.ended()
  t.same(
    runs(call.left())
      .map(([value]) => value)
      .filter((value) => value > 0),
    [1, 2, 3, 4],
  )
})

t.test('a caller whose timestamps start anew goes on at the present', async (t) => {
  const call = begin()
  call.pass(20)
  call.recording.caller(tone(1), 0)
  call.pass(2_000)
  call.recording.caller(tone(2), 4_000_000)
  call.pass(20)
  call.recording.caller(tone(3), 4_000_000 + FRAME)
  call.recording.ended()
  t.same(runs(call.left()), [
    [1, FRAME],
    [0, 2_000 * 8 - FRAME],
    [2, FRAME],
    [3, FRAME],
  ])
})

t.test('what the caller interrupted and never heard is not in it', async (t) => {
  const call = begin()
  call.pass(100)
  for (let i = 0; i < 25; i++) call.recording.agent(tone(9))
  call.pass(100)
  call.recording.cleared()
  call.pass(900)
  call.recording.ended()
  t.same(runs(call.right()), [
    [0, 800],
    [9, 800],
    [0, 7_200],
  ])
})

t.test('silence is given away too, in bounded pieces, and never more than there was', async (t) => {
  const call = begin()
  for (let second = 0; second < 60; second++) {
    call.pass(1_000)
    call.recording.flush()
  }
  t.equal(call.written(), 59 * RATE_HZ)
  call.pass(600_000)
  call.recording.flush()
  t.ok(call.largest() <= 2 * RATE_HZ)
  call.recording.ended()
  call.recording.ended()
  call.recording.caller(tone(1), 0)
  call.recording.agent(tone(1))
  call.recording.cleared()
  t.equal(call.written(), 660 * RATE_HZ)
  t.equal(call.ends(), 1)
})

t.test('telephone audio is decoded', async (t) => {
  const call = begin('pcmu')
  call.pass(20)
  call.recording.caller(encodeG711('pcmu', new Int16Array(FRAME).fill(1_000)), 0)
  call.recording.ended()
  t.ok(call.left().every((sample) => Math.abs(sample - 1_000) < 40))
})

t.test('each side of an Opus call is decoded by itself', async (t) => {
  const out: Int16Array[] = []
  let nowMs = 0
  const sink = { write: (bytes: Uint8Array) => void out.push(samplesOf(bytes).slice()), end: () => {} }
  const format = { encoding: 'opus', sampleRateHz: OPUS_RATE_HZ } as const
  const recording = new CallRecording(format, sink, () => nowMs)
  const timeline = new CallTimeline(format, (atMs) => atMs)
  const voice = new OpusEncoder(OPUS_RATE_HZ)
  const frame = OPUS_RATE_HZ / 50
  for (let i = 0; i < 50; i++) {
    nowMs += 20
    const samples = Int16Array.from({ length: frame }, (_, n) => 6_000 * Math.sin((i * frame + n) / 10))
    const packet = voice.encode(samples)
    recording.caller(packet, timeline.heard(packet, i * frame, nowMs))
    recording.agent(OPUS_SILENCE, timeline.said(OPUS_SILENCE, nowMs))
  }
  recording.ended()
  const loudest = (which: 0 | 1) =>
    Math.max(...out.flatMap((frames) => [...frames].filter((_, i) => i % 2 === which).map(Math.abs)))
  t.ok(loudest(CALLER) > 4_000)
  t.ok(loudest(AGENT) < 10, 'the silent side hears nothing of the other')
})

t.test('a window gives back what was put inside it, whatever the order, and forgets it', async () => {
  const put = fc.record({
    side: fc.constantFrom(CALLER, AGENT),
    at: fc.integer({ min: -20, max: 90 }),
    length: fc.integer({ min: 0, max: 30 }),
    take: fc.integer({ min: 0, max: 90 }),
  })
  fc.assert(
    fc.property(fc.array(put, { maxLength: 30 }), (puts) => {
      const size = 40
      const window = new StereoWindow(size)
      const expected = new Int16Array(400)
      const given: number[] = []
      for (const [n, { side, at, length, take }] of puts.entries()) {
        for (let i = 0; i < length; i++) {
          const position = at + i
          if (position >= given.length / 2 && position < given.length / 2 + size) expected[position * 2 + side] = n + 1
        }
        window.put(side, at, new Int16Array(length).fill(n + 1))
        given.push(...window.take(take))
      }
      return given.every((sample, i) => sample === expected[i])
    }),
  )
})
