import type { Validator } from 'typebox/compile'
import { Compile } from 'typebox/compile'
import { EVENT_TYPES, messageSchema } from '../../../api/events/types.ts'

/** Compares events with what the OpenAPI document declares of them. */

const schemas = new Map<string, Validator>()

/** What is wrong with an event as webhooks and `GET /events` show it, or undefined. */
export function undeclaredEvent(message: unknown): string | undefined {
  const type = String((message as { type?: unknown } | undefined)?.type)
  const declared = EVENT_TYPES[type]
  if (declared === undefined) return `There is no event ${type}`
  let schema = schemas.get(type)
  if (schema === undefined) {
    schema = Compile(messageSchema(type, declared.data)) as unknown as Validator
    schemas.set(type, schema)
  }
  if (schema.Check(message)) return undefined
  return `${type} breaks its schema: ${JSON.stringify(schema.Errors(message).slice(0, 3))}: ${JSON.stringify(message)}`
}
