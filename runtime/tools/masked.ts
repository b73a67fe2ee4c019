/** Stands in the call's log for what is secret. */
const MASKED = '***'

const MAX_DEPTH = 16
/** Shorter values are words that may stand anywhere. */
const MIN_SECRET_CHARACTERS = 8

/**
 * The arguments of a tool as the call's log has them: without those its JSON Schema marks as secret, by `writeOnly: true` or
 * `format: "password"`.
 */
export function maskedArguments(schema: unknown, given: Record<string, unknown>): Record<string, unknown> {
  return masked(schema, given, 0) as Record<string, unknown>
}

/** A tool's answer without the values of its own headers, should it send them back. */
export function withoutSecrets(text: string, headers: Readonly<Record<string, string>>): string {
  // Of `Bearer …` the token is the secret, with or without its scheme.
  const secrets = Object.values(headers).flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)])
  return secrets
    .filter((secret) => secret.length >= MIN_SECRET_CHARACTERS)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, MASKED), text)
}

function masked(schema: unknown, given: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return given
  if (schema.writeOnly === true || schema.format === 'password') return MASKED
  if (Array.isArray(given)) return given.map((item) => masked(schema.items, item, depth + 1))
  if (!isRecord(given) || !isRecord(schema.properties)) return given
  const { properties } = schema
  const entries = Object.entries(given).map(([name, value]) => {
    return [name, Object.hasOwn(properties, name) ? masked(properties[name], value, depth + 1) : value]
  })
  return Object.fromEntries(entries)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
