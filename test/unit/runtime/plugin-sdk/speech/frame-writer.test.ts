import t from 'tap'
import { FrameWriter } from '../../../../../runtime/plugin-sdk/speech/frame-writer.ts'

const RATE_HZ = 16_000
const MS = RATE_HZ / 1_000

function writer() {
  const put: { samples: number[]; ms: number; final: boolean; words: number }[] = []
  const frames = new FrameWriter(
    {
      closed: false,
      put: (item) => {
        if (typeof item === 'symbol') return
        const { frame, final, timedTranscripts = [] } = item
        const samples = [...frame.data]
        put.push({ samples, ms: samples.length / MS, final, words: timedTranscripts.length })
      },
    },
    RATE_HZ,
  )
  let written = 0
  const write = (ms: number) => {
    frames.write(Int16Array.from({ length: ms * MS }, () => written++ % 30_000))
  }
  return { frames, put, write, all: () => Array.from({ length: written }, (_, i) => i % 30_000) }
}

t.test('what has come goes on in one frame, but for the last of it', async (t) => {
  const { frames, put, write, all } = writer()
  for (const ms of [20, 20, 100, 10, 25, 60]) write(ms)
  t.same(
    put.map(({ ms }) => ms),
    [20, 100, 20, 60],
  )
  frames.end()
  t.same(
    put.map(({ final }) => final),
    [false, false, false, false, true],
  )
  t.same(
    put.flatMap(({ samples }) => samples),
    all(),
  )
})

t.test('no frame is longer than 100 ms, however much comes at once', async (t) => {
  const { frames, put, write, all } = writer()
  write(1_000)
  frames.end()
  t.ok(put.every(({ ms }) => ms <= 100))
  t.equal(put.length, 11)
  t.same(
    put.flatMap(({ samples }) => samples),
    all(),
  )
})

t.test('words go with the sound that comes with them, and a segment of a few milliseconds is one frame', async (t) => {
  const { frames, put, write } = writer()
  frames.time([{} as never])
  write(5)
  t.same(put, [])
  frames.end()
  t.match(put, [{ ms: 5, final: true, words: 1 }])
  frames.end()
  t.equal(put.length, 1, 'nothing is left')
})
