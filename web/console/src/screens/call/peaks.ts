import { request } from '../../data/api.ts'

/** The loudest sample of each stretch, 0 to 1, of caller and agent. */
export interface Peaks {
  readonly caller: Float32Array
  readonly agent: Float32Array
}

const STRETCHES = 1_600
/** Longer recordings are played, but not drawn: decoding them would take hundreds of MB. */
const MAX_BYTES = 64 * 1024 * 1024
/** No faster than what is drawn needs. */
const DECODE_RATE_HZ = 8_000

/** Reads a stereo recording: its left channel is the caller, its right one the agent. */
export async function peaksOf(path: string, signal: AbortSignal): Promise<{ peaks?: Peaks; lengthMs?: number }> {
  const answer = await request(path, { signal })
  if (Number(answer.headers.get('content-length') ?? 0) > MAX_BYTES) return {}
  const bytes = await answer.arrayBuffer()
  const audio = await new OfflineAudioContext(2, 1, DECODE_RATE_HZ).decodeAudioData(bytes)
  const [caller, agent] = [audio.getChannelData(0), audio.getChannelData(Math.min(1, audio.numberOfChannels - 1))]
  return { peaks: { caller: loudest(caller), agent: loudest(agent) }, lengthMs: audio.duration * 1000 }
}

function loudest(samples: Float32Array): Float32Array {
  const peaks = new Float32Array(STRETCHES)
  const step = samples.length / STRETCHES
  for (let i = 0; i < STRETCHES; i++) {
    let peak = 0
    for (let at = Math.floor(i * step), end = Math.floor((i + 1) * step); at < end; at++) {
      const value = Math.abs(samples[at]!)
      if (value > peak) peak = value
    }
    peaks[i] = peak
  }
  return peaks
}
