/** Which arguments the JSON Schema of a tool names. Pure. */

const PARTS = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else'] as const

/** The names in `properties` of the schema and of the schemas it is put together from. */
export function argumentNames(schema: unknown): ReadonlySet<string> {
  const names = new Set<string>()
  const seen = new Set<unknown>()
  const waiting: unknown[] = [schema]
  for (const part of waiting) {
    if (!isRecord(part) || seen.has(part)) continue
    seen.add(part)
    if (isRecord(part.properties)) for (const name of Object.keys(part.properties)) names.add(name)
    waiting.push(...PARTS.flatMap((keyword) => part[keyword] ?? []))
    if (typeof part.$ref === 'string') waiting.push(referred(schema, part.$ref))
  }
  return names
}

/** Arguments the schema does not name, where it does not say itself what others may be given. */
export function unnamedArguments(schema: Record<string, unknown>, input: Record<string, unknown>): string[] {
  const { additionalProperties = false, patternProperties } = schema
  if (additionalProperties !== false || patternProperties !== undefined) return []
  const names = argumentNames(schema)
  return Object.keys(input).filter((name) => !names.has(name))
}

/** Where a JSON Pointer (RFC 6901) leads within the schema; undefined: elsewhere or nowhere. */
function referred(schema: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined
  let found = schema
  for (const token of reference.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return found
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
