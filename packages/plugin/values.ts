import type { Embedding, LlmEvent, SttEvent, Tool } from './mod.ts'

/**
 * Checks what a plugin's code gives against the contract, in the plugin's own process: a wrong value fails its session, with words
 * for the plugin's author. Imports nothing of Node: it runs in Deno, too.
 */

/** A value that the contract doesn't know. */
export class WrongValue extends Error {
  override readonly name = 'WrongValue'
  /** Asked again, the code would do the same. */
  readonly failure = { fault: 'bad_request' } as const
}

/** Most that is counted of tokens in one answer. */
const MAX_TOKENS = 2 ** 31 - 1

export type Fields = Readonly<Record<string, unknown>>

/** What is given as an object. @param what it is, for the message. Throws WrongValue. */
export function objectOf(value: unknown, what: string): Fields {
  if (isObject(value)) return value
  throw new WrongValue(`${what} has to be an object; it is ${value === null ? 'null' : typeof value}`)
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What `for await` can read. Throws WrongValue. */
export function iterableOf<T>(value: unknown, method: string): AsyncIterable<T> {
  const asynchronous = (value as Partial<AsyncIterable<T>> | null | undefined)?.[Symbol.asyncIterator]
  const plain = (value as Partial<Iterable<T>> | null | undefined)?.[Symbol.iterator]
  if (typeof value === 'object' && (typeof asynchronous === 'function' || typeof plain === 'function')) {
    return value as AsyncIterable<T>
  }
  throw new WrongValue(`${method}() has to be an async generator (async *${method}); it returned ${nameOf(value)}`)
}

/** 16-bit samples. Throws WrongValue. */
export function pcmSamplesOf(value: unknown): Int16Array {
  if (value instanceof Int16Array) return value
  throw new WrongValue(
    `speak() has to yield 16-bit samples as Int16Array; it yielded ${nameOf(value)}. readSamples() makes them of the bytes of an answer`,
  )
}

/** An event of a recogniser, with the fields that the contract knows. Throws WrongValue. */
export function sttEventOf(value: unknown): SttEvent {
  const event = fieldsOf(value, 'recognise')
  const { type } = event
  if (type !== 'interim' && type !== 'final') throw unknownType('recognise', type, ['interim', 'final'])
  const startS = numberOf(event, 'startS', 'recognise')
  const endS = numberOf(event, 'endS', 'recognise')
  const confidence = numberOf(event, 'confidence', 'recognise')
  const language = optionalText(event, 'language', 'recognise')
  return {
    type,
    text: textOf(event, 'text', 'recognise'),
    ...(startS === undefined ? {} : { startS }),
    ...(endS === undefined ? {} : { endS }),
    ...(confidence === undefined ? {} : { confidence }),
    ...(language === undefined ? {} : { language }),
  }
}

/** Of the tools that are used of one plugin. */
const MAX_TOOLS = 128

/** The tools of a plugin, with the fields that the contract knows. Throws WrongValue. */
export function toolsOf(value: unknown): Tool[] {
  if (!Array.isArray(value)) throw new WrongValue(`list() has to give an array of tools; it gave ${nameOf(value)}`)
  return value.slice(0, MAX_TOOLS).map((one) => {
    const tool = fieldsOf(one, 'list')
    const { parameters } = tool
    if (typeof parameters !== 'object' || parameters === null) {
      throw new WrongValue(
        `A tool of list() has to have the JSON Schema of an object as its parameters; it has ${nameOf(parameters)}`,
      )
    }
    return {
      name: textOf(tool, 'name', 'list'),
      description: textOf(tool, 'description', 'list'),
      parameters: parameters as Tool['parameters'],
    }
  })
}

/** What came of a call, as text. Throws WrongValue. */
export function toolAnswerOf(value: unknown): string {
  if (typeof value === 'string') return value
  const text = JSON.stringify(value ?? null)
  if (text === undefined)
    throw new WrongValue(`call() has to give text or what JSON can hold; it gave ${nameOf(value)}`)
  return text
}

const LLM_TYPES = ['text', 'tool_call', 'usage', 'thinking', 'stop'] as const

/**
 * An event of a language model, with the fields that the contract knows. Undefined for usage that is no count of tokens, which is
 * reported to `dropped`. Throws WrongValue.
 */
export function llmEventOf(value: unknown, dropped: (why: string) => void): LlmEvent | undefined {
  const event = fieldsOf(value, 'chat')
  switch (event.type) {
    case 'text':
      return { type: 'text', text: textOf(event, 'text', 'chat') }
    case 'tool_call': {
      if (typeof event.arguments === 'object' && event.arguments !== null) {
        throw new WrongValue(
          'chat() yielded a tool_call whose arguments are an object; they are JSON text: JSON.stringify(…)',
        )
      }
      const id = textOf(event, 'id', 'chat')
      return {
        type: 'tool_call',
        id,
        name: textOf(event, 'name', 'chat'),
        arguments: textOf(event, 'arguments', 'chat'),
      }
    }
    case 'thinking':
      return { type: 'thinking' }
    case 'stop': {
      const detail = optionalText(event, 'detail', 'chat')
      const reason = textOf(event, 'reason', 'chat') as (LlmEvent & { type: 'stop' })['reason']
      return { type: 'stop', reason, ...(detail === undefined ? {} : { detail }) }
    }
    case 'usage':
      return usageOf(event, dropped)
    default:
      throw unknownType('chat', event.type, LLM_TYPES)
  }
}

const COUNTS = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

function usageOf(event: Fields, dropped: (why: string) => void): LlmEvent | undefined {
  const counts: Partial<Record<(typeof COUNTS)[number], number>> = {}
  for (const name of COUNTS) {
    const count = event[name]
    if (count === undefined || count === null) continue
    if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_TOKENS) counts[name] = count
    else {
      dropped(`chat() yielded usage whose ${name} is ${shown(count)}; it is a whole number of 0 to ${MAX_TOKENS}`)
      return undefined
    }
  }
  const { inputTokens = 0, outputTokens = 0, ...parts } = counts
  const raw = typeof event.raw === 'object' && event.raw !== null ? { raw: event.raw as Fields } : {}
  return { type: 'usage', inputTokens, outputTokens, ...parts, ...raw }
}

/** A vector for each text. Throws WrongValue. */
export function vectorsOf(value: unknown, { dimensions }: Pick<Embedding, 'dimensions'>, texts: number): number[][] {
  const wrong = (why: string): WrongValue =>
    new WrongValue(`embed() has to give an array of ${dimensions} numbers for each of ${texts} texts; ${why}`)
  if (!Array.isArray(value)) throw wrong(`it gave ${nameOf(value)}`)
  if (value.length !== texts) throw wrong(`it gave ${value.length}`)
  return value.map((row: unknown, n) => {
    if (!Array.isArray(row) && !ArrayBuffer.isView(row)) throw wrong(`of text ${n + 1} it gave ${nameOf(row)}`)
    const numbers = Array.from(row as unknown as ArrayLike<unknown>)
    if (numbers.length !== dimensions) throw wrong(`of text ${n + 1} it gave ${numbers.length} numbers`)
    const odd = numbers.find((number) => typeof number !== 'number' || !Number.isFinite(number))
    if (odd !== undefined) throw wrong(`of text ${n + 1} one is ${shown(odd)}`)
    return numbers as number[]
  })
}

function fieldsOf(value: unknown, method: string): Fields {
  if (isObject(value)) return value
  throw new WrongValue(`${method}() has to yield events such as { type, … }; it yielded ${nameOf(value)}`)
}

function unknownType(method: string, type: unknown, known: readonly string[]): WrongValue {
  return new WrongValue(`${method}() yielded an event of the type ${shown(type)}; types are ${known.join(', ')}`)
}

function textOf(event: Fields, field: string, method: string): string {
  const text = event[field]
  if (typeof text === 'string') return text
  throw new WrongValue(`${method}() yielded a ${event.type} whose ${field} is ${nameOf(text)}; it is text`)
}

/** Providers write null where there is nothing. */
function optionalText(event: Fields, field: string, method: string): string | undefined {
  return event[field] === undefined || event[field] === null ? undefined : textOf(event, field, method)
}

function numberOf(event: Fields, field: string, method: string): number | undefined {
  const number = event[field]
  if (number === undefined || number === null) return undefined
  if (typeof number === 'number' && Number.isFinite(number)) return number
  throw new WrongValue(`${method}() yielded a ${event.type} whose ${field} is ${shown(number)}; it is a number`)
}

const MAX_SHOWN_CHARS = 60

/** A value in few words, for messages. */
function shown(value: unknown): string {
  if (typeof value === 'string') return `"${value.slice(0, MAX_SHOWN_CHARS)}"`
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : nameOf(value)
}

/** What kind of value this is, as in `a Uint8Array`. */
function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'object') {
    const { name } = (value as { constructor?: { name?: unknown } }).constructor ?? {}
    return typeof name === 'string' && name !== '' && name !== 'Object'
      ? `a ${name.slice(0, MAX_SHOWN_CHARS)}`
      : 'an object'
  }
  return value === undefined ? 'undefined' : `a ${typeof value}`
}
