import type { Tool } from '../../../data/types.ts'

/** The arguments of an HTTP tool as its form has them. */

type Parameters = NonNullable<Tool['parameters']>

export const ARGUMENT_TYPES = ['string', 'integer', 'number', 'boolean'] as const
export type ArgumentType = (typeof ARGUMENT_TYPES)[number]

export interface ArgumentRow {
  readonly name: string
  readonly type: ArgumentType
  readonly description: string
  readonly isRequired: boolean
}

/** A row for each, or the JSON Schema as text. */
export type ToolArguments = { readonly rows: readonly ArgumentRow[] } | { readonly text: string }

const SAMPLES: Readonly<Record<ArgumentType, unknown>> = { string: '', integer: 0, number: 0, boolean: false }

/** Rows where they say all of the schema, else its text. */
export function argumentsOf(parameters: Parameters | undefined): ToolArguments {
  const rows = parameters === undefined ? [] : rowsOf(parameters)
  return rows ? { rows } : { text: JSON.stringify(parameters, null, 2) }
}

/** The rows of a JSON Schema; undefined where it says more than they can. */
function rowsOf(schema: unknown): readonly ArgumentRow[] | undefined {
  if (!isRecord(schema) || !hasOnly(schema, ['type', 'properties', 'required'])) return undefined
  const { type, properties = {}, required = [] } = schema
  if (type !== 'object' || !isRecord(properties) || !Array.isArray(required)) return undefined
  if (!required.every((name) => Object.hasOwn(properties, String(name)))) return undefined
  const rows: ArgumentRow[] = []
  for (const [name, property] of Object.entries(properties)) {
    if (name === '' || !isRecord(property) || !hasOnly(property, ['type', 'description'])) return undefined
    const known = ARGUMENT_TYPES.find((one) => one === property.type)
    const { description = '' } = property
    if (known === undefined || typeof description !== 'string') return undefined
    rows.push({ name, type: known, description, isRequired: required.includes(name) })
  }
  return rows
}

/** The same of a text, which may be no JSON yet. */
export function rowsOfText(text: string): readonly ArgumentRow[] | undefined {
  try {
    return rowsOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** The JSON Schema of rows. Those without a name are left out. */
export function schemaOf(rows: readonly ArgumentRow[]): Parameters {
  const named = rows.filter(({ name }) => name !== '')
  return {
    type: 'object',
    properties: Object.fromEntries(
      named.map(({ name, type, description }) => [name, { type, ...(description && { description }) }]),
    ),
    required: named.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  }
}

/** A name that several rows have. */
export function repeatedName(rows: readonly ArgumentRow[]): string | undefined {
  const names = rows.map(({ name }) => name).filter(Boolean)
  return names.find((name, at) => names.indexOf(name) !== at)
}

/** JSON to try the tool with: each argument with an empty value. */
export function sampleOf(given: ToolArguments): string {
  const rows = 'rows' in given ? given.rows : (rowsOfText(given.text) ?? [])
  const named = rows.filter(({ name }) => name !== '')
  return JSON.stringify(Object.fromEntries(named.map(({ name, type }) => [name, SAMPLES[type]])))
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const hasOnly = (value: object, names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name))
