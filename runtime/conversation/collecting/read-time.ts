import { withNumerals } from './numbers.ts'
import type { Reading, ReadingContext } from './reading.ts'
import { holdsPhrase, type Token } from './tokens.ts'

/** An hour up to this one without "am" or "pm" is meant in the afternoon. */
const LAST_AFTERNOON_HOUR = 6

/** A time of day as `HH:MM`. */
export function readTime(tokens: readonly Token[], { forms }: ReadingContext): Reading | undefined {
  const { times } = forms
  const said = withNumerals(tokens, forms)
  const pm = holdsPhrase(tokens, times.pm)
  const am = !pm && holdsPhrase(tokens, times.am)
  for (const { form, add = 0, subtract = false } of times.patterns) {
    const found = form.exec(said)
    const hour = Number(found?.groups?.h)
    const minute = Number(found?.groups?.m ?? 0)
    if (found === null || !(hour <= 24) || !(minute < 60)) continue
    let total = hour * 60 + add + (subtract ? -minute : minute)
    const isShort = hour <= 12 && !/^0/.test(found.groups?.h ?? '')
    if (pm && hour < 12) total += 720
    else if (am && hour === 12) total -= 720
    const isGuess = !pm && !am && isShort && hour >= 1 && hour <= LAST_AFTERNOON_HOUR
    if (isGuess) total += 720
    total = (total + 1_440) % 1_440
    return { value: clockOf(total), confidence: isGuess ? 0.65 : 0.9, complete: false }
  }
  if (holdsPhrase(tokens, times.midnight)) return { value: '00:00', confidence: 0.9, complete: false }
  return holdsPhrase(tokens, times.noon) ? { value: '12:00', confidence: 0.9, complete: false } : undefined
}

export function clockOf(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}
