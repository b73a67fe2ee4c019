/**
 * Text as every part of the product may hold it: well-formed Unicode without NUL. Postgres refuses a NUL in text, and half of a
 * surrogate pair in jsonb. What requests bring is refused otherwise (`unstorableText`); what others say is cleaned where it enters.
 */
import { JSON_BOUNDS, type JsonBounds, parseBounded } from './json-bounds.ts'

/** JSON that is nested deeper can't be walked or written safely. */
const MAX_DEPTH = 100

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** The text without NUL, with U+FFFD for each lone surrogate, and at most `maxChars` UTF-16 units of it. */
export function cleanText(text: string, maxChars = Number.POSITIVE_INFINITY): string {
  // One character more than is kept: the cut sees whether it parts a pair.
  const kept = text.length > maxChars ? text.slice(0, maxChars + 1) : text
  if (isStorable(kept)) return cutText(kept, maxChars)
  return cutText(kept, maxChars).toWellFormed().replaceAll('\0', '')
}

/** The first `maxChars` UTF-16 units; one fewer where the cut would part a surrogate pair. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const parts = isHighSurrogate(text.charCodeAt(maxChars - 1)) && isLowSurrogate(text.charCodeAt(maxChars))
  return text.slice(0, parts ? maxChars - 1 : maxChars)
}

/** As `cutText`, with `…` behind what was cut. */
export function shortText(text: string, maxChars: number): string {
  return text.length > maxChars ? `${cutText(text, maxChars)}…` : text
}

/** The last `maxChars` UTF-16 units; one fewer where the cut would part a surrogate pair. */
export function cutTextStart(text: string, maxChars: number): string {
  const from = text.length - maxChars
  if (from <= 0) return text
  const parts = isHighSurrogate(text.charCodeAt(from - 1)) && isLowSurrogate(text.charCodeAt(from))
  return text.slice(parts ? from + 1 : from)
}

/** The JSON value with every string and key clean; the same object where all are. What lies too deep becomes null. */
export function cleanJson<T>(value: T, maxChars = Number.POSITIVE_INFINITY): T {
  return cleaned(value, maxChars, 0) as T
}

function cleaned(value: unknown, maxChars: number, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value, maxChars)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return null
  if (Array.isArray(value)) {
    const items = value.map((item) => cleaned(item, maxChars, depth + 1))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  // Dates and bytes are no JSON of others.
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  let isChanged = false
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    const entry: [string, unknown] = [cleanText(key, maxChars), cleaned(item, maxChars, depth + 1)]
    isChanged ||= entry[0] !== key || entry[1] !== item
    return entry
  })
  return isChanged ? Object.fromEntries(entries) : value
}

/** JSON from outside, parsed within bounds and clean. Throws SyntaxError. */
export function parseCleanJson(json: string, bounds: JsonBounds = JSON_BOUNDS): unknown {
  const value = parseBounded(json, bounds)
  // A NUL or a lone surrogate in JSON text that was decoded from UTF-8 is always an escape.
  return json.includes('\\u') ? cleanJson(value) : value
}

/** Cleans text that comes piece by piece: a pair whose halves come in two pieces stays one. A half that nothing follows is left out. */
export class TextCleaner {
  #half = ''

  push(piece: string): string {
    const text = this.#half + piece
    this.#half = ''
    if (text === '' || !isHighSurrogate(text.charCodeAt(text.length - 1))) return cleanText(text)
    this.#half = text.slice(-1)
    return cleanText(text.slice(0, -1))
  }
}

interface Place {
  key: string
  within: Place | undefined
}

/**
 * Finds text that is not well-formed or holds a NUL. Returns the path of the first such string (a key counts as its own path),
 * else undefined.
 */
export function unstorableText(root: unknown): string[] | undefined {
  const pending: { value: unknown; place: Place | undefined }[] = [{ value: root, place: undefined }]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, place } = next
    if (typeof value === 'string') {
      if (!isStorable(value)) return pathOf(place)
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        if (!isStorable(key)) return [...pathOf(place), cleanText(key)]
        if (typeof item === 'string' || typeof item === 'object')
          pending.push({ value: item, place: { key, within: place } })
      }
    }
  }
  return undefined
}

function pathOf(place: Place | undefined): string[] {
  const path: string[] = []
  for (let at = place; at !== undefined; at = at.within) path.unshift(at.key)
  return path
}

/** What is answered where text is refused. */
export const UNSTORABLE = 'must be valid Unicode text without NUL'
