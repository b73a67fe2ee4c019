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
  say: {
    greeting: string
    thanks: string
    farewell: string
    howAreYou: string
    whoAreYou: string
    unknown: string
    nothingToRepeat: string
    prompt: string
  }
}

export const set = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))
export const groups = (...lines: string[]): string[][] => lines.map((line) => line.split(' '))
