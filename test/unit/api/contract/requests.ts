import fc from 'fast-check'
import type { AnyRoute } from '../../../../api/route.ts'
import { type Belongings, pathTo } from './world.ts'

/** Requests made from the schemas of the routes, which are those of the OpenAPI document. */

interface Schema {
  type?: string
  enum?: unknown[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  items?: Schema
  required?: string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  default?: unknown
}

/** A request as it goes over the wire, with the route it is meant for. */
export interface Sent {
  route: AnyRoute
  path: string
  headers: Record<string, string>
  body?: Buffer
}

const TEXTS = [
  '',
  ' ',
  '\0',
  '\ud800',
  "'; drop table users; --",
  '%00',
  '%',
  '../../etc/passwd',
  '{{name}}',
  '💥'.repeat(50),
  // Longer ones meet the HTTP parser's own limit of 16 KiB for the request line and all headers.
  'x'.repeat(8_000),
  '__proto__',
  'constructor',
  '2026-02-30',
  '-1',
  '1e400',
  'NaN',
  '９',
  '\r\nset-cookie: a=b',
]
const anyText = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'binary', maxLength: 30 }))
const anyJson = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 53, -(2 ** 63), 1e308, [], {}, [[[[]]]], { toString: 1 }, ['a', null]),
  anyText,
)

/** Values that break the schema; undefined where anything is allowed. */
function wrongFor(schema: Schema): fc.Arbitrary<unknown> | undefined {
  if (schema.anyOf) return undefined
  const wrong: fc.Arbitrary<unknown>[] = []
  const isText = schema.type === 'string' || schema.enum
  if (isText) wrong.push(fc.constantFrom<unknown>(null, 7, true, [], {}, ['a']))
  if (schema.enum) wrong.push(anyText.filter((text) => !schema.enum?.includes(text)))
  if (schema.type === 'integer' || schema.type === 'number') {
    wrong.push(fc.constantFrom<unknown>(null, '', 'ten', [], {}))
    if (schema.minimum !== undefined)
      wrong.push(fc.integer({ min: 1, max: 2 ** 40 }).map((n) => Number(schema.minimum) - n))
    if (schema.maximum !== undefined)
      wrong.push(fc.integer({ min: 1, max: 2 ** 40 }).map((n) => Number(schema.maximum) + n))
    if (schema.type === 'integer') wrong.push(fc.constantFrom(0.5, 1e308))
  }
  if (schema.type === 'boolean') wrong.push(fc.constantFrom<unknown>(null, 2, 'perhaps', []))
  if (schema.type === 'array') wrong.push(fc.constantFrom<unknown>(null, 'a', 0, {}))
  if (schema.type === 'object') wrong.push(fc.constantFrom<unknown>(null, 'a', 0, []))
  if (isText && (schema.minLength ?? 0) > 0) wrong.push(fc.constant(''))
  if (schema.maxLength !== undefined) wrong.push(fc.constant('x'.repeat(schema.maxLength + 1)))
  if (schema.format || schema.pattern) {
    const fits = (text: string) => schema.format === undefined && new RegExp(schema.pattern ?? '').test(text)
    const texts = ['', '\u0001', '2026-13-01', 'x y', ' '].filter((text) => !fits(text))
    if (texts.length > 0) wrong.push(fc.constantFrom(...texts))
  }
  if (schema.type === 'string') wrong.push(fc.constantFrom('a\0b', '\ud800'))
  return wrong.length > 0 ? fc.oneof(...wrong) : undefined
}

/** The fields of an object schema of which one can be made wrong. */
function breakable(schema: unknown, isQuery = false): [string, fc.Arbitrary<unknown>][] {
  return Object.entries((schema as Schema | undefined)?.properties ?? {}).flatMap(([name, property]) => {
    // A field of a query that may be given several times is right once, too.
    const wrong = wrongFor((isQuery ? property.items : undefined) ?? property)
    return wrong ? [[name, wrong] as [string, fc.Arbitrary<unknown>]] : []
  })
}

const noise = fc.dictionary(fc.string({ maxLength: 10 }), anyJson, { maxKeys: 3 })

/** Bodies that are no JSON object of the schema. */
function wrongBodies(route: AnyRoute): fc.Arbitrary<Pick<Sent, 'body' | 'headers'>>[] {
  const { body, examples } = route
  if (body === undefined) return []
  const json = { 'content-type': 'application/json' }
  const valid = (examples?.body ?? {}) as Record<string, unknown>
  const send = (value: unknown) => ({ body: Buffer.from(JSON.stringify(value)), headers: json })
  const fields = breakable(body)
  const required = ((body as Schema).required ?? []).filter(
    (name) => (body as Schema).properties?.[name]?.default === undefined,
  )
  return [
    fc.constantFrom<unknown>(null, [], 'text', 7, true, [{}]).map(send),
    anyText.filter((text) => !isJsonObject(text)).map((text) => ({ body: Buffer.from(text), headers: json })),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => ({ body: Buffer.from([0xff, ...bytes]), headers: json })),
    fc.nat(60).map((cut) => ({ body: Buffer.from(JSON.stringify(valid).slice(0, -1 - cut)), headers: json })),
    fc
      .constantFrom('text/plain', '', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonp')
      .map((type) => ({ body: Buffer.from(JSON.stringify(valid)), headers: { 'content-type': type } })),
    fc.constant({ body: Buffer.from(`{"a":"${'x'.repeat(1_100_000)}"}`), headers: json }),
    fc.constant({ body: Buffer.from('['.repeat(200_000)), headers: json }),
    fc.constant({ body: Buffer.from('{"a":'.repeat(90_000)), headers: json }),
    ...fields.map(([name, wrong]) =>
      fc.tuple(wrong, noise).map(([value, more]) => send({ ...more, ...valid, [name]: value })),
    ),
    ...required.map((name) => noise.map((more) => send({ ...more, ...valid, [name]: undefined }))),
  ]
}

function isJsonObject(text: string): boolean {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** Multipart bodies that lack a field or a file, have a wrong one, end early or are no multipart at all. */
function wrongForms(route: AnyRoute): fc.Arbitrary<Pick<Sent, 'body' | 'headers'>>[] {
  if (route.form === undefined && route.files === undefined) return []
  const type = { 'content-type': 'multipart/form-data; boundary=B' }
  const valid = (route.examples?.body ?? {}) as Record<string, unknown>
  const form = route.form as Schema | undefined
  const required = (form?.required ?? []).filter((name) => form?.properties?.[name]?.default === undefined)
  const names = [...required, ...Object.keys(route.files ?? {})]
  const part = (name: string, value: unknown, isFile: boolean) =>
    `--B\r\ncontent-disposition: form-data; name="${name}"${isFile ? `; filename="${name}.csv"` : ''}\r\n\r\n${value}\r\n`
  const whole = (fields: Record<string, unknown>, skip = '') =>
    Object.entries(fields)
      .filter(([name]) => name !== skip)
      .map(([name, value]) => part(name, value, route.files?.[name] !== undefined))
      .join('')
  const end = '--B--\r\n'
  const fields = breakable(route.form)
  return [
    fc.nat(200).map((cut) => ({ body: Buffer.from(whole(valid).slice(0, -2 - cut)), headers: type })),
    ...(names.length === 0
      ? []
      : [fc.constantFrom(...names).map((name) => ({ body: Buffer.from(whole(valid, name) + end), headers: type }))]),
    anyText.map((text) => ({ body: Buffer.from(text), headers: type })),
    fc
      .constantFrom('multipart/form-data', 'application/json', '', 'multipart/mixed; boundary=B')
      .map((contentType) => ({ body: Buffer.from(whole(valid) + end), headers: { 'content-type': contentType } })),
    fc.constant({ body: Buffer.from(whole(valid) + part('extra', 'x', true).repeat(150) + end), headers: type }),
    ...fields.map(([name, wrong]) =>
      wrong
        .filter((value) => typeof value === 'string' && !value.includes('\ud800') && value !== '')
        .map((value) => ({ body: Buffer.from(whole({ ...valid, [name]: value }) + end), headers: type })),
    ),
  ]
}

function wrongQueries(route: AnyRoute): fc.Arbitrary<string>[] {
  const isNumber = (name: string) => /integer|number/.test((route.query as Schema).properties?.[name]?.type ?? '')
  return breakable(route.query, true).map(([name, wrong]) =>
    wrong
      .filter(
        (value) => (typeof value === 'string' && value !== '\ud800') || (typeof value === 'number' && isNumber(name)),
      )
      .map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value).toWellFormed())}`),
  )
}

/** Ids that name nothing: no UUID, someone else's kind of text, broken escapes. */
const wrongId = fc.oneof(
  fc.uuid(),
  fc.constantFrom(
    '%00',
    '%',
    '%ff',
    '%2e%2e',
    'null',
    '0',
    '-',
    '%F0%9F',
    '*',
    'x'.repeat(3000),
    "'",
    '%27%20or%201=1',
  ),
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 20 }).map((text) => encodeURIComponent(text)),
)

function wrongPaths(route: AnyRoute, own: Belongings): fc.Arbitrary<string>[] {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
  return names.map((name) =>
    wrongId
      .filter((id) => id !== '.' && id !== '..' && id !== '%2e%2e')
      // Turns are counted: there is one of that name.
      .filter((id) => name !== 'turn' || id !== '0')
      .map((id) => pathTo({ ...route, path: route.path.replace(`{${name}}`, id) } as AnyRoute, own)),
  )
}

const credentials = [
  fc
    .constantFrom('garbage', '0', "'", '00000000-0000-0000-0000-000000000000', 'x'.repeat(3000))
    .map((value): Record<string, string> => ({ 'x-workspace-id': value })),
  fc
    .constantFrom('', ';', '=', 'access_token=', 'access_token=a.b.c', `access_token=${'x'.repeat(5000)}`)
    .map((cookie): Record<string, string> => ({ cookie })),
  fc.constantFrom('a', 'x'.repeat(4000), "'").map((key): Record<string, string> => ({ 'x-api-key': key, cookie: '' })),
]
const foreignOrigin = fc
  .constantFrom('https://evil.example', 'null', 'http://[')
  .map((origin): Record<string, string> => ({ origin }))

/** Requests to the route each of which breaks a rule: of its body, of its query or path, of who may call it. */
export function wrongRequests(route: AnyRoute, own: Belongings): fc.Arbitrary<Sent>[] {
  const path = pathTo(route, own)
  const none: Record<string, string> = {}
  const others = [
    ...wrongQueries(route).map((query) => query.map((text) => ({ route, path: `${path}?${text}`, headers: none }))),
    ...wrongPaths(route, own).map((wrong) => wrong.map((at) => ({ route, path: at, headers: none }))),
  ]
  const bodies = [...wrongBodies(route), ...wrongForms(route)].map((wrong) =>
    wrong.map((sent) => ({ route, path, ...sent })),
  )
  const isOfWorkspace = route.auth !== 'none' && route.role !== 'none' && route.workspace !== 'path'
  const headers = (route.method === 'GET' ? credentials : [...credentials, foreignOrigin]).map((wrong) =>
    wrong.map((sent) => ({ route, path, headers: sent })),
  )
  // One each of bodies, the rest and headers, so that a long schema does not crowd out the others.
  return [bodies, others, isOfWorkspace ? headers : []]
    .filter((kind) => kind.length > 0)
    .map((kind) => fc.oneof(...(kind as fc.Arbitrary<Sent>[])))
}

const INSTANTS = [
  '0001-01-01',
  '9999-12-31T23:59:59.999Z',
  '1969-12-31T23:59:59Z',
  '2026-03-29T02:30:00+01:00',
  '2026-01-01T00:00:60Z',
]
const ODD_TEXTS = TEXTS.filter((text) => !text.includes('\0') && text.isWellFormed())
const oddText = fc.oneof(fc.constantFrom(...ODD_TEXTS), fc.string({ unit: 'binary', maxLength: 30 }).filter(isStorable))

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Values a schema allows and nobody expects: extremes, strange scripts, SQL, markup. */
function oddFor(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(oddFor))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.format === 'date-time') return fc.constantFrom(...INSTANTS)
  if (schema.type === 'integer') {
    return fc.constantFrom(schema.minimum ?? -(2 ** 31), schema.maximum ?? 2 ** 31 - 1, (schema.minimum ?? 0) + 1)
  }
  if (schema.type === 'number') return fc.constantFrom(schema.minimum ?? -1e308, schema.maximum ?? 1e308, 5e-324)
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'array') return fc.constantFrom([], undefined)
  if (schema.type === 'object') return fc.dictionary(oddText, oddText, { maxKeys: 3 })
  return schema.type === 'null' ? fc.constant(null) : oddText
}

/** Requests to the route that its schemas allow, or nearly, with values nobody expects. */
export function oddRequests(route: AnyRoute, own: Belongings): fc.Arbitrary<Sent> {
  const path = pathTo(route, own)
  const fieldsOf = (schema: unknown) =>
    fc.record(
      Object.fromEntries(
        Object.entries((schema as Schema | undefined)?.properties ?? {}).map(([name, property]) => [
          name,
          oddFor(property),
        ]),
      ),
      { requiredKeys: [] },
    )
  const valid = (route.examples?.body ?? {}) as Record<string, unknown>
  return fc.tuple(fieldsOf(route.query), fieldsOf(route.body)).map(([query, body]): Sent => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
    const search = new URLSearchParams(
      given.flatMap(([name, value]): [string, string][] =>
        // Fields of an object: `metadata[key]=value`.
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? Object.entries(value).map(([key, part]) => [`${name}[${key}]`, String(part)])
          : [[name, String(value)]],
      ),
    ).toString()
    return {
      route,
      path: search === '' ? path : `${path}?${search}`,
      headers: route.body ? { 'content-type': 'application/json' } : {},
      ...(route.body ? { body: Buffer.from(JSON.stringify({ ...valid, ...body })) } : {}),
    }
  })
}
