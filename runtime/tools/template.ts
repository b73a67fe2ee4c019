import { cleanText } from '../lib/text.ts'

/** Filling requests of tools with the model's arguments and the call's variables. Pure. */

export type Values = Readonly<Record<string, unknown>>

const PLACEHOLDER = /\{\{\s*([\w.-]{1,100})\s*\}\}/g
const ALONE = /^\{\{\s*([\w.-]{1,100})\s*\}\}$/

/** An argument that can't stand where the template puts it. The language model reads the message. */
export class UnfitArgument extends Error {
  override readonly name = 'UnfitArgument'
}

function lookUp(values: Values, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Characters that filling a request may add: a template that repeats a long value multiplies it. */
const MAX_FILLED_CHARACTERS = 1 << 20

/** What may still be filled in, over all parts of one request. */
export class FillBudget {
  #left: number

  constructor(characters = MAX_FILLED_CHARACTERS) {
    this.#left = characters
  }

  take(text: string): string {
    this.#left -= text.length
    if (this.#left < 0) throw new UnfitArgument(`the filled request has over ${MAX_FILLED_CHARACTERS} characters`)
    return text
  }
}

/** What stands in a URL stays one piece of it: nothing a model says opens another path, query or host. */
export function fillUrl(template: string, values: Values, budget = new FillBudget()): string {
  return template.replace(PLACEHOLDER, (_, name: string) => {
    const text = budget.take(textOf(lookUp(values, name)))
    if (/^\.{1,2}$/.test(text)) throw new UnfitArgument(`"${name}" can't be "${text}"`)
    return encodeURIComponent(cleanText(text))
  })
}

export function fillHeader(template: string, values: Values, budget = new FillBudget()): string {
  const text = template.replace(PLACEHOLDER, (_, name: string) => budget.take(textOf(lookUp(values, name))))
  if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) throw new UnfitArgument('A header can only hold plain characters')
  return text
}

/** Fills the strings of a JSON value. One that is nothing but a placeholder becomes the value itself. */
export function fillJson(template: unknown, values: Values, budget = new FillBudget()): unknown {
  if (typeof template === 'string') {
    const name = ALONE.exec(template)?.[1]
    if (name !== undefined) {
      const value = lookUp(values, name) ?? null
      budget.take(textOf(value))
      return value
    }
    return template.replace(PLACEHOLDER, (_, key: string) => budget.take(textOf(lookUp(values, key))))
  }
  if (Array.isArray(template)) return template.map((item) => fillJson(item, values, budget))
  if (typeof template === 'object' && template !== null) {
    return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fillJson(value, values, budget)]))
  }
  return template
}
