import { test } from 'tap'
import { bytesOf } from '../../../../../runtime/media/frame.ts'
import { conceal } from '../../../../../runtime/media/line/conceal.ts'
import { receiverFor } from '../../../../../runtime/media/line/receiver.ts'

const RATE = 8_000
/** A voice of 125 Hz: a period of 64 samples. */
const voice = (from: number, count: number) =>
  Int16Array.from({ length: count }, (_, i) => Math.round(8_000 * Math.sin((2 * Math.PI * 125 * (from + i)) / RATE)))

const energy = (samples: Int16Array): number => samples.reduce((sum, sample) => sum + sample * sample, 0)

test('a lost frame of a voice is made up so that it can hardly be told', (t) => {
  const lost = voice(480, 160)
  const made = conceal(voice(0, 480), 160, RATE)
  const error = energy(made.map((sample, i) => sample - lost[i]!))
  t.ok(error < 0.1 * energy(lost), `the error has ${(error / energy(lost)).toFixed(3)} of the energy`)
  t.end()
})

test('a long loss fades and ends in silence', (t) => {
  const made = conceal(voice(0, 480), 1_600, RATE)
  t.ok(energy(made.subarray(240, 400)) < energy(made.subarray(0, 160)))
  t.equal(energy(made.subarray(480)), 0)
  t.end()
})

test('with too little to go on from, it is silence', (t) => {
  t.equal(energy(conceal(voice(0, 100), 160, RATE)), 0)
  t.equal(energy(conceal(new Int16Array(480), 160, RATE)), 0)
  t.end()
})

test('a receiver goes on with the voice where a packet is lost', (t) => {
  const buffer = receiverFor({ encoding: 'pcm_s16le', sampleRateHz: RATE }, { maxWaitMs: 60, maxFillMs: 1_000 })
  for (let i = 0; i < 5; i++) buffer.push(bytesOf(voice(160 * i, 160)), 160 * i, 20 * i)
  buffer.push(bytesOf(voice(960, 160)), 960, 120)
  const [filled, next] = buffer.tick(200)
  t.equal(filled!.length, 160)
  t.ok(energy(filled!) > 0.5 * energy(voice(800, 160)))
  t.strictSame(next, voice(960, 160))
  t.end()
})
