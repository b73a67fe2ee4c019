import type { Json } from './operations.ts'

/** A collection for Bruno, out of the OpenAPI document: a request for each operation, in folders by tag. */

interface DocumentOperation {
  operationId: string
  summary: string
  tags: readonly string[]
  security: readonly Json[]
  parameters: readonly { name: string; in: string; required: boolean; example?: unknown }[]
  requestBody?: { content: Readonly<Record<string, { example?: unknown }>> }
}

export function brunoFiles(document: Json): Record<string, string> {
  const paths = document.paths as Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>
  const requests = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const files = requests.map(({ path, method, operation }, index) => {
    const [tag = 'Other'] = operation.tags
    return [`${tag}/${operation.operationId}.bru`, requestOf(path, method, operation, index + 1)] as const
  })
  return {
    'bruno.json': `${JSON.stringify({ version: '1', name: 'Patchbay', type: 'collection' }, undefined, 2)}\n`,
    'environments/local.bru': `${block('vars', ['baseUrl: http://localhost:8080'])}vars:secret [\n  key\n]\n`,
    ...Object.fromEntries(files),
  }
}

function requestOf(path: string, method: string, operation: DocumentOperation, seq: number): string {
  const { operationId, summary, parameters, requestBody, security } = operation
  const [[type = '', content] = []] = Object.entries(requestBody?.content ?? {})
  const kind = type === 'application/json' ? 'json' : type === 'multipart/form-data' ? 'multipartForm' : 'none'
  const textOf = (example: unknown): string => (example === undefined ? '' : String(example).replaceAll('\n', ' '))
  const query = parameters.filter((one) => one.in === 'query')
  const inPath = parameters.filter((one) => one.in === 'path')
  const isForKeys = security.some((scheme) => 'apiKey' in scheme)
  return [
    block('meta', [`name: ${operationId}`, 'type: http', `seq: ${seq}`]),
    block(method, [`url: {{baseUrl}}${path.replace(/\{(\w+)\}/g, ':$1')}`, `body: ${kind}`, 'auth: none']),
    // A parameter that may be left out is there, switched off.
    block(
      'params:query',
      query.map((one) => `${one.required ? '' : '~'}${one.name}: ${textOf(one.example)}`),
    ),
    block(
      'params:path',
      inPath.map((one) => `${one.name}: ${textOf(one.example)}`),
    ),
    block('headers', isForKeys ? ['x-api-key: {{key}}'] : []),
    kind === 'json' ? block('body:json', JSON.stringify(content?.example ?? {}, undefined, 2).split('\n')) : '',
    kind === 'multipartForm' ? block('body:multipart-form', formOf(content?.example)) : '',
    block('docs', [summary]),
  ]
    .filter((text) => text !== '')
    .join('\n')
}

const formOf = (example: unknown): string[] =>
  Object.entries((example ?? {}) as Json).map(([name, value]) =>
    String(value).includes('\n') ? `${name}: @file(${name}.csv)` : `${name}: ${String(value)}`,
  )

const block = (name: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `${name} {\n${lines.map((line) => `  ${line}`).join('\n')}\n}\n`
