import { nearest } from '../nearest.ts'

/** The parts of a JSON Schema that name keys. */
interface KeySchema {
  properties?: Record<string, KeySchema>
  items?: KeySchema
  anyOf?: KeySchema[]
  patternProperties?: Record<string, KeySchema>
}

/** Keys of a value that its schema doesn't know, each with the nearest one that it does. */
export function unknownKeys(
  value: unknown,
  schema: unknown,
  path: readonly (string | number)[] = [],
): { path: (string | number)[]; message: string }[] {
  const of = (schema ?? {}) as KeySchema
  if (Array.isArray(value)) {
    const items = of.items ?? of.anyOf?.find((one) => one.items !== undefined)?.items
    return items === undefined ? [] : value.flatMap((one, i) => unknownKeys(one, items, [...path, i]))
  }
  if (typeof value !== 'object' || value === null) return []
  const shape = of.properties || of.patternProperties ? of : of.anyOf?.find((one) => one.properties !== undefined)
  const free = Object.values(shape?.patternProperties ?? {})[0]
  const known = shape?.properties
  return Object.entries(value).flatMap(([key, part]) => {
    if (known === undefined) return free === undefined ? [] : unknownKeys(part, free, [...path, key])
    const own = Object.hasOwn(known, key) ? known[key] : undefined
    if (own !== undefined) return unknownKeys(part, own, [...path, key])
    const near = nearest(key, Object.keys(known))
    const meant = near === undefined ? `known are ${Object.keys(known).join(', ')}` : `did you mean \`${near}\`?`
    return [{ path: [...path, key], message: `unknown key \`${key}\`; ${meant}` }]
  })
}
