import type { Clock } from '../clock.ts'
import { codecFor } from '../media/codec.ts'
import { JitterBuffer } from '../media/jitter.ts'
import { Resampler } from '../media/resample.ts'
import type { AudioFormat } from './leg.ts'

const JITTER = { maxWaitMs: 40, maxFillMs: 200, conceal: true }

/** Turns what one leg hears into what another can send: in order, in its rate and encoding. */
export function relay(from: AudioFormat, to: AudioFormat, clock: Clock) {
  const { decode } = codecFor(from)
  const { encode } = codecFor(to)
  const jitter = new JitterBuffer({ sampleRateHz: from.sampleRateHz, ...JITTER })
  const resampler =
    from.sampleRateHz === to.sampleRateHz ? undefined : new Resampler(from.sampleRateHz, to.sampleRateHz)
  return (bytes: Uint8Array, timestamp: number): Uint8Array[] =>
    jitter
      .push(decode(bytes), timestamp, clock.monotonicMs())
      .map((run) => encode(resampler === undefined ? run : resampler.push(run)))
}
