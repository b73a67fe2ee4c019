import { ERRORS, type ErrorCode, PatchbayError } from '../runtime/lib/errors.ts'
import { beyondBounds, JSON_BOUNDS } from '../runtime/lib/json-bounds.ts'
import { UNSTORABLE, unstorableText } from '../runtime/lib/text.ts'
import { readDialTarget } from './dial-target.ts'
import { isUuid } from './ids.ts'
import { readPhoneNumber } from './phone-number.ts'
import type { AnyRoute } from './route.ts'
import { type Check, compileCheck, type Fault, type InputSource, ValidationError } from './schema.ts'

/** What a request brings, checked. The schemas are compiled once, at start. */

export const MAX_JSON_BYTES = 1024 * 1024

export interface Compiled {
  readonly query: Check<never> | undefined
  readonly body: Check<never> | undefined
  readonly form: Check<never> | undefined
  /** The query's fields, and whether each may hold several values. */
  readonly sets: ReadonlyMap<string, boolean>
  /** Fields of the query that are maps: `name[key]=value`. */
  readonly maps: ReadonlySet<string>
  readonly phones: Readonly<Record<'query' | 'body' | 'form', readonly PhoneField[]>>
  readonly paramNames: readonly string[]
  readonly headers: readonly string[] | 'all'
}

/** A field that holds a phone number, or whatever else may be called. One that is null, too long or no number is as invalid as one that is missing. */
interface PhoneField {
  readonly name: string
  readonly required: boolean
  read(text: string): string | undefined
}

const READERS: Readonly<Record<string, PhoneField['read']>> = {
  'phone-number': readPhoneNumber,
  'dial-target': readDialTarget,
}

export function compileInput(route: AnyRoute): Compiled {
  return {
    query: route.query && (compileCheck(route.query, { coerce: true }) as unknown as Check<never>),
    body: route.body && (compileCheck(route.body) as unknown as Check<never>),
    form: route.form && (compileCheck(route.form, { coerce: true, emptyIsAbsent: true }) as unknown as Check<never>),
    sets: new Map(
      Object.entries(route.query?.properties ?? {}).map(([name, p]) => [
        name,
        (p as { type?: string }).type === 'array',
      ]),
    ),
    maps: new Set(
      Object.entries(route.query?.properties ?? {}).flatMap(([name, p]) =>
        (p as { type?: string }).type === 'object' ? [name] : [],
      ),
    ),
    phones: { query: phonesOf(route.query), body: phonesOf(route.body), form: phonesOf(route.form) },
    paramNames: [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string),
    headers: route.headers ?? [],
  }
}

function phonesOf(schema: AnyRoute['body']): PhoneField[] {
  const required = new Set((schema?.required ?? []) as string[])
  return Object.entries(schema?.properties ?? {}).flatMap(([name, property]) => {
    const read = READERS[(property as { format?: string }).format ?? '']
    return read === undefined ? [] : [{ name, required: required.has(name), read }]
  })
}

/** The faults of fields that must hold a phone number. */
function faultsOfPhones(fields: readonly PhoneField[], input: unknown, place: InputSource): Fault[] {
  if (fields.length === 0 || typeof input !== 'object' || input === null || Array.isArray(input)) return []
  return fields.flatMap(({ name, required, read }): Fault[] => {
    const value = Object.hasOwn(input, name) ? (input as Record<string, unknown>)[name] : undefined
    if (value === undefined) return required ? [{ loc: [place, name], msg: 'Field required', type: 'missing' }] : []
    const isNumber = typeof value === 'string' && read(value) !== undefined
    return isNumber ? [] : [{ loc: [place, name], msg: ERRORS.invalid_phone_number.detail, type: 'value_error' }]
  })
}

/**
 * The error of an input with faults: a list of them, or `invalid_phone_number` where all that is wrong are phone numbers, and where the
 * route says so.
 */
export function inputError(route: AnyRoute, faults: readonly Fault[], ofPhones: readonly Fault[]): PatchbayError {
  const named = new Set(ofPhones.map(({ loc }) => loc.join('\0')))
  const others = faults.filter(({ loc }) => !named.has(loc.slice(0, 2).join('\0')))
  const isPhoneAlone = ofPhones.length > 0 && (others.length === 0 || route.phoneFirst === true)
  return isPhoneAlone ? new PatchbayError('invalid_phone_number') : new ValidationError([...others, ...ofPhones])
}

/** The query and the JSON body of a request, and every fault found in them. */
export interface Input {
  /** The body as it was sent. */
  raw: unknown
  query: unknown
  body: unknown
  faults: Fault[]
  /** Of fields that must hold a phone number; those of their shape stand in `faults`, too. */
  phoneFaults: Fault[]
}

export function readInput(compiled: Compiled, queryText: string, json: string | undefined): Input {
  const raw = json === undefined ? undefined : parseJson(json)
  const input: Input = { raw, query: undefined, body: undefined, faults: [], phoneFaults: [] }
  const { query, body, phones } = compiled
  if (query) {
    const asked = readQuery(queryText, compiled, input.faults)
    input.phoneFaults.push(...faultsOfPhones(phones.query, asked, 'query'))
    input.query = collectInto(input.faults, () => query(asked, 'query'))
  }
  if (body) {
    input.phoneFaults.push(...faultsOfPhones(phones.body, raw, 'body'))
    input.body = collectInto(input.faults, () => body(raw, 'body'))
  }
  return input
}

/** Checks the text fields of a multipart body, on top of the faults found already. */
export function readForm(
  { route, compiled }: { route: AnyRoute; compiled: Compiled },
  fields: Readonly<Record<string, string>>,
  faults: readonly Fault[],
): object {
  refuseUnstorable(fields, 'form')
  const all = [...faults]
  const phoneFaults = faultsOfPhones(compiled.phones.form, fields, 'form')
  const read = collectInto(all, () => compiled.form?.(fields, 'form') ?? {}) as object
  if (all.length > 0 || phoneFaults.length > 0) throw inputError(route, all, phoneFaults)
  return read
}

function collectInto(faults: Fault[], read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    faults.push(...error.faults)
    return undefined
  }
}

function parseJson(text: string): unknown {
  const beyond = beyondBounds(text, JSON_BOUNDS)
  if (beyond !== undefined) throw new PatchbayError(beyond === 'depth' ? 'body_too_deep' : 'body_too_many_fields')
  try {
    const value: unknown = JSON.parse(text)
    if (text.includes('\\u')) refuseUnstorable(value, 'body')
    return value
  } catch (cause) {
    throw cause instanceof PatchbayError ? cause : new PatchbayError('malformed_body', { cause })
  }
}

const NONE: Readonly<Record<string, never>> = Object.freeze({})

type QueryValue = string | string[] | Readonly<Record<string, string>>

/** A field that is given several times is the list of its values; where it holds one alone, that is a fault. */
function readQuery(query: string, { sets, maps }: Compiled, faults: Fault[]): Readonly<Record<string, QueryValue>> {
  if (query === '') return NONE
  const fields: Record<string, QueryValue> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    const [, map = '', key = ''] = maps.size === 0 ? [] : (/^(\w+)\[([^[\]]+)\]$/.exec(name) ?? [])
    if (maps.has(map)) {
      const before = Object.hasOwn(fields, map) ? fields[map] : undefined
      fields[map] = { ...(typeof before === 'object' && !Array.isArray(before) ? before : {}), [key]: value }
      continue
    }
    const isSet = sets.get(name)
    const before = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (isSet === true && before !== undefined) fields[name] = [before as string | string[], value].flat()
    else {
      if (isSet === false && before !== undefined && before !== value) {
        faults.push({ loc: ['query', name], msg: 'is given twice, with different values', type: 'value_error' })
      }
      fields[name] = value
    }
  }
  if (query.includes('%00')) collectInto(faults, () => refuseUnstorable(fields, 'query'))
  return fields
}

function refuseUnstorable(value: unknown, place: InputSource): void {
  const path = unstorableText(value)
  if (path) throw new ValidationError([{ loc: [place, ...path], msg: UNSTORABLE, type: 'value_error' }])
}

/** What a malformed id in a path is answered: it names nothing. */
export function faultOfIds({ params }: AnyRoute, given: Readonly<Record<string, string>>): ErrorCode | undefined {
  for (const name in params) {
    const { notFound } = params[name as never] as { notFound?: ErrorCode }
    if (notFound && !isUuid(given[name] ?? '')) return notFound
  }
  return undefined
}
