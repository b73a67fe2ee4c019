import { defineRoute } from '../route.ts'
import { Page, pageOf } from '../schema.ts'
import { RequestBody, RequestsQuery, requestBody, requestExample } from './schema.ts'

const list = defineRoute({
  method: 'GET',
  path: '/requests',
  auth: 'jwt',
  role: 'developer',
  query: RequestsQuery,
  success: { status: 200, schema: Page(RequestBody) },
  tag: 'API keys',
  summary: 'What API keys of the workspace asked for, newest first',
  description:
    'The last 1,000 requests of a week, those that were refused included. Bodies of requests, queries and the values of parameters are not kept. A request that names no path of this API, or one that takes no keys, or whose key is unknown, is nobody’s.',
  examples: {
    query: { status: '4xx', page: 1, page_size: 25 },
    success: { items: [requestExample], total: 1, page: 1, page_size: 25, total_pages: 1 },
  },
  handler: async ({ tenant, query }, { requestLog }) => {
    const { status, api_key_id, page, page_size } = query
    const all = await requestLog.recent(tenant.workspaceId)
    const found = all.filter(
      (request) =>
        (status === undefined || status.startsWith(String(Math.floor(request.status / 100)))) &&
        (api_key_id === undefined || request.key.id === api_key_id.toLowerCase()),
    )
    const from = (page - 1) * page_size
    return pageOf(found.slice(from, from + page_size).map(requestBody), found.length, query)
  },
})

export const requestRoutes = [list]
