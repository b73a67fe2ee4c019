import type { Language } from '../languages/language.ts'
import { phrasesIn, spokenWords } from '../languages/phrase-list.ts'
import { MODEL_RATE_HZ } from '../providers/models.ts'

/** More phrases than this are always a turn. */
const MAX_BACKCHANNELS = 3
/** Of more words none is looked at. */
const MAX_WORDS = 12

/**
 * True when a transcript holds nothing but backchannels: speech that says "go on", not "stop". Heard while the agent speaks
 * it cuts nothing and is no turn. A question never is one.
 */
export function isBackchannel(
  text: string,
  { backchannels, writing }: Pick<Language, 'backchannels' | 'writing'>,
): boolean {
  if (/[?？¿]/u.test(text)) return false
  const words = spokenWords(text, writing)
  if (words.length === 0) return true
  return words.length <= MAX_WORDS && (phrasesIn(words, backchannels) ?? Number.POSITIVE_INFINITY) <= MAX_BACKCHANNELS
}

/**
 * Evidence of an open voice after which the agent falls silent, to hear whether it is meant. With 128 ms the 60 sentences of
 * bench/turns/sounds.ts stop it 216 ms after their onset (median; with 160 ms: 248), and none of its 16 hums does.
 */
export const FLOOR_EVIDENCE_MS = { low: 320, normal: 128, high: 96 } as const
/** How much of a voiced vowel's energy lies above about 1 kHz at least; a hum through the nose has far less. */
const OPEN_VOICE_TILT = 0.05
const VOICED_PERIODICITY = 0.5
/** Weight of a window that is voice but a hum, and of one that is no voice (cough, breath, noise). */
const HUM_WEIGHT = 0.2
const NOISE_WEIGHT = 0.08
/** A voice whose loudest window is below the caller's mean by more than this factor is somebody else's: a television, the next table. */
const FAR_LEVEL = 0.4
const FAR_WEIGHT = 0.08

/** Strength of the strongest pitch of 70 to 400 Hz, 0 to 1, by autocorrelation of every second sample. */
function periodicity(samples: Int16Array): number {
  const n = samples.length >> 1
  const halved = new Float64Array(n)
  /** Energy of the first samples, so many. */
  const energy = new Float64Array(n + 1)
  for (let i = 0; i < n; i++) {
    const sample = samples[2 * i]!
    halved[i] = sample
    energy[i + 1] = energy[i]! + sample * sample
  }
  const all = energy[n]!
  if (all === 0) return 0
  const rate = MODEL_RATE_HZ / 2
  let best = 0
  for (let lag = Math.floor(rate / 400); lag <= Math.floor(rate / 70) && lag < n; lag += 1) {
    let product = 0
    for (let i = lag; i < n; i++) product += halved[i]! * halved[i - lag]!
    // Normalised by the overlap: a short window holds only two periods of a low voice.
    const value = product / Math.sqrt(energy[n - lag]! * (all - energy[lag]!) + 1)
    if (value > best) best = value
  }
  return best
}

/** Energy of the first difference over the energy: 0 for a pure low hum, about 0.15 at 1 kHz, more for consonants. */
function tilt(samples: Int16Array): number {
  let energy = 0
  let difference = 0
  for (let i = 1; i < samples.length; i++) {
    energy += samples[i]! ** 2
    difference += (samples[i]! - samples[i - 1]!) ** 2
  }
  return energy === 0 ? 0 : difference / energy
}

/** Mean distance of the samples from silence. */
export function levelOf(samples: Int16Array): number {
  let sum = 0
  for (let i = 0; i < samples.length; i++) sum += Math.abs(samples[i]!)
  return sum / samples.length
}

/**
 * How much a window of speech counts as evidence that the caller wants the floor, as a share of its length: 1 for an
 * open voice, little for a hum ("mm-hm"), less for sound without pitch (coughs, breath, noise).
 * @param samples 512 samples at 16 kHz
 * @param probability of speech by the voice-activity model
 */
export function floorEvidence(samples: Int16Array, probability: number): number {
  if (probability < 0.5) return 0
  if (periodicity(samples) < VOICED_PERIODICITY) return NOISE_WEIGHT
  return tilt(samples) < OPEN_VOICE_TILT ? HUM_WEIGHT : 1
}

/**
 * How much the evidence of a stretch of speech counts, by its loudest window so far: little for a voice far away.
 * @param usualLevel of the caller's speech (levelOf); 0: they have not spoken yet
 */
export function nearness(loudest: number, usualLevel: number): number {
  return loudest < FAR_LEVEL * usualLevel ? FAR_WEIGHT : 1
}
