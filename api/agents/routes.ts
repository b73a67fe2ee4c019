import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { isOwnTool, type Tool, toolSpec } from '../../runtime/tools/tool.ts'
import {
  agentById,
  agentDetails,
  agentsHandingTo,
  countAgents,
  deleteAgent,
  insertAgent,
  listAgents,
  updateAgent,
} from '../../store/agents/agents.ts'
import type { Agent } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { ChangedSince, cursorOf, instantIn, lastOf } from '../cursor.ts'
import { isUuid } from '../ids.ts'
import { LongListOf, LongListQuery, listBody, windowOf } from '../paging.ts'
import { requireProviders, requireRoom } from '../quota.ts'
import { defineRoute } from '../route.ts'
import { type Fault, ValidationError } from '../schema.ts'
import { toolSecrets } from '../tools/tool-calls.ts'
import { Detail } from '../workspaces/schema.ts'
import { DEFAULT_ANALYSIS } from './analysis.ts'
import { withCurrent, withDefaults } from './choices.ts'
import { collectColumns } from './collect.ts'
import type { FallbacksInput } from './fallbacks.ts'
import { agentFaults } from './faults.ts'
import { handoffAgents } from './handoff-agents.ts'
import { proceduresSpec } from './procedures.ts'
import { publicAccessColumn } from './public-access.ts'
import { publisherOf } from './publish.ts'
import { agent_id, requireAgent } from './require-agent.ts'
import { AgentBody, agentBody, agentColumns, agentExample, CreateAgentInput, UpdateAgentInput } from './schema.ts'
import { speechColumns } from './speech.ts'
import { AgentToolsBody, agentToolsExample, storedTools } from './tools.ts'

const tag = 'Agents'
const DEFAULT_TEMPERATURE = 0.7

async function storedAgent(tenant: Tenant, id: string): Promise<Agent | undefined> {
  return isUuid(id) ? agentById(tenant, id) : undefined
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new ValidationError(faults)
}

const list = defineRoute({
  method: 'GET',
  path: '/agents',
  auth: 'jwt_or_key',
  role: 'member',
  query: Type.Object({ ...LongListQuery.properties, updated_since: ChangedSince }),
  success: { status: 200, schema: LongListOf(AgentBody) },
  tag,
  summary: 'The agents of the workspace',
  examples: { success: [agentExample] },
  handler: async ({ tenant, query }) => {
    const window = windowOf(query, cursorOf(query))
    const since = instantIn(query.updated_since)
    const agents = await listAgents(tenant, window, since)
    const total = window ? await countAgents(tenant, since) : agents.length
    return listBody(agents.map(agentBody), total, query, lastOf(agents))
  },
})

const read = defineRoute({
  method: 'GET',
  path: '/agents/{agent_id}',
  auth: 'jwt_or_key',
  role: 'member',
  params: { agent_id },
  success: { status: 200, schema: AgentBody },
  errors: ['agent_not_found'],
  tag,
  summary: 'One agent',
  examples: { success: agentExample },
  handler: async ({ params, tenant }) => {
    const agent = await agentDetails(tenant, params.agent_id)
    if (agent === undefined) throw new PatchbayError('agent_not_found')
    return agentBody(agent)
  },
})

const tools = defineRoute({
  method: 'GET',
  path: '/agents/{agent_id}/tools',
  auth: 'jwt_or_key',
  role: 'member',
  params: { agent_id },
  success: { status: 200, schema: AgentToolsBody },
  errors: ['agent_not_found'],
  tag,
  summary: 'The tools of an agent as its language model sees them',
  description: 'Those of its MCP servers included, as they list them now; `faults` says what is missing, and why.',
  examples: { success: agentToolsExample },
  handler: async ({ params, tenant }, { mcpTools }) => {
    const agent = await requireAgent(tenant, params.agent_id)
    const stored = agent.tools as unknown as readonly Tool[]
    const { targets, faults } = await mcpTools.targets(tenant.workspaceId, stored)
    const begins = proceduresSpec(agent.procedures, (text) => text)
    const specs = [
      ...stored.filter(isOwnTool).map(toolSpec),
      ...targets.map(({ spec }) => spec),
      ...(begins === undefined ? [] : [begins.tool]),
    ]
    return { tools: specs.map(({ kind, says: _, ...spec }) => ({ type: kind, ...spec })), faults }
  },
})

const create = defineRoute({
  method: 'POST',
  path: '/agents',
  audit: ['agent_name'],
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'agents',
  body: CreateAgentInput,
  success: { status: 201, schema: AgentBody },
  errors: ['quota_reached'],
  tag,
  summary: 'Make an agent',
  description: 'Providers, models and voices that are left out come from the configuration and the plugins.',
  examples: {
    body: { agent_name: agentExample.agent_name, system_prompt: agentExample.system_prompt },
    success: agentExample,
  },
  faults: (body, { tenant }, services) => agentFaults(body, 'new', tenant, services),
  handler: async (request, services) => {
    const { body, tenant } = request
    const { plugins, config, argumentChecks: checks } = services
    refuse(await agentFaults(body, 'new', tenant, services))
    await requireRoom(services, tenant, { agents: 1 })
    const choices = withDefaults(body, plugins.catalogue, services.defaultProviders)
    const { LLM_provider, STT_provider, TTS_provider } = choices
    await requireProviders(services, tenant, { LLM_provider, STT_provider, TTS_provider }, body.fallbacks)
    const { workspaceId } = tenant
    const box = toolSecrets(config)
    const agents = await handoffAgents(tenant, body.tools ?? [], undefined)
    const tools = await storedTools(body.tools ?? [], [], {
      box,
      workspaceId,
      checks,
      agents,
      toolPlugins: plugins.catalogue.tools,
    })
    const agent = await insertAgent(
      tenant,
      {
        agent_name: body.agent_name,
        system_prompt: body.system_prompt,
        first_message: body.first_message ?? '',
        temperature: body.temperature ?? DEFAULT_TEMPERATURE,
        llm_provider: choices.LLM_provider,
        llm_model: choices.LLM_model,
        stt_provider: choices.STT_provider,
        stt_model: choices.STT_model,
        tts_provider: choices.TTS_provider,
        tts_voice: choices.TTS_voice,
        tools: JSON.stringify(tools),
        fallbacks: JSON.stringify(body.fallbacks ?? {}),
        procedures: JSON.stringify(body.procedures ?? []),
        voicemail: body.voicemail ?? 'hang_up',
        voicemail_message: body.voicemail_message ?? '',
        recording_notice: body.recording_notice ?? '',
        consent_message: body.consent_message ?? '',
        recording: body.recording,
        public_access: publicAccessColumn(body.public) ?? null,
        analysis: JSON.stringify(body.analysis ?? DEFAULT_ANALYSIS),
        publishing: body.publishing ?? 'immediate',
        ...collectColumns(body),
        ...speechColumns(body),
      },
      publisherOf(request),
    )
    return agentBody(agent)
  },
})

const update = defineRoute({
  method: 'PUT',
  path: '/agents/{agent_id}',
  audit: ['agent_name'],
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'agents',
  params: { agent_id },
  body: UpdateAgentInput,
  success: { status: 200, schema: AgentBody },
  errors: ['agent_not_found'],
  tag,
  summary: 'Change an agent; fields that are left out keep their values',
  examples: { body: { temperature: 0.2 }, success: { ...agentExample, temperature: 0.2 } },
  faults: async (body, { params, tenant }, services) =>
    agentFaults(body, await storedAgent(tenant, params.agent_id), tenant, services),
  handler: async (request, services) => {
    const { params, body, tenant } = request
    const { plugins, config, argumentChecks: checks } = services
    const before = await agentById(tenant, params.agent_id)
    refuse(await agentFaults(body, before, tenant, services))
    if (before === undefined) throw new PatchbayError('agent_not_found')
    const choices = withCurrent(body, before, plugins.catalogue)
    const { LLM_provider, STT_provider, TTS_provider } = choices
    const fallbacks = body.fallbacks ?? (before.fallbacks as FallbacksInput)
    await requireProviders(services, tenant, { LLM_provider, STT_provider, TTS_provider }, fallbacks)
    const { workspaceId } = tenant
    const box = toolSecrets(config)
    const agents = await handoffAgents(tenant, body.tools ?? [], before.id)
    const tools =
      body.tools &&
      (await storedTools(body.tools, before.tools, {
        box,
        workspaceId,
        checks,
        agents,
        toolPlugins: plugins.catalogue.tools,
      }))
    const changes = {
      ...agentColumns(body),
      llm_model: choices.LLM_model,
      stt_model: choices.STT_model,
      tts_voice: choices.TTS_voice,
      ...(tools && { tools: JSON.stringify(tools) }),
    }
    const agent = await updateAgent(tenant, params.agent_id, changes, publisherOf(request))
    if (agent === undefined) throw new PatchbayError('agent_not_found')
    return agentBody(agent)
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/agents/{agent_id}',
  auth: 'jwt_or_scope',
  scope: 'delete',
  role: 'admin',
  params: { agent_id },
  success: { status: 200, schema: Detail },
  errors: ['agent_not_found', 'agent_in_use'],
  tag,
  summary: 'Delete an agent; its calls stay in the log',
  description: 'Refused while other agents hand their callers to it.',
  examples: { success: { detail: 'Agent deleted' } },
  handler: async ({ params, tenant, signal, log }, { vectors, clock }) => {
    const by = await agentsHandingTo(tenant, params.agent_id)
    if (by.length > 0) throw new PatchbayError('agent_in_use', { params: { agents: by.join(', ') } })
    if (!(await deleteAgent(tenant, params.agent_id, new Date(clock.nowMs()))))
      throw new PatchbayError('agent_not_found')
    // Its vectors are unreachable without their texts; removing them only frees space.
    const owner = { workspaceId: tenant.workspaceId, agentId: params.agent_id }
    await vectors.removeAll(owner, signal).catch((err) => {
      log.warn({ err, agentId: params.agent_id }, 'Vectors of a deleted agent could not be removed')
    })
    return { detail: 'Agent deleted' }
  },
})

/** A change in part, by its usual name as well. */
const patch = defineRoute({ ...update, method: 'PATCH' })

export const agentRoutes = [list, read, tools, create, update, patch, remove]
