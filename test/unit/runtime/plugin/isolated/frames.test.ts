import { test } from 'tap'
import {
  type Frame,
  PipeFrameReader,
  PipeFrameWriter,
  PLUGIN_LIMITS,
  ROLE_LIMITS,
} from '../../../../../runtime/plugin/isolated/frames.ts'

function all(reader: PipeFrameReader): Frame[] {
  const frames: Frame[] = []
  for (let frame = reader.next(); frame !== undefined; frame = reader.next()) frames.push(frame)
  return frames
}

test('frames come out as they went in, however the pipe cuts them', async (t) => {
  const writer = new PipeFrameWriter(PLUGIN_LIMITS)
  writer.message({ type: 'log', level: 'info', message: 'grüß' })
  writer.audio(7, Int16Array.of(1, -2, 3))
  writer.result(8, { rows: [0.5] })
  writer.audio(9, new Int16Array(20_000).fill(5))
  const bytes = writer.take()
  t.equal(writer.length, 0)
  for (const cut of [1, 3, 7, 1_000, bytes.length]) {
    const reader = new PipeFrameReader(PLUGIN_LIMITS)
    const frames: Frame[] = []
    for (let at = 0; at < bytes.length; at += cut) {
      // As Node's streams give them: parts of a larger buffer.
      reader.push(Buffer.concat([Buffer.alloc(3, 77), bytes.subarray(at, at + cut)]).subarray(3))
      frames.push(...all(reader))
    }
    t.match(frames, [
      { type: 'message', message: { type: 'log', level: 'info', message: 'grüß' } },
      { type: 'audio', session: 7, samples: Int16Array.of(1, -2, 3) },
      { type: 'result', session: 8 },
      { type: 'audio', session: 9 },
    ])
    const [, , result, last] = frames
    t.same(result?.type === 'result' && result.parse(), { rows: [0.5] })
    t.equal(last?.type === 'audio' && last.samples.length, 20_000)
    t.ok(last?.type === 'audio' && last.samples.every((sample) => sample === 5))
    if (frames.length !== 4) break
  }
})

test('what was taken stays as it was while more is written', async (t) => {
  const writer = new PipeFrameWriter(ROLE_LIMITS)
  const samples = Int16Array.of(1, 2)
  writer.audio(1, samples)
  samples.fill(9)
  const first = writer.take()
  const copy = Uint8Array.from(first)
  writer.audio(1, samples)
  t.same(first, copy)
  const reader = new PipeFrameReader(ROLE_LIMITS)
  reader.push(first)
  t.match(all(reader), [{ samples: Int16Array.of(1, 2) }])
})

test('what is too long is neither written nor read', async (t) => {
  const writer = new PipeFrameWriter(PLUGIN_LIMITS)
  t.throws(() => writer.message('x'.repeat(70_000)), { name: 'RangeError', message: /at most 65536/ })
  t.throws(() => writer.result(1, 'x'.repeat(2 << 20)), RangeError)
  t.equal(writer.length, 0)
  const generous = new PipeFrameWriter(ROLE_LIMITS)
  generous.message('x'.repeat(70_000))
  const reader = new PipeFrameReader(PLUGIN_LIMITS)
  reader.push(generous.take().subarray(0, 5))
  t.throws(() => reader.next(), RangeError, 'before all of it was kept')
  for (const bytes of [
    [0, 0, 0, 0, 0],
    [255, 255, 255, 255, 1],
    [5, 0, 0, 0, 9, 1, 0, 0, 0],
    [2, 0, 0, 0, 1, 1],
  ]) {
    const broken = new PipeFrameReader(PLUGIN_LIMITS)
    broken.push(Uint8Array.from(bytes))
    t.throws(() => broken.next(), RangeError, bytes.join(' '))
  }
})
