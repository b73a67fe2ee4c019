import { Type } from 'typebox'
import { AdmissionGate } from '../../runtime/admission/gate.ts'
import { DynamicVariables } from '../../runtime/conversation/variables.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Tool } from '../../runtime/tools/tool.ts'
import { agentById } from '../../store/agents/agents.ts'
import { NO_AGENTS } from '../agents/handoff-agents.ts'
import { agentExample } from '../agents/schema.ts'
import { storedTools, ToolInput } from '../agents/tools.ts'
import { defineRoute } from '../route.ts'
import { Nullable, ValidationError } from '../schema.ts'
import { toolSecrets } from './tool-calls.ts'

/** Two at a time for each workspace: meant for interactive use. */
const trying = new AdmissionGate({ kind: 'tool_try', places: 16, mostOfOne: 2, maxWaiting: 50 })

const tryTool = defineRoute({
  method: 'POST',
  path: '/agents/{agent_id}/tools/try',
  auth: 'jwt_or_key',
  role: 'developer',
  scope: 'agents',
  params: { agent_id: { description: 'The agent.', notFound: 'agent_not_found', example: agentExample.agent_id } },
  body: Type.Object({
    tool: ToolInput,
    arguments: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'What the language model would fill in.' }),
    ),
    dynamic_variables: Type.Optional(DynamicVariables({})),
  }),
  success: {
    status: 200,
    schema: Type.Object({
      ok: Type.Boolean(),
      output: Type.String({ description: 'What the language model would read.' }),
      fault: Nullable(Type.String({ description: 'What went wrong; null: nothing.' })),
      duration_ms: Type.Number(),
    }),
  },
  errors: ['agent_not_found', 'unavailable'],
  tag: 'Agents',
  summary: 'Call an HTTP tool once, as a call would',
  description:
    'The tool need not be saved. The request is really sent. Header values that are masked are those stored for the tool of this name, and go to its stored host alone.',
  examples: {
    body: {
      tool: {
        type: 'http',
        name: 'order_status',
        description: 'Looks up where an order is.',
        parameters: { type: 'object', properties: { order_id: { type: 'string' } } },
        http: { method: 'GET', url: 'https://api.example.com/orders/{{order_id}}', timeout_ms: 1_000 },
      },
      arguments: { order_id: '17' },
    },
    success: { ok: true, output: '{"state": "on its way"}', fault: null, duration_ms: 84 },
  },
  handler: async ({ params, body, tenant, signal }, { config, argumentChecks, tools, clock, plugins }) => {
    const agent = await agentById(tenant, params.agent_id)
    if (agent === undefined) throw new PatchbayError('agent_not_found')
    if (body.tool.type !== 'http') {
      throw new ValidationError([{ loc: ['body', 'tool', 'type'], msg: 'must be "http"', type: 'value_error' }])
    }
    const { workspaceId } = tenant
    const box = toolSecrets(config)
    const [tool] = await storedTools([body.tool], agent.tools, {
      ...{ box, workspaceId, checks: argumentChecks, agents: NO_AGENTS, toolPlugins: plugins.catalogue.tools },
    }).catch((error) => {
      throw error instanceof ValidationError ? new ValidationError(error.faults.map(ofOneTool)) : error
    })
    const leave = await trying.enter({ workspaceId }, signal)
    try {
      const startedMs = clock.monotonicMs()
      const scope = { workspaceId, dynamicVariables: body.dynamic_variables ?? {} }
      const { output, fault } = await tools.once(tool as HttpTool, body.arguments ?? {}, scope, signal)
      return {
        ok: fault === undefined,
        output,
        fault: fault ?? null,
        duration_ms: Math.round(clock.monotonicMs() - startedMs),
      }
    } finally {
      leave()
    }
  },
})

type HttpTool = Tool & { type: 'http' }

/** `body.tools.0.http.url` → `body.tool.http.url`. */
const ofOneTool = <F extends { loc: readonly string[] }>(fault: F): F => ({
  ...fault,
  loc: ['body', 'tool', ...fault.loc.slice(3)],
})

export const toolTryRoutes = [tryTool]
