import type { Consent } from '../telephony/answerer.ts'

const YES =
  /\b(?:yes|yeah|yep|sure|okay|ok|of course|fine|certainly|agree|no problem|i don t mind|go ahead|ja|gerne|einverstanden|in ordnung|si|claro|vale|de acuerdo|oui|d accord|bien sur|va bene|certo|sim|pode)\b/
const NO =
  /\b(?:no|nope|not|don t|do not|rather you didn t|refuse|nein|nicht|auf keinen fall|non|pas|nao|prefiero que no)\b/
const YES_WITH_NO = /\bno problem\b|\bdon t mind\b|\bwhy not\b|\bno objections?\b/

/** What an answer to "may we record?" says; undefined when it is no answer. A doubtful one is a no. */
export function readConsent(text: string): Exclude<Consent, 'unanswered'> | undefined {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
  if (YES_WITH_NO.test(plain)) return 'given'
  if (NO.test(plain)) return 'refused'
  return YES.test(plain) ? 'given' : undefined
}

/** 1 is yes, 2 is no. */
export function keyedConsent(digit: string): Exclude<Consent, 'unanswered'> | undefined {
  return digit === '1' ? 'given' : digit === '2' ? 'refused' : undefined
}
