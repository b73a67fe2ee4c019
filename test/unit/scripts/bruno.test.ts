import { createRequire } from 'node:module'
import t from 'tap'
import { openApiDocument } from '../../../api/openapi/openapi.ts'
import { routes } from '../../../api/routes.ts'
import { brunoFiles } from '../../../scripts/sdk/bruno.ts'

interface Bru {
  meta: { name: string; type: string }
  http: { method: string; url: string; body: string }
  headers?: { name: string; value: string }[]
  params?: { name: string; type: string; enabled: boolean }[]
  body?: { json?: string; multipartForm?: { name: string; type: string }[] }
}
const { bruToJsonV2, bruToEnvJsonV2 } = createRequire(import.meta.url)('@usebruno/lang') as {
  bruToJsonV2(text: string): Bru
  bruToEnvJsonV2(text: string): { variables: { name: string; secret: boolean }[] }
}

const files = brunoFiles(openApiDocument(routes, { publicUrl: 'http://localhost:8080', version: '1.0.0' }))
const requests = Object.entries(files)
  .filter(([name]) => name.endsWith('.bru') && !name.startsWith('environments/'))
  .map(([, text]) => bruToJsonV2(text))

t.test('the Bruno collection has a request for every operation, as Bruno reads it', async (t) => {
  const served = routes.map(
    ({ method, path, trailingSlash }) =>
      `${method} {{baseUrl}}${(trailingSlash ? path.replace(/\/?$/, '/') : path).replace(/\{(\w+)\}/g, ':$1')}`,
  )
  t.same(requests.map(({ http }) => `${http.method.toUpperCase()} ${http.url}`).sort(), served.sort())
  t.same(
    bruToEnvJsonV2(files['environments/local.bru'] ?? '').variables.map(({ name, secret }) => [name, secret]),
    [
      ['baseUrl', false],
      ['key', true],
    ],
  )
})

t.test('its requests have the key, parameters, and the bodies of the examples', async (t) => {
  const named = (name: string) => requests.find(({ meta }) => meta.name === name)
  const created = named('createAgent')
  t.match(created, { http: { body: 'json' }, headers: [{ name: 'x-api-key', value: '{{key}}' }] })
  t.match(JSON.parse(created?.body?.json ?? ''), { agent_name: String })
  t.match(named('getAgent')?.params, [{ name: 'agent_id', type: 'path' }])
  t.match(
    named('listCalls')?.params?.find(({ name }) => name === 'page'),
    { type: 'query', enabled: false },
  )
  t.match(
    named('uploadProspects')?.body?.multipartForm?.find(({ name }) => name === 'original_data'),
    { type: 'file' },
  )
  t.notOk(named('login')?.headers, 'what needs no key has none')
})
