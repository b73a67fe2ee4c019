import type { Clock } from '../../lib/clock.ts'
import { codecFor } from '../../media/codecs/codec.ts'
import { Resampler } from '../../media/dsp/resample.ts'
import { concatSamples, samplesPerFrame } from '../../media/frame.ts'
import { receiverFor } from '../../media/line/receiver.ts'
import type { AudioFormat } from '../types/leg.ts'

const JITTER = { maxWaitMs: 40, maxFillMs: 200 }

/** Turns what one leg hears into what another can send: in order, in its rate and encoding. */
export function relay(from: AudioFormat, to: AudioFormat, clock: Clock) {
  const receiver = receiverFor(from, JITTER)
  const { encode } = codecFor(to)
  const resampler =
    from.sampleRateHz === to.sampleRateHz ? undefined : new Resampler(from.sampleRateHz, to.sampleRateHz)
  const cut = to.encoding === 'opus' ? frames(samplesPerFrame(to.sampleRateHz)) : undefined
  return (bytes: Uint8Array, timestamp: number): Uint8Array[] =>
    receiver
      .push(bytes, timestamp, clock.monotonicMs())
      .map((run) => (resampler === undefined ? run : resampler.push(run)))
      .flatMap((run) => (cut === undefined ? [run] : cut(run)))
      .map(encode)
}

/** Cuts runs of any length into whole frames; what is left waits for the next one. */
function frames(length: number): (run: Int16Array) => Int16Array[] {
  let rest = new Int16Array(0)
  return (run) => {
    const all = concatSamples(rest, run)
    const count = Math.floor(all.length / length)
    rest = all.slice(count * length)
    return Array.from({ length: count }, (_, i) => all.slice(i * length, (i + 1) * length))
  }
}
