import t from 'tap'
import { Compile } from 'typebox/compile'
import { errorCodes } from '../../../../api/openapi/openapi.ts'
import { routes } from '../../../../api/routes.ts'
import { ERRORS } from '../../../../runtime/lib/errors.ts'
import { startTestApi } from '../../../support/instance/api.ts'

type Operation = {
  operationId: string
  summary: string
  parameters: { name: string; in: string; required: boolean; schema: object }[]
  responses: Record<string, { content: Record<string, { schema: object; example?: unknown }> }>
  requestBody?: { content: Record<string, { schema: { properties: object } }> }
}

t.test('the document names exactly the routes there are', async (t) => {
  const api = await startTestApi(t)
  const { status, headers, body } = await api.client().get('/openapi.json')
  t.equal(status, 200)
  t.match(headers.get('content-type'), /^application\/json/)
  t.equal(body.openapi, '3.1.0')
  const described = Object.entries(body.paths as Record<string, Record<string, Operation>>).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const served = routes.map(
    ({ method, path, trailingSlash }) => `${method} ${trailingSlash ? path.replace(/\/?$/, '/') : path}`,
  )
  t.same(described.sort(), served.sort())
  const operations = Object.values(body.paths as Record<string, Record<string, Operation>>).flatMap(
    Object.values,
  ) as Operation[]
  t.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length, 'operation ids are unique')
  for (const { operationId, summary } of operations) t.ok(summary, operationId)
})

t.test('every route has an example of its answer that fits its schema, and of its body', async (t) => {
  for (const route of routes) {
    const name = `${route.method} ${route.path}`
    const contentType = route.success.contentType ?? 'application/json'
    if (contentType !== 'application/json' || route.path === '/openapi.json') continue
    t.ok(Compile(route.success.schema).Check(route.examples?.success), `${name} answer`)
    if (route.body) t.ok(Compile(route.body).Check(route.examples?.body), `${name} body`)
  }
})

t.test('vocabularies that may grow are strings with the words of this version, in answers and in events', async (t) => {
  const api = await startTestApi(t)
  const { body } = await api.client().get('/openapi.json')
  const { schemas } = body.components
  const words = (schema: { anyOf?: object[] }) =>
    (schema.anyOf?.[0] ?? schema) as { type?: string; enum?: string[]; 'x-extensible-enum'?: string[] }
  const of = (name: string, field: string) => words(schemas[name].properties[field])
  for (const [name, field, word] of [
    ['Call', 'end_reason', 'batch_canceled'],
    ['Call', 'disposition', 'voicemail'],
    ['CallCarrier', 'released_by', 'network'],
    ['CallCarrier', 'cause', 'congestion'],
    ['CallFaultEventData', 'stage', 'llm'],
  ] as const) {
    const { type, enum: closed, 'x-extensible-enum': open } = of(name, field)
    t.equal(type, 'string', `${name}.${field}`)
    t.equal(closed, undefined, 'a new word breaks no client')
    t.ok(open?.includes(word), `${name}.${field} has ${word}`)
  }
  const types: string[] = schemas.Webhook.properties.types.items['x-extensible-enum']
  t.same(
    ['*', 'call.*', 'call.ended', 'prospect.resolved'].filter((type) => !types.includes(type)),
    [],
  )
  const prospect = schemas.ProspectAddedEventData.properties
  t.same(prospect.resolution, schemas.Prospect.properties.resolution, 'closed ones are the same in events')
  t.same(prospect.disposition, schemas.Prospect.properties.disposition)
  t.same(schemas.CampaignEventData.properties.pause_reason, schemas.Campaign.properties.pause_reason)
})

t.test('every path parameter is described, and every error has its sentence in the table', async (t) => {
  for (const route of routes) {
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    t.same(Object.keys(route.params ?? {}).sort(), names.sort(), `${route.method} ${route.path}`)
    for (const code of errorCodes(route)) t.ok(ERRORS[code], code)
  }
})

t.test('the reference of the API loads nothing from elsewhere', async (t) => {
  const api = await startTestApi(t)
  const client = api.client()
  const page = await client.get('/docs/reference')
  t.equal(page.status, 200)
  t.match(page.headers.get('content-type'), /^text\/html/)
  const sources = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source ?? '')
  t.equal(sources.length, 5)
  for (const source of sources) {
    const file = await client.get(source)
    t.equal(file.status, 200, source)
    t.ok(file.text.length > 50)
  }
  t.match(page.headers.get('content-security-policy'), /default-src 'none'/)
  const bundle = `${api.url}/docs/swagger-ui-bundle.js`
  const packed = await fetch(bundle, { headers: { 'accept-encoding': 'gzip;q=0.5, br' } })
  t.equal(packed.headers.get('content-encoding'), 'br')
  t.equal(packed.headers.get('cache-control'), 'no-cache', 'asked for again, and sent again where it changed')
  t.ok((await packed.text()).length > 1_000_000, 'whole, once it is unpacked')
  const etag = packed.headers.get('etag') ?? ''
  const again = await fetch(bundle, { headers: { 'accept-encoding': 'br', 'if-none-match': `"other", W/${etag}` } })
  t.same([again.status, again.headers.get('etag'), await again.text()], [304, etag, ''])
  const plain = await fetch(bundle, { headers: { 'accept-encoding': 'gzip;q=0', 'if-none-match': etag } })
  t.same([plain.status, plain.headers.get('content-encoding')], [200, null], 'packed and plain are not the same')
  t.equal((await plain.text()).length > 1_000_000, true)
  for (const file of ['package.json', '..%2fpackage.json', '%00', 'toString']) {
    t.equal((await client.get(`/docs/${file}`)).status, 404, file)
  }
})
