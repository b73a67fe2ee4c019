import { test } from 'tap'
import { FrameRun } from '../../../../runtime/media/frame-run.ts'

const FRAME = 160

/** Samples that count up from `from`. */
const counting = (from: number, length: number) => Int16Array.from({ length }, (_, i) => (from + i) % 30_000)

test('samples that come in pieces of any length leave as frames, in order', (t) => {
  const run = new FrameRun(FRAME)
  let pushed = 0
  let next = 0
  for (const length of [1, 159, 160, 0, 161, 9_000, 40, 12_345]) {
    run.push(counting(pushed, length))
    pushed += length
    t.equal(run.length, Math.floor(pushed / FRAME))
    for (let frame = run.take(); frame !== undefined; frame = run.take()) {
      t.strictSame([...frame], [...counting(next, FRAME)])
      next += FRAME
      // Some stay ahead of what is taken.
      if (run.left === 3) break
    }
  }
  while (run.take() !== undefined) next += FRAME
  t.equal(next, Math.floor(pushed / FRAME) * FRAME)
  t.equal(run.taken, run.length)
  t.end()
})

test('silence fills the last frame, and none where nothing is missing', (t) => {
  const run = new FrameRun(FRAME)
  t.equal(run.isEmpty, true)
  t.equal(run.end(), 0)
  t.equal(run.take(), undefined)
  run.push(counting(1, FRAME))
  t.equal(run.end(), 0)
  run.push(counting(1, 40))
  t.equal(run.end(), 120)
  t.equal(run.isEmpty, false)
  t.equal(run.left, 2)
  t.same(run.next, run.next, 'what is next stays so until it leaves')
  t.equal(run.taken, 0)
  t.strictSame([...run.take()!], [...counting(1, FRAME)])
  t.strictSame([...run.take()!], [...counting(1, 40), ...new Int16Array(120)])
  t.equal(run.take(), undefined)
  t.end()
})

test('a frame that left stays as it was, whatever comes after it, and seconds of frames share few buffers', (t) => {
  const run = new FrameRun(FRAME)
  const frames: Int16Array[] = []
  for (let i = 0; i < 500; i++) {
    run.push(new Int16Array(FRAME).fill(i))
    frames.push(run.take()!)
  }
  t.ok(frames.every((frame, i) => frame.length === FRAME && frame.every((sample) => sample === i)))
  t.ok(new Set(frames.map((frame) => frame.buffer)).size <= 10)
  t.end()
})
