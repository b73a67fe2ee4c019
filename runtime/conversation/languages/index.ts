import { german } from './de.ts'
import { english } from './en.ts'
import { spanish } from './es.ts'
import { french } from './fr.ts'
import { hindi } from './hi.ts'
import { italian } from './it.ts'
import { japanese } from './ja.ts'
import { type ConsentWords, type Language, phraseList, type Reading, type Region } from './language.ts'
import { dutch } from './nl.ts'
import { NO_PHRASES, type OwnPhrase, type Phrases } from './phrases.ts'
import { polish } from './pl.ts'
import { portuguese } from './pt.ts'
import { swedish } from './sv.ts'
import { turkish } from './tr.ts'

/** All the languages the runtime speaks by itself; the first where nothing tells the language. */
export const LANGUAGES: readonly [Language, ...Language[]] = [
  english,
  german,
  spanish,
  french,
  italian,
  portuguese,
  dutch,
  polish,
  swedish,
  turkish,
  japanese,
  hindi,
]

/** An agent's language that follows the caller's. */
export const MULTI = 'multi'

/** On what terms an agent is with its callers: `Sie` or `du`. */
type Register = 'formal' | 'informal'

/** How an agent speaks, besides its language. */
export interface Manner {
  readonly register?: Register | undefined
  /** The operator's own sentences. */
  readonly phrases?: Readonly<Partial<Record<OwnPhrase, string>>> | undefined
}

/** Spanish of any other country than Spain is Latin American: `es-MX`. */
const LATIN_AMERICA = '419'

/** The first part of a language tag, small letters: `de` of `de-AT`. Names of voices begin alike (`pt-br+f3`). */
export function baseOf(tag: string): string {
  return (tag.split(/[-_+]/)[0] ?? '').toLowerCase()
}

/** The region of a tag, in capitals: `AT` of `de-at`, `419` of `es-419`, `TW` of `zh-Hant-TW`. */
export function regionOf(tag: string): string | undefined {
  const [, ...parts] = (tag.split('+')[0] ?? '').split(/[-_]/)
  return parts.find((part) => /^(?:[A-Za-z]{2}|\d{3})$/.test(part))?.toUpperCase()
}

/** The runtime has sentences of its own in the language of the tag. `multi` has those of any. */
export function speaks(tag: string): boolean {
  const code = baseOf(tag)
  return code === MULTI || LANGUAGES.some((language) => language.code === code)
}

const made = new Map<string, Language>()
const MAX_MADE = 200

/**
 * The language of a tag, as it is spoken in its region and with an agent's manner. One the runtime doesn't speak has no sentences
 * but the agent's own, and no words of English are looked for in it. Undefined, empty and `multi` are English.
 */
export function languageOf(tag: string | undefined, manner: Manner = {}): Language {
  const code = baseOf(tag ?? '')
  const region = code === '' || code === MULTI ? undefined : regionOf(tag ?? '')
  const { register = 'formal', phrases } = manner
  const key = `${code}-${region ?? ''} ${register}`
  let language = made.get(key)
  if (language === undefined) {
    language = spokenIn(code, region, register)
    if (made.size < MAX_MADE) made.set(key, language)
  }
  return phrases === undefined || Object.keys(phrases).length === 0
    ? language
    : { ...language, phrases: { ...language.phrases, ...phrases } }
}

function spokenIn(code: string, region: string | undefined, register: Register): Language {
  const known = LANGUAGES.find((language) => language.code === (code === '' || code === MULTI ? 'en' : code))
  if (known === undefined) return unspoken(code)
  const local = regionIn(known, region)
  const isInformal = register === 'informal'
  if (local === undefined && !isInformal) return known
  const phrases: Phrases = {
    ...known.phrases,
    ...local?.phrases,
    ...(isInformal ? { ...known.informal.phrases, ...local?.informal } : {}),
  }
  const order = isInformal ? (local?.informalOrder ?? known.informal.order) : (local?.order ?? known.orders.language)
  return {
    ...known,
    ...(region === undefined ? {} : { region }),
    phrases,
    orders: { ...known.orders, language: order },
  }
}

function regionIn({ code, regions }: Language, region: string | undefined): Region | undefined {
  if (region === undefined) return undefined
  return regions[region] ?? (code === 'es' ? regions[LATIN_AMERICA] : undefined)
}

const NO_WORDS = phraseList('')
/** Matches nothing. */
const NEVER = /$^/
/** A whole answer in a language that the runtime speaks is still understood. */
const NO_CONSENT_WORDS: ConsentWords = {
  yes: NO_WORDS,
  alone: NO_WORDS,
  rhetorical: NO_WORDS,
  beside: NO_WORDS,
  lead: NO_WORDS,
  no: NO_WORDS,
  refuses: [],
  unclear: [],
  one: phraseList('1'),
  two: phraseList('2'),
  abroad: { yes: NO_WORDS, no: NO_WORDS },
}

/** Figures alone are written for the voice. */
const NO_READING: Reading = {
  marks: { at: '', dot: '', slash: '', dash: '', underscore: '', plus: '' },
  dollars: { other: '' },
  pounds: { other: '' },
  money: '',
  clock: { full: '', minutes: '' },
  inFull: {},
}

const NAMES = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' })

function unspoken(code: string): Language {
  const name = /^[a-z]{2,3}$/.test(code) ? (NAMES.of(code) ?? code) : code
  const [english] = LANGUAGES
  return {
    ...english,
    code,
    name,
    orders: { language: `Always speak ${name}.`, sayAi: english.orders.sayAi },
    phrases: NO_PHRASES,
    informal: { order: `Always speak ${name}.`, phrases: {} },
    regions: {},
    openEndings: new Set(),
    looseEndings: new Set(),
    holdOns: NO_WORDS,
    asksOpenly: NEVER,
    dictation: { digits: new Set(), asksNumber: NEVER, asksPhone: NEVER, phoneDigits: 9, asksSpelling: NEVER },
    backchannels: phraseList('mm, mmm, mhm, mm-hm, hm, hmm, hmmm, ah, aha, oh, ok, okay'),
    commonWords: new Set(),
    consent: NO_CONSENT_WORDS,
    reading: NO_READING,
    abbreviations: [],
    dottedOrdinals: false,
  }
}
