import { beyondBounds } from '../lib/json-bounds.ts'

const MAX_SCHEMA_CHARACTERS = 20_000
const MAX_SCHEMA_DEPTH = 64

/** Why a JSON Schema is unusable for a tool's arguments; undefined: it is usable. */
export function faultOfParameters(schema: Record<string, unknown>): string | undefined {
  if (schema.type !== 'object') return 'must be a JSON Schema with "type": "object"'
  const text = JSON.stringify(schema)
  if (text.length > MAX_SCHEMA_CHARACTERS) return `must be under ${MAX_SCHEMA_CHARACTERS} characters`
  if (beyondBounds(text, { depth: MAX_SCHEMA_DEPTH, parts: MAX_SCHEMA_CHARACTERS }) !== undefined)
    return `must be nested less than ${MAX_SCHEMA_DEPTH} deep`
  const { properties = {} } = schema
  const plain = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!plain(properties) || !Object.values(properties as object).every(plain)) {
    return 'has properties that are no schemas'
  }
  return undefined
}
