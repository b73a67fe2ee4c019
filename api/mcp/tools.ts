import { type AnyRoute, type Method, takesKey } from '../route.ts'
import type { InnerRequest } from './inner-request.ts'
import { operationPath } from './operation-path.ts'

/** The tools Patchbay offers as an MCP server: each is an endpoint, with its input as the arguments. */

export interface OfferedTool {
  readonly name: string
  readonly route: AnyRoute
  readonly description: string
  /** JSON Schema of an object: parameters of the path, the query and the body, and the key of what is done once. */
  readonly inputSchema: { type: 'object'; properties: Record<string, object>; required: string[] }
}

/** Beside a route's own input, where it does something that must not be done twice. */
const KEY = {
  idempotency_key: {
    type: 'string',
    description: 'The same for a call that is made again because its answer was lost: it is then done once.',
  },
}

const OFFERED: Readonly<Record<string, `${Method} ${string}`>> = {
  list_agents: 'GET /agents',
  get_agent: 'GET /agents/{agent_id}',
  create_agent: 'POST /agents',
  update_agent: 'PATCH /agents/{agent_id}',
  list_phone_numbers: 'GET /phone-numbers',
  place_call: 'POST /calls/outbound_call',
  hang_up_call: 'POST /calls/{call_log_id}/hangup',
  list_calls: 'GET /calls/logs',
  get_call: 'GET /calls/{call_log_id}',
  get_call_turns: 'GET /calls/{call_log_id}/turns',
  get_call_events: 'GET /calls/{call_log_id}/events',
  list_campaigns: 'GET /api/v/campaign/',
  get_campaign: 'GET /api/v/campaign/{slug}/',
  get_campaign_status: 'GET /api/v/campaign/{slug}/status/',
  pause_campaign: 'POST /api/v/campaign/{slug}/pause/',
  resume_campaign: 'POST /api/v/campaign/{slug}/resume/',
  report_dashboard: 'GET /reports/dashboard',
  report_calls: 'GET /reports/call-summary',
  report_dispositions: 'GET /reports/disposition',
}

/** Throws where one names no route. */
export function offeredTools(routes: readonly AnyRoute[]): OfferedTool[] {
  const byName = new Map(routes.map((route) => [`${route.method} ${operationPath(route)}`, route]))
  return Object.entries(OFFERED).map(([name, endpoint]) => {
    const route = byName.get(endpoint)
    if (route === undefined) throw new Error(`There is no route ${endpoint}`)
    const { summary, description, params = {}, query, body } = route
    const named = Object.entries(params as Record<string, { description: string }>)
    const required = [...named.map(([param]) => param), ...(query?.required ?? []), ...(body?.required ?? [])]
    return {
      name,
      route,
      description: description === undefined ? summary : `${summary}. ${description}`,
      inputSchema: {
        type: 'object',
        properties: {
          ...Object.fromEntries(named.map(([param, { description }]) => [param, { type: 'string', description }])),
          ...query?.properties,
          ...body?.properties,
          ...(takesKey(route) ? KEY : {}),
        },
        required,
      },
    }
  })
}

/** The request a call of the tool is. Arguments the endpoint does not know go to its query or body, which ignore them. */
export function requestOf(
  { route }: OfferedTool,
  given: Readonly<Record<string, unknown>>,
): Pick<InnerRequest, 'method' | 'path' | 'query' | 'json' | 'headers'> {
  const { idempotency_key: key, ...input } = given
  const params = new Set(Object.keys(route.params ?? {}))
  const path = operationPath(route).replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(given[name] ?? '')),
  )
  const rest = Object.entries(input).filter(([name, value]) => !params.has(name) && value !== undefined)
  const takesBody = route.body !== undefined
  const query = takesBody ? '' : new URLSearchParams(rest.flatMap(([name, value]) => fieldsOf(name, value))).toString()
  return {
    method: route.method,
    path,
    query,
    json: takesBody ? Object.fromEntries(rest) : undefined,
    headers: takesKey(route) && typeof key === 'string' ? { 'idempotency-key': key } : {},
  }
}

/** A list is the field several times, a map a field for each key. */
function fieldsOf(name: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) return value.map((one) => [name, textOf(one)])
  if (typeof value !== 'object' || value === null) return [[name, textOf(value)]]
  return Object.entries(value).map(([key, one]) => [`${name}[${key}]`, textOf(one)])
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
