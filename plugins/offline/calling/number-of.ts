import { fold } from '../words.ts'

/** Number words of 0–100 by language, written without blanks and hyphens. */

const list = (text: string): string[] => text.split(/\s+/)

/** `tens[0]` is twenty; `join` says how a ten and a one from 1 to 9 are put together. */
function table(
  small: string[],
  tens: string[],
  join: (ten: string, one: string, oneValue: number) => string,
): string[] {
  const words = [...small]
  for (let value = small.length; value < 100; value++) {
    const ten = tens[Math.floor(value / 10) - 2] ?? ''
    const one = value % 10
    words.push(one === 0 ? ten : join(ten, small[one] ?? '', one))
  }
  return words
}

function french(): string[] {
  const small = list(
    `zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dixsept dixhuit dixneuf`,
  )
  const tens = list('vingt trente quarante cinquante soixante')
  const words = table(small, [...tens, '', '', ''], (ten, one, value) => (value === 1 ? `${ten}et${one}` : ten + one))
  for (let value = 70; value < 80; value++) words[value] = `soixante${value === 71 ? 'et' : ''}${small[value - 60]}`
  for (let value = 80; value < 100; value++) words[value] = `quatrevingt${value === 80 ? 's' : small[value - 80]}`
  return [...words, 'cent']
}

const WORDS: Readonly<Record<string, string[]>> = {
  en: [
    ...table(
      list(
        `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen`,
      ),
      list('twenty thirty forty fifty sixty seventy eighty ninety'),
      (ten, one) => ten + one,
    ),
    'hundred',
  ],
  de: [
    ...table(
      list(
        `null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn`,
      ),
      list('zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig'),
      (ten, one, value) => `${value === 1 ? 'ein' : one}und${ten}`,
    ),
    'hundert',
  ],
  es: [
    ...table(
      list(
        `cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho
        diecinueve veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho veintinueve`,
      ),
      list('veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa'),
      (ten, one) => `${ten}y${one}`,
    ),
    'cien',
  ],
  fr: french(),
  it: [
    ...table(
      list(
        `zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette
        diciotto diciannove`,
      ),
      list('venti trenta quaranta cinquanta sessanta settanta ottanta novanta'),
      (ten, one, value) => (value === 1 || value === 8 ? ten.slice(0, -1) : ten) + one,
    ),
    'cento',
  ],
  pt: [
    ...table(
      list(
        `zero um dois tres quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove`,
      ),
      list('vinte trinta quarenta cinquenta sessenta setenta oitenta noventa'),
      (ten, one) => `${ten}e${one}`,
    ),
    'cem',
  ],
}
/** Other forms of the same numbers. */
const OTHERS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  en: { oh: 0, fourty: 40 },
  de: { zwo: 2 },
  es: { una: 1 },
  fr: { une: 1, septante: 70, huitante: 80, nonante: 90 },
  it: { una: 1 },
  pt: { uma: 1, duas: 2, meia: 6, dezasseis: 16, dezassete: 17, dezanove: 19, quatorze: 14 },
}
/** Articles and pronouns that are written as a number word is. */
const ALSO_ARTICLES = new Set(['one', 'oh', 'un', 'une', 'uno', 'una', 'um', 'uma', 'meia'])

const tables = new Map<string, ReadonlyMap<string, number>>()

function tableOf(language: string): ReadonlyMap<string, number> {
  let known = tables.get(language)
  if (known === undefined) {
    const words = (WORDS[language] ?? []).map((word, value) => [fold(word), value] as const)
    known = new Map([...words, ...Object.entries(OTHERS[language] ?? {})])
    tables.set(language, known)
  }
  return known
}

/** The number that words mean when they are read as one: `twenty-one`, `['twenty', 'one']`, `21`; undefined where they mean none. */
export function numberOf(words: readonly string[], language: string): number | undefined {
  const whole = words.join('').replace(/[-\s]/g, '')
  if (words.length === 1 && /^\d{1,9}(?:[.,]\d{1,4})?$/.test(whole)) return Number(whole.replace(',', '.'))
  return tableOf(language).get(whole)
}

/** Whether a word may be an article as well as the number one. */
export const isAlsoArticle = (word: string): boolean => ALSO_ARTICLES.has(word)
