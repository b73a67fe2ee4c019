/** What the runtime says and understands by itself in one language; everything else is the language model's. */
export interface Language {
  /** ISO 639-1. */
  readonly code: string
  /** What it calls itself: `Deutsch`. */
  readonly name: string
  /** Has a language model answer in it; an order, in the language itself. */
  readonly instruction: string
  readonly phrases: Phrases
  /** Words that no sentence ends with, small letters: the caller goes on. Never one that may end a sentence, too. */
  readonly openEndings: ReadonlySet<string>
  /** Words that say "go on", not "stop", small letters. */
  readonly backchannels: ReadonlySet<string>
  /** Frequent words that tell it from the other languages, small letters. */
  readonly commonWords: ReadonlySet<string>
  /** Answers to "may we record?"; patterns of a plain text (plain.ts). */
  readonly consent: {
    readonly yes: RegExp
    readonly no: RegExp
    /** A yes that holds a word of no. */
    readonly yesDespiteNo: RegExp
  }
  /** Phrases heard when a call is picked up; patterns over plain text (plain.ts). */
  readonly answering: {
    /** Only voicemail and announcements say it. */
    readonly machine: readonly RegExp[]
    /** A mailbox that takes no more messages. */
    readonly full: readonly RegExp[]
    /** Phrases of voicemail and of people: absence, the name reached, a promised call back. Two of them mean a machine. */
    readonly hints: readonly RegExp[]
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
  /** Abbreviations whose dot ends no sentence, without that dot. */
  readonly abbreviations: readonly string[]
  /** Names of the keys 0 to 9, as a caller says them. */
  readonly keys: readonly string[]
}

/** What the agent says without its model. */
export interface Phrases {
  /** No answer could be made; the caller may try again. */
  sayAgain: string
  /** The caller spoke, and no words came of it. */
  didNotCatch: string
  /** No recogniser can be had just now. */
  cannotHear: string
  /** The caller says nothing at all. */
  stillThere: string
  /** An answer is late. */
  oneMoment: string
  /** It is later still. */
  stillHere: string
  /** The agent hangs up without having said so. */
  bye: string
  /** The call can't go on. */
  goodbye: string
  /** The caller is being put through. */
  transferring: string
  /** Asks a transfer's target to take the call, after saying who calls and why. */
  takeCall: string
  /** The transfer's target could not be reached. */
  transferFailed: string
  /** A person of the company takes the call over from the agent. */
  takenOver: string
  /** The agent is back after a person had the call. */
  givenBack: string
}

/** The words of a text between blanks. */
export const wordSet = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))
