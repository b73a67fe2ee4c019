import type { CollectType } from '../../call/types/collect-item.ts'

/** How one language says numbers, letters, dates and times, and what callers say around them. All words are plain (languages/plain.ts). */
export interface SpokenForms {
  /** ISO 639-1. */
  readonly code: string
  /** Where a telephone number without a country code is from, unless the call says otherwise: ISO 3166. */
  readonly country: string
  /** Every way to say a whole number below 1,000. */
  cardinals(n: number): readonly string[]
  /** Every way to say the day of a month in a date, 1–31, besides its numeral. */
  ordinals(n: number): readonly string[]
  readonly thousand: readonly string[]
  readonly million: readonly string[]
  /** Hundreds that are counted past ten: `nineteen hundred`. */
  readonly hundred: readonly string[]
  /** Hundreds and thousands are written as one word. */
  readonly glued: boolean
  /** More words for digits: `oh` is 0. */
  readonly digitWords: ReadonlyMap<string, string>
  /** Digits that are also other words: they count beside other digits, or alone. */
  readonly looseDigits: ReadonlySet<string>
  /** `double`: the next digit or letter stands twice. */
  readonly repeats: ReadonlyMap<string, number>
  readonly decimal: readonly string[]
  readonly minus: readonly string[]
  readonly and: readonly string[]
  /** Money: whole units and hundredths. */
  readonly money: readonly string[]
  readonly cents: readonly string[]
  readonly half: ReadonlyMap<string, number>
  readonly marks: AddressMarks
  /** Letters by their names, where these are words of more than one letter. */
  readonly letterNames: ReadonlyMap<string, string>
  /** Words that stand for their first letter: `anton`, `alpha`. */
  readonly spellingWords: ReadonlySet<string>
  /** Between a letter and the word it is explained by: `wie`, `as in`. */
  readonly asIn: readonly string[]
  /** Words in a spelling that are no part of it: `capital`. */
  readonly spellingNoise: ReadonlySet<string>
  /** What an answer begins with: `my name is`. Longest first doesn't matter. */
  readonly leads: readonly string[]
  /** What an answer ends with: `please`. */
  readonly trails: readonly string[]
  readonly months: readonly (readonly string[])[]
  /** From Monday on. */
  readonly weekdays: readonly (readonly string[])[]
  readonly dates: DateWords
  readonly times: TimeWords
  readonly corrections: CorrectionWords
  readonly says: CollectPhrases
}

/** The marks of addresses by their names. */
export interface AddressMarks {
  readonly at: readonly string[]
  readonly dot: readonly string[]
  readonly dash: readonly string[]
  readonly underscore: readonly string[]
  readonly plus: readonly string[]
}

export interface DateWords {
  readonly today: readonly string[]
  readonly tomorrow: readonly string[]
  readonly dayAfterTomorrow: readonly string[]
  /** The next week's: `next Tuesday` is not this week's. */
  readonly next: readonly string[]
  readonly inAWeek: readonly string[]
  /** `in {n} days`, with the numeral in place of the number. */
  readonly inDays: RegExp
  readonly inWeeks: RegExp
  /** 3/4 is the fourth of March. */
  readonly monthFirst: boolean
}

export interface TimeWords {
  readonly noon: readonly string[]
  readonly midnight: readonly string[]
  readonly am: readonly string[]
  readonly pm: readonly string[]
  /** Patterns over words with numerals; groups `h` and `m`. The first that matches counts; `add` minutes are added to `h`:`m`. */
  readonly patterns: readonly { readonly form: RegExp; readonly add?: number; readonly subtract?: boolean }[]
}

export interface CorrectionWords {
  readonly yes: readonly string[]
  readonly no: readonly string[]
  /** Of digits, letters and groups. */
  readonly last: readonly string[]
  readonly first: readonly string[]
  /** The n-th, from the second on. */
  readonly nth: readonly (readonly string[])[]
  readonly lastButOne: readonly string[]
  /** `not 6 but 7`: groups `old` and `new`, over numerals and letters. */
  readonly swaps: readonly RegExp[]
  /** Something is spelt or written with it: `with a y`. */
  readonly spelt: readonly string[]
}

/** What the agent says while it collects; `{value}` is filled in. */
export interface CollectPhrases {
  readonly ask: Readonly<Record<CollectType, string>>
  /** Reads a value back: `I have {value}. Is that right?` */
  readonly readBack: string
  /** Nothing could be read out of the answer. */
  readonly again: string
  /** The value is wrong, and no better one was said. */
  readonly wrong: string
  /** The parts of a read-back address. */
  readonly at: string
  readonly dot: string
  readonly dash: string
  readonly underscore: string
  readonly plus: string
}

/** The words of a text between blanks. */
export const wordList = (text: string): readonly string[] => text.trim().split(/\s+/).filter(Boolean)

/** Words and what each stands for. */
export const wordTable = <T>(entries: Readonly<Record<string, T>>): ReadonlyMap<string, T> =>
  new Map(Object.entries(entries))

/** Phrases between commas. */
export const phrases = (text: string): readonly string[] =>
  text
    .split(',')
    .map((phrase) => phrase.trim())
    .filter(Boolean)

/** The NATO alphabet, which callers of every language know. */
export const NATO = wordList(
  'alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey whisky xray yankee zulu',
)
