import { Type } from 'typebox'
import { PatchbayError } from '../lib/errors.ts'
import { MAX_VARIABLES, MAX_VARIABLES_BYTES } from '../lib/variable-bounds.ts'

/** A system prompt with its variables filled in. */
export const MAX_PROMPT_BYTES = 1 << 20
/** A text that is spoken, with its variables filled in: an hour of speech. */
export const MAX_SPOKEN_BYTES = 64 << 10

export type Variables = Readonly<Record<string, string>>

/** The dynamic variables of a call or chat, wherever they come from. */
export function DynamicVariables<const O extends { description?: string; default?: Record<string, string> }>(
  options: O,
) {
  const { description, ...rest } = options
  const schema = Type.Record(Type.String(), Type.String(), {
    maxProperties: MAX_VARIABLES,
    description: `${description === undefined ? '' : `${description} `}At most ${MAX_VARIABLES} names and 64 KiB in all.`,
    ...rest,
  })
  return Type.Refine(
    schema,
    (value) => bytesOf(value) <= MAX_VARIABLES_BYTES,
    () => 'must not have more than 64 KiB in all',
  )
}

/** Whether a conversation takes these variables. */
export function fitsVariables(variables: Variables): boolean {
  return Object.keys(variables).length <= MAX_VARIABLES && bytesOf(variables) <= MAX_VARIABLES_BYTES
}

/** The variables of several sources, the first of which win; what does not fit is left out. */
export function fittingVariables(...sources: readonly Variables[]): Record<string, string> {
  const kept = new Map<string, string>()
  let bytes = '{}'.length
  for (const source of sources) {
    for (const [name, value] of Object.entries(source)) {
      if (kept.has(name) || kept.size === MAX_VARIABLES) continue
      const more = Buffer.byteLength(`${JSON.stringify(name)}:${JSON.stringify(value)},`)
      if (bytes + more > MAX_VARIABLES_BYTES) continue
      bytes += more
      kept.set(name, value)
    }
  }
  return Object.fromEntries(kept)
}

const bytesOf = (variables: unknown): number => Buffer.byteLength(JSON.stringify(variables))

/** A name, and after a bar what stands where it has no value; with the blank before it. */
const PLACEHOLDER = /( ?)\{\{\s*([\w.-]{1,100})\s*(?:\|([^{}|]{0,200}))?\}\}/g

/** The names in texts that have neither a value nor one behind a bar: what is left out. */
export function namesWithoutValue(texts: readonly string[], variables: Variables): string[] {
  const names = texts.flatMap((text) =>
    [...text.matchAll(PLACEHOLDER)].flatMap(([, , name = '', otherwise]) =>
      otherwise === undefined && !(Object.hasOwn(variables, name) && variables[name]) ? [name] : [],
    ),
  )
  return [...new Set(names)].slice(0, MAX_VARIABLES)
}

/**
 * Puts the values of a conversation's variables where the text says `{{name}}` or `{{name|otherwise}}`. A name without a value
 * is left out, with the blank before it: nobody is to hear it.
 *
 * @throws PatchbayError agent_text_too_long, before the text is built
 */
export function fillVariables(text: string, variables: Variables, bound: { field: string; maxBytes: number }): string {
  const valueFor = (name: string, otherwise: string | undefined): string => {
    const own = Object.hasOwn(variables, name) ? variables[name] : undefined
    return own || (otherwise ?? '').trim()
  }
  let bytes = Buffer.byteLength(text)
  const sizes = new Map<string, number>()
  for (const [whole, blank = '', name = '', otherwise] of text.matchAll(PLACEHOLDER)) {
    const key = `${name}|${otherwise ?? ''}`
    let size = sizes.get(key)
    if (size === undefined) {
      size = Buffer.byteLength(valueFor(name, otherwise))
      sizes.set(key, size)
    }
    bytes += (size === 0 ? 0 : size + blank.length) - Buffer.byteLength(whole)
  }
  if (bytes > bound.maxBytes) {
    const params = { field: bound.field, kib: Math.ceil(bytes / 1024), max_kib: bound.maxBytes / 1024 }
    throw new PatchbayError('agent_text_too_long', { params })
  }
  return text.replace(PLACEHOLDER, (_whole, blank: string, name: string, otherwise: string | undefined) => {
    const value = valueFor(name, otherwise)
    return value === '' ? '' : `${blank}${value}`
  })
}
