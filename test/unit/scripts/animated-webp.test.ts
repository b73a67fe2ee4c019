import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { animatedWebp } from '../../../scripts/console-pictures/animated-webp.ts'

const STILL = readFileSync(join(import.meta.dirname, '../../../docs/console/agents/agents.webp'))
const FRAME = { webp: STILL, x: 0, y: 0, width: 1280, height: 800, durationMs: 400 }

/** The chunks of a file, by the specification of the container: a name, a length, and data of even length. */
function chunksOf(data: Buffer): { name: string; data: Buffer }[] {
  const chunks: { name: string; data: Buffer }[] = []
  for (let at = 0; at < data.length; ) {
    const length = data.readUInt32LE(at + 4)
    chunks.push({ name: data.toString('latin1', at, at + 4), data: data.subarray(at + 8, at + 8 + length) })
    at += 8 + length + (length % 2)
  }
  return chunks
}

t.test('still pictures become one that moves, each part at its place and for its time', async (t) => {
  const webp = animatedWebp(1280, 800, [FRAME, { ...FRAME, x: 10, y: 6, width: 300, height: 201, durationMs: 70_000 }])
  const [riff] = chunksOf(webp)
  t.equal(riff?.name, 'RIFF')
  t.equal(riff?.data.length, webp.length - 8)
  t.equal(riff?.data.toString('latin1', 0, 4), 'WEBP')
  const [size, animation, first, second, ...more] = chunksOf(riff?.data.subarray(4) ?? Buffer.alloc(0))
  t.same([size?.name, animation?.name, first?.name, second?.name, more], ['VP8X', 'ANIM', 'ANMF', 'ANMF', []])
  t.same([size?.data.readUIntLE(4, 3), size?.data.readUIntLE(7, 3)], [1279, 799])
  t.equal(animation?.data.readUInt16LE(4), 0, 'played over and over')
  t.same(
    [0, 3, 6, 9, 12].map((at) => second?.data.readUIntLE(at, 3)),
    [5, 3, 299, 200, 70_000],
  )
  t.same(
    chunksOf(first?.data.subarray(16) ?? Buffer.alloc(0)).map(({ name }) => name),
    chunksOf(STILL.subarray(12))
      .map(({ name }) => name)
      .filter((name) => /^(?:ALPH|VP8 |VP8L)$/.test(name)),
  )
})

t.test('what is no still WebP is refused', async (t) => {
  t.throws(() => animatedWebp(1280, 800, [{ ...FRAME, webp: Buffer.from('GIF89a') }]), { message: /no still WebP/ })
})
