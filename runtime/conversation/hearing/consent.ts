import type { Consent } from '../../plugin-sdk/telephony/answerer.ts'
import { LANGUAGES } from '../languages/index.ts'
import type { Language } from '../languages/language.ts'
import { plain } from '../languages/plain.ts'

/** Who talks longer than this has answered at the end of it, if at all. */
const MAX_SAID_CHARS = 2_000

type Answer = Exclude<Consent, 'unanswered'>

/**
 * What an answer to "may we record?" says; undefined when it is no answer. A doubtful one is a no. Taken in `language`
 * first, then in any other: people say yes and no in their own.
 */
export function readConsent(text: string, language: Language): Answer | undefined {
  const said = plain(text.slice(-MAX_SAID_CHARS))
  const own = answerIn(said, language)
  if (own !== undefined) return own
  const others = LANGUAGES.map((other) => answerIn(said, other))
  return others.find((answer) => answer === 'refused') ?? others.find((answer) => answer === 'given')
}

function answerIn(said: string, { consent, keys }: Language): Answer | undefined {
  const key = keys.findIndex((name) => plain(name) === said)
  if (key >= 0) return keyedConsent(String(key))
  if (consent.yesDespiteNo.test(said)) return 'given'
  if (consent.no.test(said)) return 'refused'
  return consent.yes.test(said) ? 'given' : undefined
}

/** 1 is yes, 2 is no. */
export function keyedConsent(digit: string): Answer | undefined {
  return digit === '1' ? 'given' : digit === '2' ? 'refused' : undefined
}
