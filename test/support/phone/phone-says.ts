import { renderSpeech } from '../../../scripts/demo/speech.ts'

/** What a telephone sends and plays, in Hz. */
export const PHONE_RATE_HZ = 8_000

/** A sentence as a telephone carries it, spoken by espeak-ng. */
export const phoneSays = (text: string): Promise<Int16Array> => renderSpeech(text, PHONE_RATE_HZ)

/** `wholeMs` of silence with these said in it, each at its time. */
export function saying(words: Iterable<readonly [atMs: number, speech: Int16Array]>, wholeMs: number): Int16Array {
  const whole = new Int16Array((PHONE_RATE_HZ / 1_000) * wholeMs)
  for (const [atMs, speech] of words) whole.set(speech, (PHONE_RATE_HZ / 1_000) * atMs)
  return whole
}
