import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import Format from 'typebox/format'
import { Settings } from 'typebox/system'
import { PatchbayError } from '../runtime/lib/errors.ts'
import { parseInstant } from '../runtime/lib/instant.ts'
import { nearest } from '../runtime/lib/nearest.ts'
import { cutText } from '../runtime/lib/text.ts'
import { isTimeZone } from '../runtime/lib/zoned-time.ts'

export { parseInstant } from '../runtime/lib/instant.ts'

/** From schemas to checks and from their findings to the items of a 422 answer. */

export type FaultType =
  | 'missing'
  | 'string_type'
  | 'int_type'
  | 'float_type'
  | 'bool_type'
  | 'enum'
  | 'greater_than_equal'
  | 'less_than_equal'
  | 'string_too_short'
  | 'string_too_long'
  | 'datetime_parsing'
  | 'time_parsing'
  | 'list_type'
  | 'dict_type'
  | 'value_error'

export interface Fault {
  loc: string[]
  msg: string
  type: FaultType
}

/** Input that breaks its schema or a rule; the answer is 422 with all its faults. */
export class ValidationError extends PatchbayError {
  readonly faults: readonly Fault[]

  constructor(faults: readonly Fault[]) {
    super('validation')
    this.faults = faults
  }
}

export type InputSource = 'body' | 'query' | 'form'

const MAX_FAULTS = 100
/** A longer name is shown and compared up to here. */
const MAX_NAME_CHARS = 64
const PARSED_TYPES = new Set(['integer', 'number', 'boolean'])

let prepared = false
/** ISO 8601 is wider than the RFC 3339 of JSON Schema: a date alone counts, and no offset means UTC. */
function prepare(): void {
  if (prepared) return
  prepared = true
  Settings.Set({ maxErrors: MAX_FAULTS })
  Format.Set('date-time', (text) => parseInstant(text) !== undefined)
  // Checked by api/input.ts, whose answer is another than 422.
  Format.Set('phone-number', () => true)
  Format.Set('dial-target', () => true)
  // JSON Schema's own `time` wants an offset.
  Format.Set('wall-time', (text) => /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/.test(text))
  Format.Set('time-zone', isTimeZone)
  Format.Set('email', (text) => text.length <= 254 && /^[^\s@"<>()[\]\\,;:]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text))
}

/** A compiled object schema: takes what arrived, gives the known fields with defaults, or throws ValidationError. */
export type Check<T extends TObject> = (input: unknown, place: InputSource) => Static<T>

/**
 * Compiles once, at start. `coerce` reads numbers and booleans from text; with `emptyIsAbsent` an empty text is no value where one may be
 * missing. Unknown fields are left out, or a fault each where the schema takes no others.
 */
export function compileCheck<T extends TObject>(
  schema: T,
  options: { coerce?: boolean; emptyIsAbsent?: boolean } = {},
): Check<T> {
  prepare()
  const validator = Compile(schema)
  const properties = Object.entries(schema.properties as TProperties) as [string, TSchema & SchemaKeywords][]
  const parsed = new Set(
    options.coerce ? properties.filter(([, p]) => PARSED_TYPES.has(p.type ?? '')).map(([k]) => k) : [],
  )
  const sets = new Set(options.coerce ? properties.filter(([, p]) => p.type === 'array').map(([k]) => k) : [])
  const names = new Set(properties.map(([name]) => name))
  const required = new Set((schema.required ?? []) as string[])
  const mayBeEmpty = new Set(
    options.emptyIsAbsent
      ? properties.filter(([k, p]) => !required.has(k) || p.default !== undefined).map(([k]) => k)
      : [],
  )
  const isClosed = (schema as { additionalProperties?: unknown }).additionalProperties === false
  const isVerbatim =
    parsed.size + sets.size + mayBeEmpty.size === 0 &&
    properties.every(([, { default: otherwise }]) => otherwise === undefined)
  return (input, place) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      throw new ValidationError([{ loc: [place], msg: 'must be an object', type: 'dict_type' }])
    }
    // With nothing to parse, to fill in or to leave out, what arrived is the answer.
    if (isVerbatim && hasOnly(input, names) && validator.Check(input)) return input as Static<T>
    const known: Record<string, unknown> = {}
    for (const [key, property] of properties) {
      let value = Object.hasOwn(input, key) ? (input as Record<string, unknown>)[key] : undefined
      if (value === '' && mayBeEmpty.has(key)) value = undefined
      if (value === undefined) value = property.default
      else if (parsed.has(key)) value = parseText(value, property.type)
      else if (sets.has(key) && typeof value === 'string') value = [value]
      if (value !== undefined) known[key] = value
    }
    const strangers = isClosed ? faultsOfStrangers(input, names, place) : []
    if (strangers.length === 0 && validator.Check(known)) return known as Static<T>
    throw new ValidationError([...faultsOf(validator.Errors(known), known, place, strangers.length > 0), ...strangers])
  }
}

function faultsOfStrangers(input: object, names: ReadonlySet<string>, place: InputSource): Fault[] {
  return Object.keys(input)
    .filter((name) => !names.has(name))
    .slice(0, MAX_FAULTS)
    .map((name): Fault => {
      const shown = cutText(name, MAX_NAME_CHARS)
      const meant = nearest(shown, names)
      const known = names.size === 0 ? 'none is taken here' : `known are ${[...names].join(', ')}`
      const cure = meant === undefined ? known : `did you mean "${meant}"?`
      return { loc: [place, shown], msg: `is unknown; ${cure}`, type: 'value_error' }
    })
}

function hasOnly(input: object, names: ReadonlySet<string>): boolean {
  for (const name in input) if (!names.has(name)) return false
  return true
}

interface SchemaKeywords {
  type?: string
  default?: unknown
}

/** What forms of browsers and clients of other languages send. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'on', 'yes'].map((text) => [text, true] as const),
  ...['false', '0', 'off', 'no'].map((text) => [text, false] as const),
])

function parseText(value: unknown, type: string | undefined): unknown {
  if (typeof value !== 'string') return value
  if (type === 'boolean') return BOOLEANS.get(value.trim().toLowerCase()) ?? value
  return /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(value.trim()) ? Number(value) : value
}

/** @param mayBeNone there are other faults: none found here is no fault of its own */
function faultsOf(
  errors: readonly TLocalizedValidationError[],
  input: unknown,
  place: InputSource,
  mayBeNone: boolean,
): Fault[] {
  const faults = new Map<string, Fault>()
  for (const error of errors) {
    // Of a union the first branch speaks: by convention the others are null or shorthands.
    const branch = /\/anyOf\/(\d+)/.exec(error.schemaPath)
    if (error.keyword === 'anyOf' || (branch && branch[1] !== '0')) continue
    const path = error.instancePath
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (error.keyword === 'required') {
      for (const name of error.params.requiredProperties)
        add({ loc: [place, ...path, name], msg: 'Field required', type: 'missing' })
    } else {
      add({ loc: [place, ...path], msg: sentence(error), type: faultType(error) })
    }
  }
  if (faults.size === 0 && !mayBeNone) add({ loc: [place], msg: `is no valid ${typeof input}`, type: 'value_error' })
  return [...faults.values()]

  function add(fault: Fault): void {
    const key = fault.loc.join('\0')
    if (!faults.has(key)) faults.set(key, fault)
  }
}

const TYPE_FAULTS: Readonly<Record<string, FaultType>> = {
  string: 'string_type',
  integer: 'int_type',
  number: 'float_type',
  boolean: 'bool_type',
  array: 'list_type',
  object: 'dict_type',
}

const KEYWORD_FAULTS: Readonly<Record<string, FaultType>> = {
  enum: 'enum',
  const: 'enum',
  minimum: 'greater_than_equal',
  exclusiveMinimum: 'greater_than_equal',
  maximum: 'less_than_equal',
  exclusiveMaximum: 'less_than_equal',
  minLength: 'string_too_short',
  maxLength: 'string_too_long',
}

function faultType(error: TLocalizedValidationError): FaultType {
  if (error.keyword === 'type') return TYPE_FAULTS[String(error.params.type)] ?? 'value_error'
  if (error.keyword === 'format') {
    if (error.params.format === 'date-time') return 'datetime_parsing'
    if (error.params.format === 'wall-time') return 'time_parsing'
  }
  if (isBlank(error)) return 'string_too_short'
  return KEYWORD_FAULTS[error.keyword] ?? 'value_error'
}

const NOT_BLANK = '\\S'
const isBlank = (error: TLocalizedValidationError): boolean =>
  error.keyword === 'pattern' && String(error.params.pattern) === NOT_BLANK

function sentence(error: TLocalizedValidationError): string {
  if (error.keyword === 'enum')
    return `must be one of ${error.params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`
  if (error.keyword === 'format' && error.params.format === 'wall-time') return 'must be a time, HH:MM:SS'
  if (error.keyword === 'format' && error.params.format === 'time-zone')
    return 'must be an IANA time zone, like "Europe/Berlin"'
  if (isBlank(error)) return 'must not be blank'
  return error.message
}

/** `schema` or null. */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

export const Instant = Type.String({ format: 'date-time', examples: ['2026-01-31T09:00:00.000Z'] })
export const Id = Type.String({ format: 'uuid' })

/**
 * A word of a vocabulary that may grow: any string to generated clients, which a new word must not break, with the words of this
 * version in `x-extensible-enum`.
 */
export function OpenEnum(words: readonly string[], description?: string) {
  return Type.String({ 'x-extensible-enum': [...words], ...(description !== undefined && { description }) })
}

/** What people call a thing of theirs. */
export const NameInput = Type.String({ minLength: 1, maxLength: 200, pattern: NOT_BLANK })

/** A phone number in a request: an invalid one is answered 400 where nothing else is wrong, and 422 beside other faults. */
export function PhoneNumberInput(description: string) {
  return Type.String({ format: 'phone-number', description })
}

/** As PhoneNumberInput; an extension or a SIP URI is taken, too. */
export function DialTargetInput(description: string) {
  return Type.String({ format: 'dial-target', description })
}

/** A filter of a query that may be given several times: any of the values will do. */
export function AnyOf<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Array(schema, { maxItems: 50, description: 'Given several times: any of them.' }))
}

/** The query fields of a paginated list. */
export const PageQuery = {
  page: Type.Integer({ minimum: 1, maximum: 2_147_483_647, default: 1, description: 'Page, from 1.' }),
  page_size: Type.Integer({ minimum: 1, maximum: 200, default: 25, description: 'Items a page.' }),
}

/** The pagination envelope around items. */
export function Page<T extends TSchema>(item: T) {
  return Type.Object({
    items: Type.Array(item),
    total: Type.Integer(),
    page: Type.Integer(),
    page_size: Type.Integer(),
    total_pages: Type.Integer(),
  })
}

/** Puts a page of items into its envelope. */
export function pageOf<T>(items: T[], total: number, query: { page: number; page_size: number }) {
  return { items, total, page: query.page, page_size: query.page_size, total_pages: Math.ceil(total / query.page_size) }
}
