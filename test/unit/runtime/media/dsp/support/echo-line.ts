import { MODEL_RATE_HZ } from '../../../../../../runtime/conversation/providers/models.ts'
import { decodeG711, encodeG711 } from '../../../../../../runtime/media/codecs/g711.ts'
import { EchoSuppressor } from '../../../../../../runtime/media/dsp/echo.ts'
import { Resampler } from '../../../../../../runtime/media/dsp/resample.ts'
import { FRAME_MS, joinSamples } from '../../../../../../runtime/media/frame.ts'
import { lineNoise, speech } from '../../../conversation/support/speech.ts'

export const RATE_HZ = 8_000
export const FRAME = RATE_HZ / 50

/** Speech at -20 dB of full scale, as synthesisers have it. */
export function spoken(text: string, voice: string): Int16Array {
  const samples = speech(text, RATE_HZ, voice)
  const rms = Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length)
  return samples.map((sample) => Math.round((sample * 3_276.8) / rms))
}

export const AGENTS = ['en-us', 'de+f3', 'es'].map((voice) =>
  spoken(
    'Hotel Aurora, good morning! How can I help you today? We have rooms free from Monday until Friday, and breakfast is included.',
    voice,
  ),
)
export const CALLERS = ['en-gb+f3', 'en-us', 'de'].map((voice) =>
  spoken('Wait, I would like to cancel my booking please, it was for tomorrow night.', voice),
)

interface Line {
  agent: Int16Array
  /** What the agent's voice loses on its way back; undefined: none comes back. */
  lossDb?: number
  delayMs?: number
  caller?: Int16Array
  callerAtMs?: number
  callerDb?: number
  /** Packets come up to so much late. */
  jitterMs?: number
  /** What plays the agent's voice makes this of it. */
  player?: (voice: Int16Array) => Int16Array
  /** Noise around the caller, in dB of full scale. */
  noiseDb?: number
  /** Taken as it is. */
  unfiltered?: boolean
}

export const gain = (db: number) => 10 ** (db / 20)
/** Uniform, of power 1. */
export const noise = () => (Math.random() * 2 - 1) * Math.sqrt(3)

/** The call at the pace of its frames; what the suppressor lets through, and what it learnt. */
export function hear(line: Line) {
  const { agent, lossDb, delayMs = 0, caller, callerAtMs = 0, callerDb = 0, jitterMs = 15, player, noiseDb } = line
  const back = player?.(agent) ?? agent
  const length = Math.max(back.length, (callerAtMs * RATE_HZ) / 1000 + (caller?.length ?? 0)) + RATE_HZ
  const sound = Float64Array.from(lineNoise(length))
  if (noiseDb !== undefined) for (let i = 0; i < length; i++) sound[i]! += noise() * 0x8000 * gain(noiseDb)
  const delay = (delayMs * RATE_HZ) / 1000
  if (lossDb !== undefined) for (let i = 0; i < back.length; i++) sound[i + delay]! += back[i]! * gain(-lossDb)
  const from = (callerAtMs * RATE_HZ) / 1000
  caller?.forEach((sample, i) => {
    sound[from + i]! += sample * gain(callerDb)
  })
  const clipped = Int16Array.from(sound, (sample) => Math.max(-32_768, Math.min(32_767, sample)))
  const heard = decodeG711('pcmu', encodeG711('pcmu', clipped))
  const echo = new EchoSuppressor(RATE_HZ, MODEL_RATE_HZ)
  const resampler = new Resampler(RATE_HZ, MODEL_RATE_HZ)
  const passed: { samples: Int16Array; atMs: number }[] = []
  const came: Int16Array[] = []
  for (let at = 0; at + FRAME <= heard.length; at += FRAME) {
    const nowMs = 5_000 + (at * 1000) / RATE_HZ
    if (at + FRAME <= agent.length) echo.sent(agent.subarray(at, at + FRAME), nowMs + Math.random() * 3)
    const samples = resampler.push(heard.subarray(at, at + FRAME))
    came.push(samples)
    const cleaned = echo.clean(samples, nowMs + 20 + Math.random() * jitterMs, ((at + FRAME) * 1000) / RATE_HZ)
    for (const piece of line.unfiltered ? [{ samples }] : cleaned) {
      passed.push({ samples: piece.samples, atMs: (at * 1000) / RATE_HZ })
    }
  }
  const samples = joinSamples(passed.map((piece) => piece.samples))
  /** When the sample of that index was let through. */
  const atMs = (index: number): number => {
    let end = 0
    for (const piece of passed) {
      end += piece.samples.length
      if (end > index) return piece.atMs
    }
    return Number.POSITIVE_INFINITY
  }
  return { samples, came, atMs, echo: echo.echo }
}

/** Of the pieces of 20 ms in which the caller is loud on the line, the samples of those not let through, and how late the latest was. */
export function lostOf(line: Line & { caller: Int16Array; callerAtMs: number }): { lost: number; lateMs: number } {
  const { samples, came, atMs } = hear(line)
  const from = (line.callerAtMs * MODEL_RATE_HZ) / 1000
  let lost = 0
  let lateMs = 0
  let at = 0
  for (const [frame, piece] of came.entries()) {
    let isLoud = false
    let isWhole = true
    for (const [i, sample] of piece.entries()) {
      if (at + i < from || at + i >= from + line.caller.length * 2 || Math.abs(sample) <= 300) continue
      isLoud = true
      if (samples[at + i] !== sample) isWhole = false
    }
    if (!isWhole) lost += piece.length
    at += piece.length
    if (isLoud) lateMs = Math.max(lateMs, atMs(at - 1) - frame * FRAME_MS)
  }
  return { lost, lateMs }
}
