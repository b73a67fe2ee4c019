import type { Api, Json, Operation } from './operations.ts'

/** The types and the methods of the Python SDK; packages/sdk/python has what is not generated. */

export function pythonFiles(api: Api): Record<string, string> {
  const types = Object.entries(api.schemas).map(([name, schema]) => `${name} = ${definitionOf(name, schema)}`)
  return {
    'types.py': `# Generated from the OpenAPI document.
from typing import Any, Literal, NotRequired, TypedDict, Union

from .runtime import FileInput

${types.join('\n')}
`,
    'operations.py': `# Generated from the OpenAPI document.
from typing import Any, Literal, NotRequired, TypedDict, Union, cast

from . import types as api
from .runtime import Transport, Wait

${api.operations
  .filter(({ query }) => query.length > 0)
  .map(queryType)
  .join('\n')}


class Operations(Transport):
${api.operations.map(methodOf).join('\n')}
`,
  }
}

const queryName = ({ id }: Operation): string => `${id.charAt(0).toUpperCase()}${id.slice(1)}Query`

function queryType(operation: Operation): string {
  const fields = operation.query.map(({ name, required, schema }) => {
    const type = typeOf(schema, 'api.')
    return `${JSON.stringify(name)}: ${JSON.stringify(required ? type : `NotRequired[${type}]`)}`
  })
  return `${queryName(operation)} = TypedDict("${queryName(operation)}", {${fields.join(', ')}})`
}

function methodOf(operation: Operation): string {
  const { id, summary, method, path, params, query, body, answer, idempotent } = operation
  const isQueryRequired = query.some(({ required }) => required)
  const args = [
    'self',
    ...params.map((name) => `${name}: str`),
    ...(body === undefined ? [] : [`body: ${JSON.stringify(typeOf(body.schema, 'api.'))}`]),
    ...(query.length === 0
      ? []
      : [`query: ${isQueryRequired ? queryName(operation) : `${queryName(operation)} | None = None`}`]),
    '*',
    'idempotency_key: str | None = None',
    'workspace: str | None = None',
    'wait: Wait = None',
  ]
  const result = answer.kind === 'bytes' ? 'bytes' : answer.kind === 'json' ? typeOf(answer.schema, 'api.') : 'str'
  const call = [
    `"${method}", "${path}"`,
    `params={${params.map((name) => `"${name}": ${name}`).join(', ')}}`,
    ...(query.length === 0 ? [] : ['query=query']),
    ...(body === undefined ? [] : [`${body.kind}=body`]),
    `answer="${answer.kind}", idempotent=${idempotent ? 'True' : 'False'}`,
    'idempotency_key=idempotency_key, workspace=workspace, wait=wait',
  ]
  return `    def ${snake(id)}(${args.join(', ')}) -> ${JSON.stringify(result)}:
        ${JSON.stringify(summary)}
        return cast(${JSON.stringify(result)}, self.call(${call.join(', ')}))
`
}

function definitionOf(name: string, schema: Json): string {
  const { type, properties, required } = schema as {
    type?: string
    properties?: Record<string, Json>
    required?: string[]
  }
  if (type !== 'object' || properties === undefined) return typeOf(schema)
  const fields = Object.entries(properties).map(([field, property]) => {
    const written = typeOf(property)
    return `    ${JSON.stringify(field)}: ${JSON.stringify(required?.includes(field) ? written : `NotRequired[${written}]`)},`
  })
  return `TypedDict(${JSON.stringify(name)}, {\n${fields.join('\n')}\n})`
}

function typeOf(schema: Json, prefix = ''): string {
  const inner = (one: unknown): string => typeOf(one as Json, prefix)
  const { $ref, const: only, enum: values, anyOf, oneOf, type, items, format, additionalProperties } = schema
  if (typeof $ref === 'string') return `${prefix}${$ref.replace(/.*\//, '')}`
  if (only !== undefined) return `Literal[${literal(only)}]`
  if (Array.isArray(values)) return `Literal[${values.map(literal).join(', ')}]`
  const union = anyOf ?? oneOf
  if (Array.isArray(union))
    return `Union[${union
      .map(inner)
      .map((one) => (prefix === '' && isName(one) ? `"${one}"` : one))
      .join(', ')}]`
  switch (type) {
    case 'string':
      return format === 'binary' ? `${prefix}FileInput` : 'str'
    case 'integer':
      return 'int'
    case 'number':
      return 'float'
    case 'boolean':
      return 'bool'
    case 'null':
      return 'None'
    case 'array':
      return `list[${items === undefined ? 'Any' : inner(items)}]`
    case 'object':
      return `dict[str, ${typeof additionalProperties === 'object' && schema.properties === undefined ? inner(additionalProperties) : 'Any'}]`
    default:
      return 'Any'
  }
}

const isName = (type: string): boolean => /^[A-Z][A-Za-z]+$/.test(type) && type !== 'Any' && type !== 'None'
const literal = (value: unknown): string =>
  value === true ? 'True' : value === false ? 'False' : value === null ? 'None' : JSON.stringify(value)
const snake = (id: string): string => id.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
