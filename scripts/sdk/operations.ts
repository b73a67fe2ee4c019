/** What the SDKs know of each operation that an API key may call, out of the OpenAPI document. */

export type Json = Record<string, unknown>

export interface Operation {
  readonly id: string
  readonly summary: string
  readonly method: string
  readonly path: string
  readonly params: readonly string[]
  readonly query: readonly Parameter[]
  readonly body?: { readonly kind: 'json' | 'form'; readonly schema: Json; readonly required: boolean }
  readonly answer: { readonly kind: 'json' | 'text' | 'bytes' | 'location'; readonly schema: Json }
  /** Whether it takes an `Idempotency-Key`, and so may be sent again. */
  readonly idempotent: boolean
}

export interface Parameter {
  readonly name: string
  readonly required: boolean
  readonly schema: Json
}

export interface Api {
  readonly version: string
  readonly schemas: Readonly<Record<string, Json>>
  readonly operations: readonly Operation[]
}

interface DocumentOperation {
  operationId: string
  summary: string
  security: readonly Json[]
  parameters: readonly (Parameter & { in: string })[]
  requestBody?: { required: boolean; content: Readonly<Record<string, { schema: Json }>> }
  responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema: Json }>> }>>
}

export function apiOf(document: Json): Api {
  const { info, paths, components } = document as {
    info: { version: string }
    paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>
    components: { schemas: Record<string, Json> }
  }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const read = isForKeys(operation) ? operationOf(path, method, operation) : undefined
      return read === undefined ? [] : [read]
    }),
  )
  return { version: info.version, schemas: components.schemas, operations }
}

const isForKeys = ({ security }: DocumentOperation): boolean => security.some((scheme) => 'apiKey' in scheme)

/** Undefined: it is a stream and nothing else, which the SDKs read by hand. */
function operationOf(path: string, method: string, operation: DocumentOperation): Operation | undefined {
  const { operationId, summary, parameters, requestBody } = operation
  const answer = answerOf(operation)
  if (answer === undefined) return undefined
  const [[type, content] = []] = Object.entries(requestBody?.content ?? {})
  const body = content && {
    ...{ kind: type === 'application/json' ? ('json' as const) : ('form' as const), schema: content.schema },
    required: requestBody?.required ?? false,
  }
  return {
    ...{ id: operationId, summary, method: method.toUpperCase(), path, answer },
    params: parameters.filter((one) => one.in === 'path').map(({ name }) => name),
    query: parameters
      .filter((one) => one.in === 'query')
      .map(({ name, required, schema }) => ({ name, required, schema })),
    ...(body && { body }),
    idempotent: parameters.some((one) => one.in === 'header' && one.name === 'Idempotency-Key'),
  }
}

function answerOf({ responses }: DocumentOperation): Operation['answer'] | undefined {
  const [status = '', response] = Object.entries(responses).find(([code]) => /^[23]/.test(code)) ?? []
  if (status === '302') return { kind: 'location', schema: { type: 'string' } }
  const content = response?.content ?? {}
  const json = content['application/json']
  if (json !== undefined) return { kind: 'json', schema: json.schema }
  const [[type = '', { schema } = { schema: {} }] = []] = Object.entries(content)
  if (type === 'text/event-stream') return undefined
  return { kind: type.startsWith('text/') ? 'text' : 'bytes', schema }
}
