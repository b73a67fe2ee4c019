import { translator } from './answers.ts'
import { DICTIONARIES, type Dictionary } from './dictionaries.ts'
import { language } from './language.ts'

/** Every sentence of the page: English stands where it is said and is the key of the others. */
const dictionary = language === 'en' ? undefined : await DICTIONARIES[language]()

type Sentence = keyof Dictionary['sentences']
/** Double braces are text. */
type NamesIn<S extends string> = S extends `${string}{{${string}`
  ? never
  : S extends `${string}{${infer Name}}${infer Rest}`
    ? Name | NamesIn<Rest>
    : never
type Values<S extends string> = [NamesIn<S>] extends [never]
  ? []
  : [values: Readonly<Record<NamesIn<S>, string | number | null | undefined>>]

/** The sentence in the page's language, with the values in the place of their names. */
export function t<const S extends Sentence>(sentence: S, ...[values]: Values<S>): string {
  const text: string = dictionary?.sentences[sentence] ?? sentence
  return values === undefined
    ? text
    : text.replace(/\{(\w+)\}/g, (_, name: string) => String((values as Record<string, unknown>)[name] ?? ''))
}

/** What the API says: in the page's language where it is known, else as it came. */
export function said(text: string): string {
  return translated(text) ?? text
}

const translate = dictionary && translator(dictionary.answers)

/** The same; undefined where it is not known in the page's language. */
export const translated = (text: string): string | undefined => translate?.(text)

/** A word of the API, such as `no_answer`; undefined where only English is spoken, or it is not known. */
export function wordOf(word: string): string | undefined {
  const known: Readonly<Record<string, string>> | undefined = dictionary?.words
  return known?.[word]
}
