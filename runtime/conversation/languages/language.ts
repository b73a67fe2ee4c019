import { PhraseList, type Writing } from './phrase-list.ts'
import type { Phrases } from './phrases.ts'

/**
 * What the runtime says and understands by itself in one language; everything else is the language model's. A language is one file,
 * complete or it doesn't compile.
 */
export interface Language {
  /** ISO 639-1. */
  readonly code: string
  /** The region of the tag it was asked for, in capitals, where it is known: `AT`. */
  readonly region?: string
  /** What it calls itself: `Deutsch`. */
  readonly name: string
  readonly writing: Writing
  readonly orders: Orders
  readonly phrases: Phrases
  /** What differs where the agent is on familiar terms with callers. */
  readonly informal: { readonly order: string; readonly phrases: Partial<Phrases> }
  /** What differs in a region, by the last part of the tag: `CH`, `419`. */
  readonly regions: Readonly<Record<string, Region>>
  /**
   * Words that no sentence ends with, small letters: the caller goes on. Never one that may end a sentence, too. Two words that only
   * together are such an ending are joined by a low line: `name_is`.
   */
  readonly openEndings: ReadonlySet<string>
  /** Words that often stand before more, and may end a sentence. */
  readonly looseEndings: ReadonlySet<string>
  /** Phrases after which the caller goes on, once they have thought. */
  readonly holdOns: PhraseList
  /** A question that wants more than a yes or a no; over plain text (plain.ts). */
  readonly asksOpenly: RegExp
  readonly dictation: Dictation
  /** Phrases that say "go on", not "stop". */
  readonly backchannels: PhraseList
  /** Frequent words that tell it from the other languages, small letters. */
  readonly commonWords: ReadonlySet<string>
  readonly consent: ConsentWords
  readonly answering: Answering
  /** Wishes not to be called again; patterns over plain text (plain.ts). */
  readonly doNotCall: readonly RegExp[]
  /** What an agent says of itself that leaves no doubt that it is an AI; over plain text. */
  readonly saysAi: RegExp
  readonly reading: Reading
  /** Abbreviations whose dot ends no sentence, without that dot. */
  readonly abbreviations: readonly string[]
  /** A number with a dot before a word is an ordinal: `am 3. Mai`. */
  readonly dottedOrdinals: boolean
}

/** Numbers and names that are given piece by piece. */
interface Dictation {
  /** Words that digits are said with, small letters. */
  readonly digits: ReadonlySet<string>
  /** The agent asks for a number; patterns over plain text (plain.ts). */
  readonly asksNumber: RegExp
  /** It asks for a telephone number. */
  readonly asksPhone: RegExp
  /** How many digits its telephone numbers have at least, as people give them at home. */
  readonly phoneDigits: number
  /** It asks how something is spelt. */
  readonly asksSpelling: RegExp
}

/** How a voice is to read what is written in figures and marks. */
export interface Reading {
  /** The marks of addresses; empty: an address is left to the voice. */
  readonly marks: Readonly<Record<'at' | 'dot' | 'slash' | 'dash' | 'underscore' | 'plus', string>>
  /** What `$` and `£` are called, by the plural rules of the language. */
  readonly dollars: Plurals
  readonly pounds: Plurals
  /** An amount with hundredths: `{whole}` with its currency, `{hundredths}`. */
  readonly money: string
  /** `{h}` and `{m}` of 14:30; empty: it is read as it is written. */
  readonly clock: { readonly full: string; readonly minutes: string }
  /** Abbreviations as they are said, by how they are written. */
  readonly inFull: Readonly<Record<string, string>>
}
type Plurals = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>

/** Orders to the language model, in the language itself. */
interface Orders {
  /** Answer in it, and address the caller formally where nothing else is ordered. */
  readonly language: string
  /** Say what you are when asked. */
  readonly sayAi: string
}

export interface Region {
  /** In place of the order to speak the language. */
  readonly order?: string
  readonly informalOrder?: string
  readonly phrases?: Partial<Phrases>
  readonly informal?: Partial<Phrases>
}

/** Answers to "may we record?", from words with their accents. */
export interface ConsentWords {
  /** What a yes begins with, after hesitations. */
  readonly yes: PhraseList
  /** A yes only as the whole answer. */
  readonly alone: PhraseList
  /** A yes that is asked: "why not?" */
  readonly rhetorical: PhraseList
  /** What may stand beside a yes and says nothing more. */
  readonly beside: PhraseList
  /** Hesitations in front. */
  readonly lead: PhraseList
  /** What a no begins with. */
  readonly no: PhraseList
  /** A refusal wherever it stands; over the words, parted by one blank. */
  readonly refuses: readonly RegExp[]
  /** The question was not understood. Words that say so only as a question end with `?`. */
  readonly unclear: readonly RegExp[]
  /** The keys 1 and 2, as a caller says them. */
  readonly one: PhraseList
  readonly two: PhraseList
  /** Whole answers that say yes and no to an agent of another language, too, and mean nothing else in any. */
  readonly abroad: { readonly yes: PhraseList; readonly no: PhraseList }
}

/** Phrases heard when a call is picked up; patterns over plain text (plain.ts). */
interface Answering {
  /** The tone after which one speaks: a machine, but for an assistant that goes on with the call. */
  readonly tone: RegExp
  /** The call goes on behind what the caller is asked for: no mailbox. */
  readonly proceeds: RegExp
  /** Only voicemail and announcements say it. */
  readonly machine: readonly RegExp[]
  /** A mailbox that takes no more messages. */
  readonly full: readonly RegExp[]
  /** Phrases of voicemail and of people: absence, the name reached, a promised call back, closed. Two of them mean a machine. */
  readonly hints: readonly RegExp[]
  /** Says that somebody else is absent, as people do: hints add up to nothing. */
  readonly speaksOfOthers: RegExp
  /** Menus and queues. */
  readonly menu: readonly RegExp[]
  /** Assistants that ask who is calling before they let a human decide. */
  readonly screening: readonly RegExp[]
  /** An offer to take a message: no machine asks. */
  readonly offers: RegExp
  /** Who is calling? Asked by people in a few words, by assistants in many. */
  readonly asks: RegExp
  /** Says who speaks; a voicemail often goes on after a pause. */
  readonly introduces: RegExp
  /** People who pick up for a company, however long they greet; the first: they offer their help. */
  readonly company: readonly RegExp[]
}

/** The words of a text between blanks. */
export const wordSet = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/).filter(Boolean))

/** Phrases between commas or line ends. */
export const phraseList = (text: string, writing?: Writing): PhraseList => new PhraseList(text, writing)

/** What is in a word, in words that are joined by blanks, with a `?` behind: the list of all letters costs V8 4 ms a pattern. */
const LETTER = '[^ ?]'
const BORDER = `(?:(?<!${LETTER})(?=${LETTER})|(?<=${LETTER})(?!${LETTER}))`

/**
 * Patterns for `spokenWords` joined by blanks, whose word borders and word characters know the letters of all languages: `\b` alone takes
 * `é` for a border.
 */
export const overWords = (patterns: readonly RegExp[]): readonly RegExp[] =>
  patterns.map(({ source }) => new RegExp(source.replaceAll('\\b', BORDER).replaceAll('\\w', LETTER), 'u'))
