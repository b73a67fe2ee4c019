import { Type } from 'typebox'
import { ERRORS, type ErrorCode } from '../../runtime/lib/errors.ts'
import { EVENT_TYPES, messageExample, messageSchema } from '../events/types.ts'
import { hasTag, takesMatch } from '../http/while-matching.ts'
import { type AnyRoute, isOfWorkspace, type Param, refusesSuspended, scopeOf, takesKey } from '../route.ts'
import type { FaultType } from '../schema.ts'
import { type Components, createComponents, schemaName } from './components.ts'
import { namePartsOf } from './name-parts.ts'
import { operationId } from './operation-id.ts'

/** The OpenAPI 3.1 document, made from the routes and the table of errors. */

type Json = Record<string, unknown>

const ErrorBody = Type.Object({
  detail: Type.String({ description: 'A sentence for people; it may be worded better at any time.' }),
  code: Type.Enum(Object.keys(ERRORS), {
    description:
      'For programs. There may be more of them later; those of an operation are in its `x-error-codes`, by status.',
  }),
  request_id: Type.String({ description: 'The `x-request-id` of the answer.' }),
  params: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
    description: 'What stands in the places of the sentence, as `quota` in `Quota reached: {quota}`.',
  }),
})

/** What a change answers that has nothing else to say. */
const DoneBody = Type.Object({ detail: Type.String({ description: 'A sentence for people.' }) })
const DONE = JSON.stringify(Type.Object({ detail: Type.String() }))

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
  code: Type.Enum(['validation']),
  request_id: Type.String(),
  params: Type.Record(Type.String(), Type.String()),
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

/** The key first: generated clients send a single credential by the first scheme there is. */
const SECURITY = {
  none: [],
  jwt: [{ accessToken: [] }],
  jwt_or_key: [{ apiKey: [] }, { bearerKey: [] }, { accessToken: [] }],
  jwt_or_scope: [{ apiKey: [] }, { bearerKey: [] }, { accessToken: [] }],
} as const

export function openApiDocument(routes: readonly AnyRoute[], options: { publicUrl: string; version: string }): Json {
  const paths: Record<string, Json> = {}
  const components = createComponents()
  components.own('Error', ErrorBody as unknown as Json)
  components.own('ValidationError', ValidationErrorBody as unknown as Json)
  components.own('Done', DoneBody as unknown as Json)
  for (const route of routes) {
    const path = route.trailingSlash ? `${route.path.replace(/\/$/, '')}/` : route.path
    paths[path] ??= {}
    ;(paths[path] as Json)[route.method.toLowerCase()] = operation(route, components)
  }
  const webhooks = webhooksOf(components)
  const named = namePartsOf(components.schemas)
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
    tags: [...new Set(routes.map(({ tag }) => tag)), 'Webhook events'].map((name) => ({ name })),
    paths: named.refer(paths),
    webhooks,
    components: {
      schemas: named.schemas,
      parameters: SIGNATURE_PARAMETERS,
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
          description: 'Set by `POST /auth/login`.',
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
          description: 'Acts as Developer of its workspace, within its scopes.',
        },
        bearerKey: { type: 'http', scheme: 'bearer', description: 'The same key, as `Authorization: Bearer pb_…`.' },
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
    parameters: parametersOf(route, components),
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

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of an earlier answer: 304 without a body where it is still the same.',
  schema: { type: 'string' },
}
const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of the resource as it was read: 412 where it is another now.',
  schema: { type: 'string' },
}
const ETAG = { description: 'Of the resource as it is shown.', schema: { type: 'string' } }

function parametersOf(route: AnyRoute, components: Components): Json[] {
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
      ...(schema.type === 'object' ? { style: 'deepObject', explode: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema: components.refer(schema),
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
      'Any text of yours, up to 255 characters. Sent again with the same input within 24 hours, the request has no second effect and gets the first answer, with `Idempotency-Replayed: true`; with other input it is 422.',
    schema: { type: 'string', maxLength: 255 },
  }
  const lastEventId = {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    description: 'The `id` of the last event that was seen; the stream goes on after it.',
    schema: { type: 'string' },
  }
  const resumes = route.headers !== 'all' && route.headers?.includes('last-event-id')
  return [
    ...inPath,
    ...inQuery,
    ...(hasHeader ? [workspace] : []),
    ...(takesKey(route) ? [idempotency] : []),
    ...(resumes ? [lastEventId] : []),
    ...(hasTag(route) ? [IF_NONE_MATCH] : []),
    ...(takesMatch(route) ? [IF_MATCH] : []),
  ]
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
  const file = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' }
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
            headers: hasTag(route) ? { ...HEADERS, etag: ETAG } : HEADERS,
            content: {
              [success.contentType ?? 'application/json']: {
                schema: answerSchema(route, components),
                ...(example === undefined ? {} : { example }),
              },
              ...(success.events && {
                'text/event-stream': { schema: { type: 'string', description: success.events } },
              }),
            },
          }),
    },
  }
  if (hasTag(route))
    responses[304] = { description: 'It is as `If-None-Match` says.', headers: { ...HEADERS, etag: ETAG } }
  const byStatus = new Map<number, Set<ErrorCode>>()
  for (const code of errorCodes(route)) {
    const { status } = ERRORS[code]
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code))
  }
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = errorResponse(status, [...codes])
  }
  if (success.orStatus !== undefined) responses[success.orStatus] = responses[success.status]
  if (takesInput(route)) {
    responses['422'] = {
      description: 'The input breaks its schema; every fault is listed.',
      headers: HEADERS,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/ValidationError' },
          example: {
            detail: [{ loc: ['body', 'name'], msg: 'Field required', type: 'missing' }],
            code: 'validation',
            request_id: 'c1f2c9e0-0b0f-4d7e-9d1c-5c1a3a1f6d52',
            params: {},
          },
        },
      },
    }
  }
  return responses
}

function answerSchema(route: AnyRoute, components: Components): unknown {
  const { schema, contentType = 'application/json' } = route.success
  if (!/^(?:text\/|application\/json)/.test(contentType)) return { type: 'string', format: 'binary' }
  if (JSON.stringify(schema) === DONE) return { $ref: '#/components/schemas/Done' }
  const { anyOf } = schema as { anyOf?: Json[] }
  // A list or a page of it, by the query.
  if (anyOf?.length === 2) return { anyOf: anyOf.map((form) => listForm(route, components, form)) }
  return components.named(`${typeName(route)}Answer`, schema)
}

function listForm(route: AnyRoute, components: Components, form: Json): unknown {
  const name = typeName(route).replace(/^List/, '').replace(/s$/, '')
  if (form.type === 'array') return { ...form, items: components.named(name, form.items) }
  return components.named(`${name}Page`, form)
}

/** Whether its input can break a schema. */
export function takesInput(route: AnyRoute): boolean {
  const { query, body, form, files } = route
  return Boolean(query ?? body ?? form ?? files) || takesKey(route)
}

/** Every error the request path and the handler can answer with, but validation. */
export function errorCodes(route: AnyRoute): Set<ErrorCode> {
  const codes = new Set<ErrorCode>(route.errors ?? [])
  if (route.auth !== 'none') {
    for (const code of ['invalid_token', 'token_expired', 'user_not_found'] as const) codes.add(code)
    if (scopeOf(route) === undefined) codes.add('key_not_allowed')
    else for (const code of ['invalid_api_key', 'insufficient_scope', 'workspace_suspended'] as const) codes.add(code)
    codes.add('not_a_member')
    if (route.method !== 'GET') codes.add('cross_origin')
  }
  if (refusesSuspended(route)) codes.add('workspace_suspended')
  if (route.startsCall) codes.add('maintenance')
  if (hasPhoneNumber(route)) codes.add('invalid_phone_number')
  if (takesKey(route)) codes.add('idempotency_unsettled')
  if (takesMatch(route)) codes.add('precondition_failed')
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
  codes.add('database_unavailable')
  if (route.success.orStatus !== ERRORS.unavailable.status) codes.add('unavailable')
  return codes
}

function hasPhoneNumber({ query, body, form }: AnyRoute): boolean {
  return [query, body, form].some((schema) =>
    Object.values(schema?.properties ?? {}).some((property) =>
      ['phone-number', 'dial-target'].includes(String((property as Json).format)),
    ),
  )
}

function errorResponse(status: number, codes: readonly ErrorCode[]): Json {
  const details = [...new Set(codes.map((code) => ERRORS[code].detail))]
  return {
    description: details.map((detail) => `\`${detail}\``).join(', '),
    headers: { ...HEADERS, ...ERROR_HEADERS[status] },
    'x-error-codes': codes,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(
          codes.map((code) => [
            code,
            {
              value: {
                detail: ERRORS[code].detail,
                code,
                request_id: '0b0f4d7e',
                params: paramsOf(ERRORS[code].detail),
              },
            },
          ]),
        ),
      },
    },
  }
}

const header = (description: string) => ({ description, schema: { type: 'string' } })
const RETRY_AFTER = { 'retry-after': header('Seconds until it is worth asking again.') }
const ERROR_HEADERS: Readonly<Record<number, Json>> = {
  401: {
    'www-authenticate': header('RFC 6750; names a missing scope.'),
    'x-required-scope': header('With `insufficient_scope`: the scope that the key lacks.'),
  },
  405: { allow: header('The methods there are.') },
  429: RETRY_AFTER,
  500: RETRY_AFTER,
  503: RETRY_AFTER,
}

const paramsOf = (detail: string) =>
  Object.fromEntries([...detail.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, `{${name}}`]))

/** What Patchbay sends to webhooks: a named type each, and their union. */
function webhooksOf(components: Components): Json {
  const named = Object.entries(EVENT_TYPES).map(([type, { summary, data }]) => {
    const schema = components.own(eventName(type), messageSchema(type, data) as unknown as Json)
    return { type, summary, schema }
  })
  components.own('WebhookEvent', {
    description: 'What a webhook is sent and `GET /events` shows.',
    oneOf: named.map(({ schema }) => schema),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(named.map(({ type, schema }) => [type, schema.$ref])),
    },
  })
  return Object.fromEntries(
    named.map(({ type, summary, schema }) => [
      type,
      {
        post: {
          operationId: `on${eventName(type)}`,
          tags: ['Webhook events'],
          summary,
          security: [],
          // Calls of the receiver: openapi-generator makes a class of them that does not compile, unless they are internal.
          'x-internal': true,
          parameters: Object.keys(SIGNATURE_PARAMETERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
          requestBody: {
            required: true,
            content: { 'application/json': { schema, example: messageExample(type) } },
          },
          responses: {
            '200': { description: 'Taken. Anything but 2xx, or nothing within ten seconds, is tried again.' },
          },
        },
      },
    ]),
  )
}

/** `call.tool_called` → `CallToolCalledEvent`. */
const eventName = (type: string): string =>
  `${type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`

const signatureParameter = (name: string, description: string) => ({
  ...{ name, in: 'header', required: true, description, schema: { type: 'string' } },
})
const SIGNATURE_PARAMETERS = {
  WebhookId: signatureParameter('webhook-id', 'Names the event; the same however often it is sent.'),
  WebhookTimestamp: signatureParameter('webhook-timestamp', 'When it was sent, in seconds since 1970.'),
  WebhookSignature: signatureParameter(
    'webhook-signature',
    '`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; two, by a space, while a secret changes.',
  ),
}
