import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { renamed } from './name-parts.ts'

/** Named schemas of the OpenAPI document: what an `api/<noun>/schema.ts` exports as `…Body` or `…Input` is a type with a name. */

type Json = Record<string, unknown>

export interface Components {
  /** The document's `components.schemas`, as far as they were referred to. */
  readonly schemas: Json
  /** The schema with every named one in it replaced by a reference. */
  refer(schema: unknown): unknown
  /** The same for the schema of an operation's own input or answer, which gets `name` if it has none. */
  named(name: string, schema: unknown): unknown
  /** Keeps the schema under this very name. */
  own(name: string, schema: Json): { $ref: string }
}

const API = join(import.meta.dirname, '..')
const SCHEMA_FILES = '*/{schema,*-schema}.ts'
/** Smaller ones are clearer where they stand. */
const LEAST_FIELDS = 2

/** The schemas by their text: a schema that was copied into another is still the same. */
const known = new Map<string, string>()
for (const file of globSync(SCHEMA_FILES, { cwd: API }).sort()) {
  const exported = (await import(pathToFileURL(join(API, file)).href)) as Json
  for (const [name, schema] of Object.entries(exported)) {
    if (!/^[A-Z]/.test(name) || !isNamed(schema)) continue
    const text = JSON.stringify(schema)
    if (!known.has(text)) known.set(text, renamed(name.replace(/Body$/, '')))
  }
}

/** The name a schema was exported under. */
export function schemaName(schema: unknown): string | undefined {
  return known.get(JSON.stringify(schema))
}

function isObjectSchema(schema: unknown): schema is Json {
  if (typeof schema !== 'object' || schema === null) return false
  const { type, properties } = schema as Json
  return type === 'object' && Object.keys((properties as Json | undefined) ?? {}).length >= LEAST_FIELDS
}

/** Of a page of what has a name: `CallPage`. */
function pageName(schema: unknown): string | undefined {
  const { items, total_pages } = ((schema as Json).properties ?? {}) as { items?: { items?: Json }; total_pages?: Json }
  const { $ref } = items?.items ?? {}
  return typeof $ref === 'string' && total_pages !== undefined ? `${$ref.replace(/.*\//, '')}Page` : undefined
}

/** Whether the schema is a union of objects that their `type` tells apart. */
function isTypedUnion(schema: unknown): schema is Json & { anyOf: Json[] } {
  const { anyOf } = (schema ?? {}) as Json
  return Array.isArray(anyOf) && anyOf.every((member) => typeof member?.properties?.type?.const === 'string')
}

function isNamed(schema: unknown): schema is Json {
  return isObjectSchema(schema) || isTypedUnion(schema)
}

const ANY_NAME = '^.*$'

/** What generators of clients understand: maps as `additionalProperties`, and the type of an enum beside its values. */
function forGenerators(schema: Json): Json {
  const { patternProperties, default: otherwise, ...rest } = schema
  const patterns = (patternProperties ?? {}) as Json
  const isMap = patternProperties !== undefined && Object.keys(patterns).join() === ANY_NAME
  // Some generators drop a type with an object for a default, or write what does not compile.
  const isObject = typeof otherwise === 'object' && otherwise !== null
  const hasObject = isObject && (!Array.isArray(otherwise) || Array.isArray(rest.anyOf))
  return {
    ...rest,
    ...(isMap
      ? { additionalProperties: patterns[ANY_NAME] }
      : patternProperties !== undefined && { patternProperties }),
    ...(isTextEnum(rest) && { type: 'string' }),
    ...(otherwise !== undefined && !hasObject && { default: otherwise }),
    ...(hasObject && { description: `${rest.description ?? ''} Default: ${JSON.stringify(otherwise)}.`.trim() }),
  }
}

const isTextEnum = ({ type, enum: values }: Json): boolean =>
  type === undefined && Array.isArray(values) && values.every((value) => typeof value === 'string')

export function createComponents(): Components {
  const schemas: Json = {}
  const texts = new Map<string, string>()

  const nameFor = (wanted: string, text: string): string => {
    for (let number = 1; ; number++) {
      const name = number === 1 ? wanted : `${wanted}${number}`
      const taken = texts.get(name)
      if (taken === undefined || taken === text) return name
    }
  }

  const keep = (wanted: string, schema: Json): Json => {
    const text = JSON.stringify(schema)
    const name = nameFor(wanted, text)
    if (!texts.has(name)) {
      texts.set(name, text)
      schemas[name] = referIn(schema)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  const referIn = (schema: Json): Json =>
    Object.fromEntries(
      Object.entries(forGenerators(schema)).map(([key, value]) => [key, key === 'default' ? value : refer(value)]),
    )

  const refer = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(refer)
    if (typeof schema !== 'object' || schema === null) return schema
    const plain = schema as Json
    const name = isNamed(plain) ? known.get(JSON.stringify(plain)) : undefined
    return name === undefined ? referIn(plain) : keep(name, plain)
  }

  return {
    schemas,
    refer,
    named(name, schema) {
      if (!isObjectSchema(schema)) return refer(schema)
      const own = known.get(JSON.stringify(schema))
      return keep(own ?? pageName(refer(schema)) ?? renamed(name), schema)
    },
    own(wanted, schema) {
      const name = renamed(wanted)
      schemas[name] = referIn(schema)
      return { $ref: `#/components/schemas/${name}` }
    },
  }
}
