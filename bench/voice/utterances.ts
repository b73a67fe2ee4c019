import { execFileSync } from 'node:child_process'
import { Resampler } from '../../runtime/media/dsp/resample.ts'
import { firstLoud, lastLoud } from '../../runtime/media/frame.ts'

/** What the simulated callers ask. */
export const QUESTIONS = [
  'What are your opening hours?',
  'Can I bring my dog with me?',
  'Do you deliver to the city centre on Sundays?',
  'How much is a large pizza?',
]

/** Sentences with a pause in their middle: who answers in the pause cuts the caller off. */
export const PAUSED: readonly { parts: readonly [string, string]; pauseMs: number }[] = [
  { parts: ['I would like to book a table for', 'four people tomorrow evening at eight.'], pauseMs: 700 },
  { parts: ['My phone number is zero seven nine and', 'then three three four.'], pauseMs: 600 },
  { parts: ['Can you tell me about the', 'vegetarian dishes you have?'], pauseMs: 800 },
  { parts: ['I was wondering whether, um', 'you are still hiring cooks.'], pauseMs: 900 },
  { parts: ['We were there last week with', 'a group of twelve.'], pauseMs: 450 },
  { parts: ['Please send it to my', 'office, not to my home address.'], pauseMs: 500 },
]

export const OTHER = 'I want to know something else now.'
export const HUM = 'mm hmm'

const rendered = new Map<string, Int16Array>()

/** A text as a person's voice (espeak-ng), cut to its sound. */
export function lineOf(text: string, rateHz: number): Int16Array {
  const key = `${rateHz}|${text}`
  const known = rendered.get(key)
  if (known !== undefined) return known
  const wav = execFileSync('espeak-ng', ['-v', 'en-us', '-s', '165', '--stdout', text], { maxBuffer: 1 << 24 })
  const bytes = wav.subarray(44, wav.length - (wav.length % 2))
  const samples = new Resampler(wav.readUInt32LE(24), rateHz).push(new Int16Array(new Uint8Array(bytes).buffer))
  const line = samples.slice(firstLoud(samples, 300), lastLoud(samples, 300) + 1)
  rendered.set(key, line)
  return line
}

/** Noise from a fixed seed, so that both sides hear the same. */
function* seeded(): Generator<number, never> {
  for (let state = 1; ; ) {
    state = (state * 48271) % 2147483647
    yield state / 1073741823.5 - 1
  }
}

function shaped(rateHz: number, durationMs: number, envelope: (share: number) => number): Int16Array {
  const random = seeded()
  const length = Math.round((rateHz * durationMs) / 1000)
  return Int16Array.from({ length }, (_, i) => Math.round(random.next().value * envelope(i / length)))
}

export const COUGH = (rateHz: number): Int16Array => shaped(rateHz, 280, (share) => 14_000 * Math.exp(-4 * share))
export const NOISE = (rateHz: number): Int16Array => shaped(rateHz, 900, (share) => 6000 * Math.sin(Math.PI * share))
