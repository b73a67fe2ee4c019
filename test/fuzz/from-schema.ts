import type { Random } from './random.ts'

/** What is read of a JSON Schema; the rest of it may be broken by what is made. */
export interface JsonSchema {
  type?: string | readonly string[]
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly JsonSchema[]
  oneOf?: readonly JsonSchema[]
  allOf?: readonly JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: readonly string[]
  additionalProperties?: boolean | JsonSchema
  patternProperties?: Record<string, JsonSchema>
  items?: JsonSchema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  example?: unknown
  examples?: readonly unknown[]
  default?: unknown
  $ref?: string
}

const MAX_DEPTH = 6
const WORDS = ['Ada', 'hello there', '+14155550123', 'en', 'sim', 'https://127.0.0.1/x', 'ada@example.com', '7', 'PCMU']

/** A value that the schema describes, as far as it is read here. */
export function fromSchema(
  random: Random,
  schema: JsonSchema,
  lookUp: (ref: string) => JsonSchema = () => ({}),
  depth = 0,
): unknown {
  if (schema.$ref !== undefined)
    return depth > MAX_DEPTH ? null : fromSchema(random, lookUp(schema.$ref), lookUp, depth + 1)
  if ('const' in schema) return schema.const
  if (schema.enum !== undefined) return random.pick(schema.enum)
  const options = schema.anyOf ?? schema.oneOf
  if (options !== undefined) return fromSchema(random, random.pick(options), lookUp, depth)
  if (schema.allOf !== undefined) {
    return Object.assign({}, ...schema.allOf.map((part) => fromSchema(random, part, lookUp, depth)))
  }
  if (schema.example !== undefined && random.chance(0.7)) return schema.example
  if (schema.examples !== undefined && random.chance(0.7)) return random.pick(schema.examples)
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  const type = types.length === 0 ? (schema.properties ? 'object' : 'string') : random.pick(types)
  switch (type) {
    case 'object': {
      const object: Record<string, unknown> = {}
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        const isRequired = schema.required?.includes(name) ?? false
        if (isRequired || (depth < MAX_DEPTH && random.chance(0.5)))
          object[name] = fromSchema(random, field, lookUp, depth + 1)
      }
      const others = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties
      if (typeof others === 'object' && depth < MAX_DEPTH) object.a = fromSchema(random, others, lookUp, depth + 1)
      return object
    }
    case 'array':
      if (depth > MAX_DEPTH) return []
      return Array.from({ length: random.below(3) }, () => fromSchema(random, schema.items ?? {}, lookUp, depth + 1))
    case 'integer':
    case 'number': {
      const least = schema.minimum ?? 0
      const most = Math.min(schema.maximum ?? least + 1_000, Number.MAX_SAFE_INTEGER)
      const value = least + random.next() * (most - least)
      return type === 'integer' ? Math.round(value) : value
    }
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    default: {
      if (schema.format === 'uuid') return '0193a5b0-0000-7000-8000-000000000000'
      if (schema.format === 'date-time') return '2026-01-02T03:04:05Z'
      const word = random.pick(WORDS)
      return word.padEnd(schema.minLength ?? 0, 'x').slice(0, schema.maxLength ?? 1_000)
    }
  }
}
