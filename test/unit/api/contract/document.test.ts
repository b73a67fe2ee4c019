import { createConfig, lintFromString } from '@redocly/openapi-core'
import t from 'tap'
import { errorCodes, openApiDocument, takesInput } from '../../../../api/openapi/openapi.ts'
import { routes } from '../../../../api/routes.ts'
import { ERRORS } from '../../../../runtime/lib/errors.ts'

interface Media {
  schema: unknown
  example?: unknown
  examples?: Record<string, { value: { detail: string } }>
}
interface Operation {
  summary?: string
  description?: string
  parameters: { name: string; in: string }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { description: string; content?: Record<string, Media> }>
}

const document = openApiDocument(routes, { publicUrl: 'https://voice.example.org', version: '1.0.0' })
const paths = document.paths as Record<string, Record<string, Operation>>

/** The document's page of each route; a missing one fails the test that compares both. */
const pages = routes.map((route) => {
  const path = route.trailingSlash ? route.path.replace(/\/?$/, '/') : route.path
  return { route, name: `${route.method} ${route.path}`, page: paths[path]?.[route.method.toLowerCase()] }
})

t.test('the document is valid OpenAPI 3.1, and its examples fit their schemas', async (t) => {
  const config = await createConfig({
    extends: ['spec'],
    rules: {
      'no-invalid-media-type-examples': 'error',
      'no-invalid-parameter-examples': 'error',
      'no-invalid-schema-examples': 'error',
      'operation-operationId-unique': 'error',
      'operation-parameters-unique': 'error',
      'no-unresolved-refs': 'error',
      'security-defined': 'error',
    },
  })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  t.same(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`),
    [],
  )
})

t.test('the document and the routes name the same endpoints, parameters and bodies', async (t) => {
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const served = routes.map(
    ({ method, path, trailingSlash }) => `${method} ${trailingSlash ? path.replace(/\/?$/, '/') : path}`,
  )
  t.same(described.sort(), served.sort())
  for (const { route, name, page } of pages) {
    const inPath = page?.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name)
    t.same(
      inPath,
      [...route.path.matchAll(/\{(\w+)\}/g)].map(([, param]) => param),
      name,
    )
    const inQuery = page?.parameters.filter((parameter) => parameter.in === 'query').map((parameter) => parameter.name)
    t.same(inQuery, Object.keys(route.query?.properties ?? {}), name)
    const forms = route.files ? ['multipart/form-data'] : ['multipart/form-data', 'application/x-www-form-urlencoded']
    const bodies = route.body ? ['application/json'] : route.form || route.files ? forms : []
    t.same(Object.keys(page?.requestBody?.content ?? {}), bodies, name)
  }
})

t.test('every endpoint has a summary, examples of its bodies and every sentence of its errors', async (t) => {
  for (const { route, name, page } of pages) {
    t.match(page?.summary, /^\S.{4,}[^.]$/, name)
    for (const media of Object.values(page?.requestBody?.content ?? {})) t.ok(media.example, `${name}: its body`)
    const success = page?.responses[route.success.status]
    const json = success?.content?.['application/json']
    if (json && route.path !== '/openapi.json') t.ok(json.example, `${name}: its answer`)
    const sentences = new Set(
      Object.values(page?.responses ?? {}).flatMap(({ content }) =>
        Object.values(content?.['application/json']?.examples ?? {}).map(({ value }) => value.detail),
      ),
    )
    const declared = [...errorCodes(route)].map((code) => ERRORS[code].detail)
    t.same([...sentences].sort(), [...new Set(declared)].sort(), `${name}: its errors`)
    t.equal(page?.responses['422'] !== undefined, takesInput(route), `${name}: 422`)
  }
})
