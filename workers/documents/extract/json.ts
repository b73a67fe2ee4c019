import type { Block } from '../../../runtime/knowledge/blocks.ts'
import { cleanText, parseCleanJson } from '../../../runtime/lib/text.ts'
import { ExtractionError } from './extraction-error.ts'

const MAX_DEPTH = 64
/** Read in a thread of its own, whose time and memory are bounded. */
const DOCUMENT_BOUNDS = { depth: 1_000, parts: Number.POSITIVE_INFINITY }

/** One record for each object that holds plain values, with the path of names that leads to it as its start. */
export function* jsonBlocks(text: string): Generator<Block> {
  let value: unknown
  try {
    value = parseCleanJson(text, DOCUMENT_BOUNDS)
  } catch (cause) {
    throw new ExtractionError(`The JSON can't be read: ${cleanText((cause as Error).message, 200)}`, { cause })
  }
  yield* records(value, [], 0)
}

function* records(value: unknown, path: readonly string[], depth: number): Generator<Block> {
  if (depth > MAX_DEPTH) throw new ExtractionError(`The JSON is nested deeper than ${MAX_DEPTH} levels`)
  if (isPlain(value)) {
    yield* record(path, [[undefined, value]])
    return
  }
  const entries: [string | undefined, unknown][] = Array.isArray(value)
    ? value.map((item) => [undefined, item])
    : Object.entries(value as object)
  const plain = entries.filter(([, item]) => isPlain(item) || isPlainList(item))
  if (!Array.isArray(value) || plain.length === entries.length) yield* record(path, plain)
  else for (const entry of plain) yield* record(path, [entry])
  for (const [name, item] of entries) {
    if (isPlain(item) || isPlainList(item)) continue
    yield* records(item, name === undefined ? path : [...path, name], depth + 1)
  }
}

function* record(path: readonly string[], entries: readonly [string | undefined, unknown][]): Generator<Block> {
  const pairs = entries
    .map(([name, value]): [string | undefined, string] => [
      name,
      Array.isArray(value) ? value.join(', ') : String(value),
    ])
    .filter(([, value]) => value.trim() !== '' && value !== 'null')
    .map(([name, value]) => (name === undefined ? value : `${name}: ${value}`))
  if (pairs.length === 0) return
  const text = pairs.join('; ')
  yield { kind: 'record', text: path.length === 0 ? text : `${path.join(' > ')}: ${text}` }
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== 'object'
}

function isPlainList(value: unknown): boolean {
  return Array.isArray(value) && value.length <= 20 && value.every(isPlain)
}
