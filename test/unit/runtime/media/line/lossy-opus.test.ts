import fc from 'fast-check'
import t from 'tap'
import { OpusEncoder } from '../../../../../runtime/media/codecs/opus.ts'
import { OPUS_SILENCE, opusDurationMs } from '../../../../../runtime/media/codecs/opus-packet.ts'
import { OPUS_RATE_HZ, OpusRepair, prepareOpusRepair } from '../../../../../runtime/media/codecs/opus-repair.ts'
import { samplesPerFrame } from '../../../../../runtime/media/frame.ts'
import { receiverFor } from '../../../../../runtime/media/line/receiver.ts'

const FRAME = samplesPerFrame(OPUS_RATE_HZ)
const OPUS = { encoding: 'opus', sampleRateHz: OPUS_RATE_HZ } as const
const OPTIONS = { maxWaitMs: 60, maxFillMs: 1_000 }

t.before(() => prepareOpusRepair())

/** Something like a voice: a pitch that wanders, with overtones. */
const voice = Int16Array.from({ length: OPUS_RATE_HZ * 2 }, (_, i) => {
  const s = i / OPUS_RATE_HZ
  const phase = 2 * Math.PI * (140 * s + 6 * Math.sin(2 * Math.PI * 1.3 * s))
  return (
    6_000 * (Math.sin(phase) + 0.5 * Math.sin(2 * phase) + 0.3 * Math.sin(5 * phase)) * (0.6 + 0.4 * Math.sin(9 * s))
  )
})

function packets(): Uint8Array[] {
  const encoder = new OpusEncoder(OPUS_RATE_HZ)
  return Array.from({ length: voice.length / FRAME }, (_, i) =>
    encoder.encode(voice.slice(i * FRAME, (i + 1) * FRAME)).slice(),
  )
}

const joined = (runs: Int16Array[]) => Int16Array.from(runs.flatMap((run) => [...run]))

/** Signal to noise of `got` against `wanted`, in dB. */
function fidelity(wanted: Int16Array, got: Int16Array): number {
  let signal = 0
  let noise = 1
  for (let i = 0; i < wanted.length; i++) {
    signal += wanted[i]! ** 2
    noise += (wanted[i]! - (got[i] ?? 0)) ** 2
  }
  return 10 * Math.log10(signal / noise)
}

function heard(sent: readonly Uint8Array[], isLost: (i: number) => boolean): Int16Array {
  const receiver = receiverFor(OPUS, OPTIONS)
  const runs: Int16Array[] = []
  for (const [i, packet] of sent.entries()) {
    if (!isLost(i)) runs.push(...receiver.push(packet, i * FRAME, i * 20))
    runs.push(...receiver.tick(i * 20))
  }
  runs.push(...receiver.tick(1e6))
  return joined(runs)
}

t.test('a lost packet comes out of the one behind it, better than any guess', async (t) => {
  const sent = packets()
  const whole = heard(sent, () => false)
  t.equal(whole.length, voice.length, 'as many samples as were spoken')
  const lost = (i: number) => i > 5 && i % 10 === 0
  const mended = heard(sent, lost)
  t.equal(mended.length, whole.length, 'and with losses, too')
  const at = (samples: Int16Array) =>
    joined(sent.flatMap((_, i) => (lost(i) ? [samples.slice(i * FRAME, (i + 1) * FRAME)] : [])))
  const db = fidelity(at(whole), at(mended))
  t.ok(db > 5, `${db.toFixed(1)} dB where silence has 0`)
})

t.test('rubbish is heard as nothing and breaks nothing', async (t) => {
  const decoder = new OpusRepair()
  t.equal(decoder.decode(new Uint8Array(0)).length, 0)
  t.equal(decoder.decode(new Uint8Array(2_048)).length, 0)
  t.equal(decoder.decode(OPUS_SILENCE).length, FRAME)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => decoder.decode(bytes).length <= 6 * FRAME),
    { numRuns: 500 },
  )
  t.equal(decoder.decode(packets()[0]!).length, FRAME)
})

t.test('whatever order packets come in, what is heard is one run', async () => {
  const sent = packets().slice(0, 40)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 39 }), { maxLength: 80 }), async (order) => {
      await prepareOpusRepair()
      const receiver = receiverFor(OPUS, OPTIONS)
      let samples = 0
      let last = 0
      for (const [n, i] of [0, ...order].entries()) {
        for (const run of receiver.push(sent[i]!, i * FRAME, n * 5)) samples += run.length
        last = Math.max(last, i)
      }
      for (const run of receiver.tick(1e6)) samples += run.length
      return samples === (last + 1) * FRAME
    }),
    { numRuns: 100 },
  )
})

t.test('a packet says how long it is', async (t) => {
  for (const ms of [10, 20, 40, 60]) {
    t.equal(opusDurationMs(new OpusEncoder(OPUS_RATE_HZ).encode(new Int16Array((OPUS_RATE_HZ * ms) / 1000))), ms)
  }
  t.equal(opusDurationMs(OPUS_SILENCE), 20)
  t.equal(opusDurationMs(new Uint8Array(0)), 10)
  fc.assert(fc.property(fc.uint8Array({ maxLength: 4 }), (bytes) => opusDurationMs(bytes) <= 120))
})
