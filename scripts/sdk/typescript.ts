import type { Api, Json, Operation } from './operations.ts'

/** The declarations and the table of operations of the TypeScript SDK; packages/sdk/typescript has what is not generated. */

export function typescriptFiles(api: Api): Record<string, string> {
  const types = Object.entries(api.schemas).map(
    ([name, schema]) => `${comment(schema)}export type ${name} = ${typeOf(schema)}`,
  )
  const methods = api.operations.map(
    (operation) => `  /** ${inComment(operation.summary)} */\n  ${signatureOf(operation)}`,
  )
  return {
    'types.d.ts': `// Generated from the OpenAPI document.\n${types.join('\n')}\n`,
    'operations.d.ts': `// Generated from the OpenAPI document.
import type { CallOptions } from './runtime.js'
import type * as api from './types.js'

export interface Operations {
${methods.join('\n')}
}
`,
    'operations.js': `// Generated from the OpenAPI document.\nexport const OPERATIONS = ${JSON.stringify(tableOf(api.operations), undefined, 1)}\n`,
  }
}

function tableOf(operations: readonly Operation[]): Json {
  return Object.fromEntries(
    operations.map(({ id, method, path, params, query, body, answer, idempotent }) => [
      id,
      { method, path, params, query: query.length > 0, body: body?.kind ?? null, answer: answer.kind, idempotent },
    ]),
  )
}

function signatureOf({ id, params, query, body, answer }: Operation): string {
  const required = query.some((one) => one.required)
  const fields = query.map((one) => `${one.name}${one.required ? '' : '?'}: ${typeOf(one.schema, 'api.')} | undefined`)
  const input = body && typeOf(body.schema, 'api.')
  const args = [
    ...params.map((name) => `${name}: string`),
    ...(input === undefined ? [] : [`body: ${input}`]),
    ...(fields.length > 0 ? [`query${required ? '' : '?'}: { ${fields.join('; ')} }`] : []),
    'options?: CallOptions',
  ]
  const result =
    answer.kind === 'bytes' ? 'ArrayBuffer' : answer.kind === 'json' ? typeOf(answer.schema, 'api.') : 'string'
  return `${id}(${args.join(', ')}): Promise<${result}>`
}

function typeOf(schema: Json, prefix = ''): string {
  const inner = (one: unknown): string => typeOf(one as Json, prefix)
  const { $ref, const: only, enum: values, anyOf, oneOf, allOf, type, items, format } = schema
  if (typeof $ref === 'string') return `${prefix}${$ref.replace(/.*\//, '')}`
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ')
  const union = anyOf ?? oneOf
  if (Array.isArray(union)) return union.map(inner).join(' | ')
  if (Array.isArray(allOf)) return allOf.map(inner).join(' & ')
  switch (type) {
    case 'string':
      return format === 'binary' ? 'Blob' : 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
    case 'null':
      return type
    case 'array':
      return `Array<${items === undefined ? 'unknown' : inner(items)}>`
    case 'object':
      return objectOf(schema, inner)
    default:
      return 'unknown'
  }
}

function objectOf(schema: Json, inner: (one: unknown) => string): string {
  const { properties, additionalProperties, required } = schema as {
    properties?: Record<string, Json>
    additionalProperties?: Json | boolean
    required?: string[]
  }
  if (properties === undefined) {
    return `Record<string, ${typeof additionalProperties === 'object' ? inner(additionalProperties) : 'unknown'}>`
  }
  const fields = Object.entries(properties).map(([name, property]) => {
    const isRequired = required?.includes(name)
    return `${comment(property, '  ')}  ${JSON.stringify(name)}${isRequired ? '' : '?'}: ${inner(property)}${isRequired ? '' : ' | undefined'}`
  })
  return `{\n${fields.join('\n')}\n}`
}

function comment({ description }: Json, indent = ''): string {
  return typeof description === 'string' ? `${indent}/** ${inComment(description)} */\n` : ''
}

const inComment = (text: string): string => text.replaceAll('*/', '* /').replaceAll('\n', ' ')
