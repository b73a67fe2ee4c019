import type { Language } from '../languages/language.ts'
import { fold, terms, words } from '../words.ts'
import type { Parameter } from './parameters.ts'
import { type SpokenValue, spokenValues } from './spoken-values.ts'

export type Arguments = Readonly<Record<string, unknown>>

interface Heard {
  text: string
  language: Language
  nowMs: number
  /** The parameter the caller was asked for: a bare answer is meant for it. */
  askedFor?: string | undefined
}

const MAX_NAME_WORDS = 4
const MAX_PLACE_WORDS = 3
/** A number belongs to a parameter that is named this few characters away. */
const NEAR_CHARACTERS = 30

/** What the caller's words say for the parameters that are not known yet; nothing is taken twice, and nothing is guessed. */
export function argumentsIn(heard: Heard, parameters: readonly Parameter[], known: Arguments): Arguments {
  const reader = new Reader(heard, parameters)
  const missing = parameters.filter(({ name }) => !(name in known))
  const found: Record<string, unknown> = {}
  const asked = missing.filter(({ name }) => name === heard.askedFor)
  for (const parameter of [...asked, ...missing.filter((one) => !asked.includes(one)).sort(byCertainty)]) {
    const value = reader.read(parameter, parameter.name === heard.askedFor)
    if (value !== undefined) found[parameter.name] = parameter.isList && !Array.isArray(value) ? [value] : value
  }
  return found
}

/** What is unmistakable is taken first, what takes any words last. */
const ORDER: readonly Parameter['kind'][] = [
  'choice',
  'email',
  'phone',
  'moment',
  'date',
  'day',
  'time',
  'name',
  'id',
  'number',
  'yes_no',
  'place',
  'free',
  'words',
]
const byCertainty = (a: Parameter, b: Parameter): number =>
  ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || Number(b.required) - Number(a.required)

/** Reads values off one utterance, and remembers which are taken. */
class Reader {
  readonly #heard: Heard
  readonly #values: SpokenValue[]
  readonly #taken = new Set<SpokenValue>()
  readonly #folded: string
  readonly #numbers: number
  readonly #takesTimes: boolean

  constructor(heard: Heard, parameters: readonly Parameter[]) {
    this.#heard = heard
    this.#values = spokenValues(heard.text, heard.language, heard.nowMs)
    this.#folded = fold(heard.text.toLowerCase())
    this.#numbers = parameters.filter(({ kind }) => kind === 'number').length
    this.#takesTimes = parameters.some(({ kind }) => kind === 'time' || kind === 'moment')
  }

  read(parameter: Parameter, isAsked: boolean): unknown {
    const { kind } = parameter
    switch (kind) {
      case 'choice':
        return this.#choice(parameter)
      case 'yes_no':
        return this.#yesNo(parameter, isAsked)
      case 'number':
        return this.#number(parameter)
      case 'email':
        return this.#take((value) => value.kind === 'email')?.value
      case 'phone':
        return this.#take((value) => value.kind === 'phone' || (isAsked && isDigits(value)))?.value
      case 'date':
        return this.#take((value) => value.kind === 'date')?.value
      case 'day': {
        const day = this.#take((value) => value.kind === 'date')
        return day === undefined ? undefined : fit(day.isDay ? day.said : day.value, parameter)
      }
      case 'time':
        return this.#take((value) => value.kind === 'time' || (isAsked && isHour(value)))?.value.replace(
          /^\d{1,2}$/,
          (hour) => `${hour.padStart(2, '0')}:00`,
        )
      case 'moment':
        return this.#moment()
      case 'id':
        return this.#id(parameter)
      case 'name':
        return fit(this.#name(isAsked), parameter)
      case 'place':
        return fit(isAsked ? this.#answer() : this.#place(), parameter)
      case 'words':
        return fit(isAsked ? this.#answer() : parameter.required ? this.#heard.text.trim() : undefined, parameter)
      case 'free':
        return fit(this.#named(parameter) ?? (isAsked ? this.#answer() : undefined), parameter)
    }
  }

  #take(fits: (value: SpokenValue) => boolean): SpokenValue | undefined {
    const value = this.#values.find((one) => !this.#taken.has(one) && fits(one))
    if (value !== undefined) this.#taken.add(value)
    return value
  }

  #choice({ choices, isList }: Parameter): unknown {
    const { text, language } = this.#heard
    const said = new Set(terms(text, language))
    const spoken = ` ${words(text).join(' ')} `
    const fitting = choices.filter((choice) => {
      const name = words(String(choice).replace(/[_-]/g, ' ')).join(' ')
      if (name === '') return false
      const stems = terms(name, language)
      return spoken.includes(` ${name} `) || (stems.length > 0 && stems.every((stem) => said.has(stem)))
    })
    // The longest: "extra large" is no "large".
    const [best] = [...fitting].sort((a, b) => String(b).length - String(a).length)
    if (best !== undefined) this.#takeWord(String(best))
    return isList && fitting.length > 0 ? fitting : best
  }

  /** A value that a choice was read off is no other parameter's. */
  #takeWord(word: string): void {
    const folded = fold(word.toLowerCase())
    const value = this.#values.find(({ said }) => fold(said.toLowerCase()) === folded)
    if (value !== undefined) this.#taken.add(value)
  }

  #yesNo({ words: named }: Parameter, isAsked: boolean): boolean | undefined {
    const { text, language } = this.#heard
    const said = words(text)
    const start = said.join(' ')
    if (isAsked) {
      if (language.calling.no.test(start)) return false
      if (language.calling.yes.test(start)) return true
    }
    const wanted = new Set(terms(named.slice(0, 3).join(' '), language))
    const at = said.findIndex((word) => terms(word, language).some((term) => wanted.has(term)))
    if (at < 0) return undefined
    return !/\b(?:no|not|without|kein\w*|nicht|ohne|sin|sans|pas|senza|non|sem|nao)\b/.test(
      said.slice(Math.max(0, at - 2), at).join(' '),
    )
  }

  #number({ words: named, isWhole, minimum, maximum }: Parameter): number | undefined {
    const fits = (value: SpokenValue): boolean => {
      const isNumber = value.kind === 'number' || (value.isLoose === true && !this.#takesTimes)
      const number = Number(numberText(value))
      return isNumber && (!isWhole || Number.isInteger(number)) && number >= minimum && number <= maximum
    }
    const free = this.#values.filter((value) => !this.#taken.has(value) && fits(value))
    const near = (value: SpokenValue): boolean => {
      const around = this.#folded.slice(Math.max(0, value.start - NEAR_CHARACTERS), value.end + NEAR_CHARACTERS)
      const said = new Set(terms(around, this.#heard.language))
      return terms(named.join(' '), this.#heard.language).some((term) => said.has(term))
    }
    const best = (this.#numbers > 1 ? free.find(near) : undefined) ?? free[0]
    if (best === undefined) return undefined
    this.#taken.add(best)
    return Number(numberText(best))
  }

  #id(parameter: Parameter): string | undefined {
    const value = this.#take((one) => one.kind === 'code' || one.kind === 'phone' || one.kind === 'number')
    return value === undefined ? undefined : fit(value.value, parameter)
  }

  /** A date and a time: neither without the other. */
  #moment(): string | undefined {
    const free = this.#values.filter((value) => !this.#taken.has(value))
    const date = free.find(({ kind }) => kind === 'date')
    const time = free.find(({ kind }) => kind === 'time')
    if (date === undefined || time === undefined) return undefined
    this.#taken.add(date).add(time)
    return `${date.value}T${time.value}:00`
  }

  #name(isAsked: boolean): string | undefined {
    const { text, language } = this.#heard
    const lead = language.calling.nameLead.exec(text)
    const rest = lead === null ? (isAsked ? this.#answer() : undefined) : text.slice(lead.index + lead[0].length)
    const name: string[] = []
    for (const { 0: word, index } of rest?.matchAll(/[\p{L}\p{M}'’-]+(?=([^\p{L}\p{M}'’-]*))/gu) ?? []) {
      const isStop = language.stopWords.has(fold(word.toLowerCase()))
      if (isStop && !/^(?:von|van|de|di|da|del|la|le)$/i.test(word)) break
      if (name.length > 0 && /[.,;!?]/.test((rest ?? '').slice(0, index).slice(-2))) break
      name.push(word)
      if (name.length === MAX_NAME_WORDS) break
    }
    // "I am looking for …" names nobody: a name that was not asked for is written as one.
    const isWritten =
      lead === null || /\p{Lu}/u.test(name[0]?.[0] ?? '') || /nam|nom|chiam|llam|appel|hei(?:ß|ss)/i.test(lead[0])
    return name.length > 0 && isWritten ? name.join(' ') : undefined
  }

  #place(): string | undefined {
    const { text, language } = this.#heard
    for (const { 0: lead, index } of text.matchAll(language.calling.placeLead)) {
      const from = index + lead.length
      if (this.#values.some(({ start, end }) => from >= start - lead.length && from < end)) continue
      const place: string[] = []
      for (const word of text
        .slice(from)
        .match(/^[^.,;!?]+/)?.[0]
        .split(/\s+/) ?? []) {
        if (place.length === MAX_PLACE_WORDS || language.stopWords.has(fold(word.toLowerCase()))) break
        if (spokenValues(word, language, this.#heard.nowMs).length > 0) break
        // Unless it was asked for, a place is written as one: "to book" leads nowhere.
        if (!/^\p{Lu}/u.test(word)) break
        place.push(word)
      }
      if (place.length > 0) return place.join(' ')
    }
    return undefined
  }

  /** What stands behind the parameter's name: "the colour is blue", "subject: my invoice". */
  #named({ words: named, label }: Parameter): string | undefined {
    const { text, language } = this.#heard
    const name = fold(label.toLowerCase()).split(/\s+/).at(-1) ?? named[0] ?? ''
    const at =
      name.length < 3 ? -1 : this.#folded.search(new RegExp(`\\b${name.replace(/[^\p{L}\p{N}]/gu, '')}\\b`, 'u'))
    if (at < 0 || this.#folded.length !== text.length) return undefined
    const behind = /^\s*(?:is|ist|es|est|è|é|:|=)\s*([^.,;!?]{1,80})/iu.exec(text.slice(at + name.length))
    return behind?.[1] === undefined ? undefined : strip(behind[1], language)
  }

  #answer(): string {
    return strip(this.#heard.text, this.#heard.language)
  }
}

/** An answer without the words around it: "It's Smith." → "Smith". */
function strip(text: string, language: Language): string {
  return text
    .trim()
    .replace(language.calling.answerLead, '')
    .replace(/[.,;!?\s]+$/, '')
    .trim()
}

const numberText = (value: SpokenValue): string =>
  value.kind === 'time' ? String(Number(value.value.slice(0, 2))) : value.value.replace(',', '.')
const isDigits = (value: SpokenValue): boolean => /^\d+$/.test(value.value)
const isHour = (value: SpokenValue): boolean => value.kind === 'number' && Number(value.value) <= 24

function fit(value: string | undefined, { maxLength }: Parameter): string | undefined {
  return value === undefined || value === '' ? undefined : value.slice(0, maxLength)
}
