import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { HandoffOrder } from '../../runtime/call/control/hand-off.ts'
import type { ToolSpec } from '../../runtime/call/types/agent-spec.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import type { ToolResult } from '../../runtime/tools/call-http.ts'
import { DEFAULT_TOOL_TIMEOUT_MS, type HandoffTool, type Tool } from '../../runtime/tools/tool.ts'
import type { ToolsOfCall } from '../../store/agents/agent-tools.ts'
import { agentById } from '../../store/agents/agents.ts'
import { type ServedAgent, servedAgent } from '../../store/agents/served-agents.ts'
import type { Store } from '../../store/database/database.ts'
import { hasReadyDocuments } from '../../store/knowledge/documents.ts'
import { isUuid } from '../ids.ts'
import { agentSpec } from '../realtime/agent-spec.ts'
import type { McpTools } from './mcp-tools.ts'

const MAX_REASON_CHARS = 500
const MAX_SUMMARY_CHARS = 4_000
const STAYS = 'The hand-off failed; the caller is still with you.'

const namesAgent = Compile(Type.Object({ agent_id: Type.String() }))

/** Asks a webhook of a hand-off: what it answers, as an HTTP tool does. */
export type AskHandoffWebhook = (tool: Tool & { type: 'http' }, input: Record<string, unknown>) => Promise<ToolResult>

/** Who asks: a call or a chat, the agent that has it, and what it is about. */
export interface HandoffFacts {
  workspaceId: string
  agentId: string
  /** Of a call or chat; sent to webhooks. */
  of: { call_id: string; from_number: string | null; to_number: string | null } | { chat_session_id: string }
  dynamicVariables: Readonly<Record<string, string>>
}

/** The agent that a hand-off names, as it may be served now; or why there is none, for the model and for the log. */
export async function handoffTarget(
  store: Store,
  tool: HandoffTool,
  input: Record<string, unknown>,
  facts: HandoffFacts,
  ask: AskHandoffWebhook,
): Promise<{ agent: ServedAgent } | ToolResult> {
  const named = tool.to === 'webhook' ? await askWhich(tool, input, facts, ask) : tool.to
  if (typeof named !== 'string') return { output: STAYS, ...named }
  const tenant = store.tenant(facts.workspaceId)
  const agent = isUuid(named) ? await agentById(tenant, named) : undefined
  if (agent === undefined) return { output: STAYS, fault: `there is no agent ${JSON.stringify(named.slice(0, 100))}` }
  const served = await servedAgent(store, facts.workspaceId, agent)
  return 'refused' in served ? { output: STAYS, fault: `${agent.agent_name}: ${served.refused}` } : served
}

/** The agent that the webhook names, or what is wrong with its answer. */
async function askWhich(
  { name, url, headers = {}, timeoutMs = DEFAULT_TOOL_TIMEOUT_MS }: HandoffTool,
  input: Record<string, unknown>,
  { agentId, of, dynamicVariables }: HandoffFacts,
  ask: AskHandoffWebhook,
): Promise<string | Pick<ToolResult, 'fault' | 'reason'>> {
  if (url === undefined) return { fault: 'it has no url' }
  const body = { ...of, agent_id: agentId, tool: name, ...wordsOf(input), dynamic_variables: dynamicVariables }
  const { output, fault, reason } = await ask(
    {
      ...{ type: 'http', name, description: '', parameters: { type: 'object', properties: { body: {} } } },
      // What stands alone is sent as it is: templates in the words of callers are words.
      http: { method: 'POST', url, headers, timeoutMs, body: '{{body}}' },
    },
    { body },
  )
  if (fault !== undefined) return { fault, ...(reason === undefined ? {} : { reason }) }
  try {
    const says: unknown = JSON.parse(output)
    if (namesAgent.Check(says)) return says.agent_id
  } catch {
    // Said below.
  }
  return { fault: 'its webhook did not answer with {"agent_id": "…"}' }
}

/** What the model says of the hand-off. */
export function wordsOf(input: Record<string, unknown>): { reason: string; summary?: string } {
  const { reason, summary } = input
  return {
    reason: cleanText(String(reason ?? ''), MAX_REASON_CHARS),
    ...(typeof summary === 'string' ? { summary: cleanText(summary, MAX_SUMMARY_CHARS) } : {}),
  }
}

/** The order by which a call goes on with the agent: greeted and recorded as it is, with the tools of its campaign. */
export async function handoffOrder(
  services: { store: Store; mcp: Pick<McpTools, 'complete'>; clock: Clock },
  callId: string,
  agent: ServedAgent,
  { carries }: HandoffTool,
  input: Record<string, unknown>,
  scope: ToolsOfCall,
  campaignTools: (own: readonly ToolSpec[]) => Promise<ToolSpec[]>,
): Promise<HandoffOrder | ToolResult> {
  const { store, mcp, clock } = services
  const { workspaceId, direction, fromNumber, toNumber, callType, dynamicVariables } = scope
  const hasKnowledge = await hasReadyDocuments(store.tenant(workspaceId), agent)
  const numbers = callType === 'web' ? {} : { callerNumber: fromNumber, calledNumber: toNumber }
  try {
    const own = agentSpec({ ...agent, ...UNSAID }, dynamicVariables, hasKnowledge, {
      ...{ nowMs: clock.nowMs(), callId, direction },
      ...numbers,
    })
    const { spec, faults } = await mcp.complete(agent, own)
    const tools = [...(spec.tools ?? []), ...(await campaignTools(spec.tools ?? []))]
    return { agent: { ...spec, tools }, faults, ...wordsOf(input), carries }
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error
    return { output: STAYS, fault: `${agent.agent_name}: ${error.message}` }
  }
}

/** What is said at the beginning of a call alone. */
const UNSAID = { first_message: '', recording_notice: '', consent_message: '', ai_disclosure: 'off' } as const
