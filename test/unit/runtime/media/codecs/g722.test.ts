import { createHash } from 'node:crypto'
import t from 'tap'
import { G722Decoder, G722Encoder } from '../../../../../runtime/media/codecs/g722.ts'
import { LineAudio, sessionFormatFor } from '../../../../../runtime/media/line/line-audio.ts'

/** A sweep with noise from 100 to 7,000 Hz: the same on every machine. */
const sweep = Int16Array.from({ length: 16_000 }, (_, n) => {
  const seconds = n / 16_000
  const noise = ((Math.imul(n, 1_103_515_245) + 12_345) >>> 16) % 2_000
  return Math.round(9_000 * Math.sin(2 * Math.PI * (100 * seconds + 3_450 * seconds * seconds)) + noise - 1_000)
})

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16)

t.test('bytes and samples are those of another implementation (SpanDSP 0.0.6)', async (t) => {
  const bytes = new G722Encoder().encode(sweep)
  t.equal(digest(bytes), '3e667ceeac953b18')
  const samples = new G722Decoder().decode(bytes)
  t.equal(digest(new Uint8Array(samples.buffer)), 'd835d88f46bac4d5')
})

t.test('what is cut into packets is the same as the whole', async (t) => {
  const encoder = new G722Encoder()
  const parts: number[] = []
  for (let at = 0; at < sweep.length; at += 320) parts.push(...encoder.encode(sweep.subarray(at, at + 320)))
  t.equal(digest(Uint8Array.from(parts)), '3e667ceeac953b18')
})

t.test('a session keeps its format when the line changes its codec', async (t) => {
  t.same(sessionFormatFor('G722'), { encoding: 'pcm_s16le', sampleRateHz: 16_000 })
  t.same(sessionFormatFor('PCMA'), { encoding: 'pcma', sampleRateHz: 8_000 })
  const line = new LineAudio(sessionFormatFor('PCMU'), 'PCMU')
  const frame = new Uint8Array(160).fill(0x55)
  t.equal(line.toLine(frame), frame, 'the same law passes as it is')
  line.use('G722')
  let there = 0
  let back = 0
  for (let i = 0; i < 50; i++) {
    there += line.toLine(frame).length
    back += line.fromLine(new Uint8Array(160)).length
  }
  t.ok(Math.abs(there - 50 * 160) < 20, `${there} bytes of G.722`)
  t.ok(Math.abs(back - 50 * 160) < 20, `${back} bytes of μ-law`)
})
