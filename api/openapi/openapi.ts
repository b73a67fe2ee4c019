import { Type } from 'typebox'
import { ERRORS, type ErrorCode } from '../../runtime/lib/errors.ts'
import { EVENT_TYPES, messageExample, messageSchema } from '../events/types.ts'
import { type AnyRoute, isOfWorkspace, type Param, refusesSuspended, scopeOf } from '../route.ts'
import type { FaultType } from '../schema.ts'
import { type Components, createComponents, schemaName } from './components.ts'
import { operationId } from './operation-id.ts'

/** The OpenAPI 3.1 document, made from the routes and the table of errors. */

type Json = Record<string, unknown>

const ErrorBody = Type.Object({ detail: Type.String() })

const FAULT_TYPES: Readonly<Record<FaultType, true>> = {
  missing: true,
  string_type: true,
  int_type: true,
  float_type: true,
  bool_type: true,
  enum: true,
  greater_than_equal: true,
  less_than_equal: true,
  string_too_short: true,
  string_too_long: true,
  datetime_parsing: true,
  time_parsing: true,
  list_type: true,
  dict_type: true,
  value_error: true,
}

const ValidationErrorBody = Type.Object({
  detail: Type.Array(
    Type.Object({
      loc: Type.Array(Type.String(), { description: '`body`, `query` or `form`, then the way to the field.' }),
      msg: Type.String(),
      type: Type.Enum(Object.keys(FAULT_TYPES)),
    }),
  ),
})

/** Routes that work by the refresh token instead of the access token. */
const REFRESHED_BY_COOKIE = new Set(['/auth/refresh', '/auth/logout'])

const SECURITY = {
  none: [],
  jwt: [{ accessToken: [] }],
  jwt_or_key: [{ accessToken: [] }, { apiKey: [] }],
  jwt_or_scope: [{ accessToken: [] }, { apiKey: [] }],
} as const

export function openApiDocument(routes: readonly AnyRoute[], options: { publicUrl: string; version: string }): Json {
  const paths: Record<string, Json> = {}
  const components = createComponents()
  for (const route of routes) {
    const path = route.trailingSlash ? `${route.path.replace(/\/$/, '')}/` : route.path
    paths[path] ??= {}
    ;(paths[path] as Json)[route.method.toLowerCase()] = operation(route, components)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Patchbay',
      version: options.version,
      description: 'Voice and chat agents, the calls they take and place, and the workspaces they belong to.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative to the document's own address; a fixed one would be another origin to some readers.
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    webhooks: webhooksOf(),
    components: {
      schemas: { Error: ErrorBody, ValidationError: ValidationErrorBody, ...components.schemas },
      headers: {
        RequestId: {
          description: "The request's own `x-request-id`, else a new one; the log has it.",
          schema: { type: 'string' },
        },
      },
      securitySchemes: {
        refreshToken: {
          type: 'apiKey',
          in: 'cookie',
          name: 'refresh_token',
          description: 'Set by `POST /auth/login` and by each refresh; works once.',
        },
        accessToken: {
          type: 'apiKey',
          in: 'cookie',
          name: 'access_token',
          description: 'Set by `POST /auth/login`, renewed by `POST /auth/refresh`.',
        },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description:
            'Acts as Developer of its workspace, within its scopes. Also taken as `Authorization: Bearer pb_…`.',
        },
      },
    },
  }
}

function operation(route: AnyRoute, components: Components): Json {
  const requestBody = requestBodyOf(route, components)
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    ...(describe(route) === '' ? {} : { description: describe(route) }),
    security: REFRESHED_BY_COOKIE.has(route.path) ? [{ refreshToken: [] }] : SECURITY[route.auth],
    parameters: parametersOf(route),
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf(route, components),
  }
}

/** What the operation's own types are called: `getAgent` → `GetAgent`. */
function typeName(route: AnyRoute): string {
  const id = operationId(route)
  return id.charAt(0).toUpperCase() + id.slice(1)
}

const BODY_ERRORS = [
  'wrong_content_type',
  'malformed_body',
  'body_too_large',
  'body_too_deep',
  'body_too_many_fields',
] as const
const HEADERS = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }

const ROLE_NAMES = { member: 'Member', developer: 'Developer', admin: 'Admin' } as const

function describe(route: AnyRoute): string {
  const role =
    route.role === 'none'
      ? ''
      : route.role === 'operator'
        ? 'For the operator of the installation.'
        : `Needs the role ${ROLE_NAMES[route.role]} or higher.`
  const scope = scopeOf(route)
  const key = scope === undefined ? '' : `An API key needs the scope \`${scope}\`.`
  return [route.description ?? '', role, key].filter((text) => text !== '').join('\n\n')
}

function parametersOf(route: AnyRoute): Json[] {
  const params = Object.entries((route.params ?? {}) as Record<string, Param>)
  const inPath = params.map(([name, { description, notFound, example }]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string', ...(notFound && { format: 'uuid' }) },
    ...(example === undefined ? {} : { example }),
  }))
  const required = new Set((route.query?.required as string[] | undefined) ?? [])
  const inQuery = Object.entries(route.query?.properties ?? {}).map(([name, property]) => {
    const { description, ...schema } = property as Json
    const example = route.examples?.query?.[name]
    return {
      name,
      in: 'query',
      required: required.has(name) && schema.default === undefined,
      ...(description === undefined ? {} : { description }),
      schema,
      ...(example === undefined ? {} : { example }),
    }
  })
  const workspace = {
    name: 'X-Workspace-Id',
    in: 'header',
    required: false,
    description: "The workspace to work in; default the user's current one.",
    schema: { type: 'string' },
  }
  const hasHeader = isOfWorkspace(route) && route.workspace !== 'path'
  const idempotency = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Any text of yours, up to 255 characters. Sent again with the same input within 24 hours, the request has no second effect and gets the first answer; with other input it is 422.',
    schema: { type: 'string', maxLength: 255 },
  }
  return [...inPath, ...inQuery, ...(hasHeader ? [workspace] : []), ...(route.idempotent ? [idempotency] : [])]
}

function requestBodyOf(route: AnyRoute, components: Components): Json | undefined {
  const { body, form, files } = route
  const name = `${typeName(route)}Input`
  if (body) {
    const example = route.examples?.body
    return {
      required: true,
      content: {
        'application/json': {
          schema: components.named(schemaName(body) ?? name, asInput(body as unknown as Json)),
          ...(example === undefined ? {} : { example }),
        },
      },
    }
  }
  if (form === undefined && files === undefined) return undefined
  const fields = asInput((form ?? { type: 'object', properties: {} }) as unknown as Json)
  const file = { type: 'string', contentMediaType: 'application/octet-stream' }
  const fileFields = Object.entries(files ?? {}).map(([name, { description, many }]) => [
    name,
    many ? { type: 'array', items: file, description } : { ...file, description },
  ])
  const required = [
    ...((fields.required as string[] | undefined) ?? []),
    ...Object.entries(files ?? {})
      .filter(([, { required }]) => required)
      .map(([name]) => name),
  ]
  const schema = {
    ...fields,
    properties: { ...(fields.properties as Json), ...Object.fromEntries(fileFields) },
    required,
  }
  const example = route.examples?.body
  const content = { schema: components.named(name, schema), ...(example === undefined ? {} : { example }) }
  return {
    required: true,
    content: {
      'multipart/form-data': content,
      ...(files === undefined ? { 'application/x-www-form-urlencoded': content } : {}),
    },
  }
}

/** A field with a default may be left out. */
function asInput(schema: Json): Json {
  const properties = schema.properties as Record<string, Json>
  const required = ((schema.required as string[] | undefined) ?? []).filter(
    (name) => properties[name]?.default === undefined,
  )
  const { required: _, ...rest } = schema
  return required.length > 0 ? { ...rest, required } : rest
}

function responsesOf(route: AnyRoute, components: Components): Json {
  const { success, examples } = route
  const example = examples?.success
  const responses: Json = {
    [success.status]: {
      description: success.description ?? (success.status === 201 ? 'Created.' : 'Done.'),
      ...(success.status === 302
        ? { headers: { ...HEADERS, location: { schema: { type: 'string', format: 'uri' } } } }
        : {
            headers: HEADERS,
            content: {
              [success.contentType ?? 'application/json']: {
                schema: components.named(`${typeName(route)}Answer`, success.schema),
                ...(example === undefined ? {} : { example }),
              },
              ...(success.events && {
                'text/event-stream': { schema: { type: 'string', description: success.events } },
              }),
            },
          }),
    },
  }
  const byStatus = new Map<number, Set<string>>()
  for (const code of errorCodes(route)) {
    const { status, detail } = ERRORS[code]
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(detail))
  }
  for (const [status, details] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = errorResponse([...details])
  }
  if (success.orStatus !== undefined) responses[success.orStatus] = responses[success.status]
  if (takesInput(route)) {
    responses['422'] = {
      description: 'The input breaks its schema; every fault is listed.',
      headers: HEADERS,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/ValidationError' },
          example: { detail: [{ loc: ['body', 'name'], msg: 'Field required', type: 'missing' }] },
        },
      },
    }
  }
  return responses
}

/** Whether its input can break a schema. */
export function takesInput(route: AnyRoute): boolean {
  const { query, body, form, files, idempotent } = route
  return Boolean(query ?? body ?? form ?? files ?? idempotent)
}

/** Every error the request path and the handler can answer with, but validation. */
export function errorCodes(route: AnyRoute): Set<ErrorCode> {
  const codes = new Set<ErrorCode>(route.errors ?? [])
  if (route.auth !== 'none') {
    for (const code of ['invalid_token', 'token_expired', 'user_not_found'] as const) codes.add(code)
    if (scopeOf(route) !== undefined)
      for (const code of ['invalid_api_key', 'workspace_suspended'] as const) codes.add(code)
    codes.add('not_a_member')
    if (route.method !== 'GET') codes.add('cross_origin')
  }
  if (refusesSuspended(route)) codes.add('workspace_suspended')
  if (hasPhoneNumber(route)) codes.add('invalid_phone_number')
  if (route.idempotent) codes.add('idempotency_unsettled')
  if (route.role === 'developer') codes.add('insufficient_permissions')
  if (route.role === 'admin') codes.add('admin_required')
  if (route.role === 'operator') codes.add('operator_required')
  if (route.body) for (const code of BODY_ERRORS) codes.add(code)
  if (route.files)
    for (const code of ['wrong_content_type', 'malformed_body', 'file_too_large'] as const) codes.add(code)
  for (const { notFound } of Object.values((route.params ?? {}) as Record<string, { notFound?: ErrorCode }>)) {
    if (notFound) codes.add(notFound)
  }
  codes.add('internal')
  if (route.success.orStatus !== ERRORS.unavailable.status) codes.add('unavailable')
  return codes
}

function hasPhoneNumber({ query, body, form }: AnyRoute): boolean {
  return [query, body, form].some((schema) =>
    Object.values(schema?.properties ?? {}).some((property) => (property as Json).format === 'phone-number'),
  )
}

function errorResponse(details: readonly string[]): Json {
  return {
    description: details.map((detail) => `\`${detail}\``).join(', '),
    headers: HEADERS,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(details.map((detail) => [exampleName(detail), { value: { detail } }])),
      },
    },
  }
}

function exampleName(detail: string): string {
  return detail
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
}

/** What Patchbay sends to webhooks. */
function webhooksOf(): Json {
  return Object.fromEntries(
    Object.entries(EVENT_TYPES).map(([type, { summary, data }]) => [
      type,
      {
        post: {
          operationId: `on_${type.replaceAll('.', '_')}`,
          tags: ['Webhooks'],
          summary,
          security: [],
          parameters: SIGNATURE_HEADERS.map(([name, description]) => ({
            name,
            in: 'header',
            required: true,
            description,
            schema: { type: 'string' },
          })),
          requestBody: {
            required: true,
            content: { 'application/json': { schema: messageSchema(type, data), example: messageExample(type) } },
          },
          responses: { '2XX': { description: 'Taken. Anything else, or nothing within ten seconds, is tried again.' } },
        },
      },
    ]),
  )
}

const SIGNATURE_HEADERS = [
  ['webhook-id', 'Names the event; the same however often it is sent.'],
  ['webhook-timestamp', 'When it was sent, in seconds since 1970.'],
  [
    'webhook-signature',
    '`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; two, by a space, while a secret changes.',
  ],
] as const
