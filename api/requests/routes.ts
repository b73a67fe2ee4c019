import { newestRequestFirst } from '../../store/redis/request-log.ts'
import { CursorPage, cursorOf, cursorPageOf, instantIn, partOf, timed } from '../cursor.ts'
import { isRequestId } from '../http/reply.ts'
import { defineRoute } from '../route.ts'
import { RequestBody, RequestsQuery, requestBody, requestExample } from './schema.ts'

const list = defineRoute({
  method: 'GET',
  path: '/requests',
  auth: 'jwt',
  role: 'developer',
  query: RequestsQuery,
  success: { status: 200, schema: CursorPage(RequestBody) },
  tag: 'API keys',
  summary: 'What API keys of the workspace asked for, newest first',
  description:
    'The last 1,000 requests of a week, those that were refused included. Bodies of requests, queries and the values of parameters are not kept. A request that names no path of this API, or one that takes no keys, or whose key is unknown, is nobody’s.',
  examples: {
    query: { status: '4xx', page: 1, page_size: 25 },
    success: { items: [requestExample], total: 1, page: 1, page_size: 25, total_pages: 1 },
  },
  handler: async ({ tenant, query }, { requestLog }) => {
    const { status, api_key_id } = query
    const sinceMs = instantIn(query.updated_since)?.getTime() ?? Number.NEGATIVE_INFINITY
    const all = await requestLog.recent(tenant.workspaceId)
    const found = all.filter(
      (request) =>
        request.atMs >= sinceMs &&
        (status === undefined || status.startsWith(String(Math.floor(request.status / 100)))) &&
        (api_key_id === undefined || request.key.id === api_key_id.toLowerCase()),
    )
    const { offset, limit, after } = partOf(query, timed(cursorOf(query, isRequestId)))
    const place = after && { id: after.id, atMs: Date.parse(after.at ?? '') }
    const rest = place === undefined ? found : found.filter((request) => newestRequestFirst(place, request) < 0)
    const shown = rest.slice(offset, offset + limit)
    const last = shown.at(-1)
    return cursorPageOf(
      shown.map(requestBody),
      found.length,
      query,
      last && { id: last.id, at: new Date(last.atMs).toISOString() },
    )
  },
})

export const requestRoutes = [list]
