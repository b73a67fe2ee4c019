import { Type } from 'typebox'
import { buildInfo } from '../../runtime/process/build-info.ts'
import { docsRoutes } from '../docs/routes.ts'
import { openApiDocument } from '../openapi/openapi.ts'
import { type AnyRoute, defineRoute, Reply } from '../route.ts'
import { Readiness } from './readiness.ts'

const tag = 'System'

const health = defineRoute({
  method: 'GET',
  path: '/health',
  auth: 'none',
  role: 'none',
  success: {
    status: 200,
    schema: Type.Object({ status: Type.Literal('ok'), version: Type.String(), commit: Type.String() }),
  },
  tag,
  summary: 'The process runs',
  examples: { success: { status: 'ok', version: '0.1.0', commit: '5f2c09d1e7ab' } },
  handler: () => ({ status: 'ok' as const, ...buildInfo() }),
})

const ready = defineRoute({
  method: 'GET',
  path: '/ready',
  auth: 'none',
  role: 'none',
  success: { status: 200, orStatus: 503, schema: Readiness, description: 'Ready; with 503, not ready.' },
  tag,
  summary: 'Database and Redis take writes, leases are renewed, and a voice worker is linked',
  description:
    'With 503 the body says which of them does not, and why. Database and Redis are asked once a second at most, Redis by a write.',
  examples: { success: { status: 'ready', database: 'ok', redis: 'ok', leases: 'ok', workers: 1, webrtc: 'open' } },
  handler: async (_, { readiness }) => {
    const body = await readiness()
    return new Reply({ body, status: body.status === 'ready' ? 200 : 503 })
  },
})

/** `/openapi.json` describes every route, itself included. */
function openApi(routes: () => readonly AnyRoute[]): AnyRoute {
  let document: string | undefined
  return defineRoute({
    method: 'GET',
    path: '/openapi.json',
    auth: 'none',
    role: 'none',
    success: { status: 200, schema: Type.Object({ openapi: Type.String() }) },
    tag,
    summary: 'This documentation as an OpenAPI 3.1 document',
    handler: (_, { config }) => {
      document ??= JSON.stringify(
        openApiDocument(routes(), { publicUrl: config.publicUrl, version: buildInfo().version }),
      )
      return new Reply({ body: document, headers: [['content-type', 'application/json; charset=utf-8']] })
    },
  })
}

/** `routes`: all routes, these included. */
export function systemRoutes(routes: () => readonly AnyRoute[]): AnyRoute[] {
  return [health, ready, openApi(routes), ...docsRoutes]
}
