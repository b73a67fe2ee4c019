import { signalWithin } from '../../lib/async/signal-within.ts'
import { Resampler } from '../../media/dsp/resample.ts'

const TIMEOUT_MS = 15_000

/** A turn of the caller in a call, by its place in the transcript. */
export interface RecordedTurn {
  callId: string
  turn: number
}

/** The caller's sound in a turn of a call. Rejects with the reason where there is none. */
export type RecordedSound = (
  turn: RecordedTurn,
  signal: AbortSignal,
) => Promise<{ samples: Int16Array; sampleRateHz: number }>

/** What the caller said in that turn, at that rate. Throws what the source throws, after 15 s, and of a turn without sound. */
export async function recordedWords(
  source: RecordedSound,
  turn: RecordedTurn,
  rateHz: number,
  signal: AbortSignal,
): Promise<Int16Array> {
  const recorded = await source(turn, signalWithin(TIMEOUT_MS, signal))
  const samples = new Resampler(recorded.sampleRateHz, rateHz).push(recorded.samples)
  if (samples.length === 0) throw new Error(`The recording of call ${turn.callId} has no sound of turn ${turn.turn}`)
  return samples
}
