/** What the offline language model knows of a language. */
export interface Language {
  code: string
  /** Words that carry no topic, question words among them; without accents. */
  stopWords: ReadonlySet<string>
  /** Endings a stem is found by, longest first. */
  endings: readonly string[]
  /** Stems that no ending gives. */
  irregular: Readonly<Record<string, string>>
  /** Words that ask for the same thing. A word of a group stands for the others at a reduced weight. */
  synonyms: readonly (readonly string[])[]
  greeting: RegExp
  thanks: RegExp
  farewell: RegExp
  howAreYou: RegExp
  whoAreYou: RegExp
  repeat: RegExp
  /** How a system prompt gives orders: such a sentence is no fact. */
  instruction: RegExp
  /** "You are Ava, …" → "I am Ava, …". */
  identity: { match: RegExp; says: string }
  /** What the model needs to call tools. */
  calling: {
    /** Words that name the same deed. The English ones stand for tools that are named in English. */
    deeds: readonly (readonly string[])[]
    /** Today, tomorrow, the day after tomorrow. */
    days: readonly [string, string, string]
    time: {
      /** Words before an hour, and the minutes they add. */
      before: Readonly<Record<string, number>>
      /** Words behind an hour, and the minutes they add. */
      after: Readonly<Record<string, number>>
      /** Says that an hour from 1 to 11 is one of the afternoon. */
      afternoon: RegExp
    }
    /** What stands before a person's name. */
    nameLead: RegExp
    /** What stands before a place. */
    placeLead: RegExp
    /** What stands before an answer: "it is", "for". */
    answerLead: RegExp
    /** The spoken signs of an e-mail address. */
    spelled: { at: RegExp; dot: RegExp }
    yes: RegExp
    no: RegExp
    /** Takes a request back. */
    nevermind: RegExp
  }
  say: {
    greeting: string
    thanks: string
    farewell: string
    howAreYou: string
    whoAreYou: string
    unknown: string
    nothingToRepeat: string
    prompt: string
    /** Asks for something that a tool needs: its name follows. */
    tell: string
    /** A tool did what was asked, and answered nothing that can be said. */
    done: string
    failed: string
    moment: string
    yes: string
    no: string
  }
}

export const set = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))
export const groups = (...lines: string[]): string[][] => lines.map((line) => line.split(' '))
