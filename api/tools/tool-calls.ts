import type { Calls } from '../../runtime/call/control/calls.ts'
import type { HandoffOrder } from '../../runtime/call/control/hand-off.ts'
import type { CollectedValues } from '../../runtime/call/control/worker-requests.ts'
import type { ToolSpec } from '../../runtime/call/types/agent-spec.ts'
import type { Carriers } from '../../runtime/dialing/carriers.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import { createSecretBox, type DataKeys, UnopenedSecret } from '../../runtime/lib/secret-box.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import { type NetRule, parseInfrastructureRule } from '../../runtime/plugin/grants/net-rule.ts'
import { CarrierFault, TransferRefused } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import { formatDestination, readDestination } from '../../runtime/plugin-sdk/telephony/destination.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { ArgumentChecks } from '../../runtime/tools/argument-check.ts'
import { unnamedArguments } from '../../runtime/tools/argument-names.ts'
import { callHttp, type ToolResult } from '../../runtime/tools/call-http.ts'
import { withoutSecrets } from '../../runtime/tools/masked.ts'
import { secretsFor, withoutSecretValues, withSecrets } from '../../runtime/tools/secret-values.ts'
import { type HandoffTool, isOwnTool, type OwnTool, parametersOf, type Tool } from '../../runtime/tools/tool.ts'
import { toolOutput } from '../../runtime/tools/tool-output.ts'
import { TRANSFER_OUTPUT } from '../../runtime/tools/transfer-output.ts'
import type { HttpSpans } from '../../runtime/traces/http-spans.ts'
import { contextOfTool, type TraceContext } from '../../runtime/traces/trace-context.ts'
import { type ToolsOfCall, toolsOfCall } from '../../store/agents/agent-tools.ts'
import type { ServedAgent } from '../../store/agents/served-agents.ts'
import type { Store } from '../../store/database/database.ts'
import { extensionByName } from '../../store/telephony/extensions.ts'
import { openHeaders } from '../agents/tool-headers.ts'
import { type AskHandoffWebhook, type HandoffFacts, handoffOrder, handoffTarget } from './handoff-target.ts'
import type { McpTarget, McpTools } from './mcp-tools.ts'
import { secondLeg, whisperTo } from './second-leg.ts'

/** Calls the tools of agents, on behalf of calls and chats. */

const CARRIER_TIMEOUT_MS = 8_000
const TRANSFER_FAILED = 'The transfer failed; the caller is still here.'
const MAX_ERROR_CHARACTERS = 500
const NOT_POSSIBLE = 'This is not possible in this conversation.'

/** The box in which the header values of tools are sealed. */
export const toolSecrets = (keys: string | DataKeys) => createSecretBox(keys, 'tool headers')

interface ToolCallsOptions {
  config: DataKeys & { readonly toolsAllowNet?: readonly string[] | undefined }
  store: Store
  log: Logger
  checks: ArgumentChecks
  mcp: McpTools
  /** Where requests become spans; undefined: nowhere. */
  requests?: HttpSpans | undefined
  /** What the agent may do in a campaign's calls; undefined when the call has no such tool. */
  ofCampaign?: (callId: string, name: string, input: Record<string, unknown>) => Promise<string | undefined>
  /** What an agent that is handed such a call may do there besides its own tools. */
  campaignTools?: (callId: string, own: readonly ToolSpec[]) => Promise<ToolSpec[]>
  clock: Clock
  /** The running calls and the carriers; asked for when a tool needs them. */
  calls(): Calls
  carriers(): Carriers
}

/** Of a call: what tells a request that is sent twice, and the span that it belongs to. */
interface Asked {
  key?: string
  within?: TraceContext
}

interface ToolScope {
  workspaceId: string
  dynamicVariables: Readonly<Record<string, string>>
  /** Secret values of the conversation, by name. */
  secrets?: Readonly<Record<string, string>> | undefined
}

export interface ToolCalls {
  /**
   * For a running call, and the agent that has it: what the language model is to read, and the agent that the call is handed to. `id` names the call of the tool within its call, `key` among all: an HTTP
   * server sees it and can tell a request sent twice.
   */
  ofCall(
    of: { callId: string; agentId: string; agentVersion?: number | undefined },
    name: string,
    input: Record<string, unknown>,
    asked: { id: string; key: string } & Partial<CollectedValues>,
    signal: AbortSignal,
  ): Promise<{ output: string; handoff?: HandoffOrder }>
  /** For a supervisor: transfers the caller. `output` describes the result. */
  transferTo(callId: string, to: string): Promise<{ ok: boolean; output: string }>
  /** For the tool's author: calls it once. `fault` says what a call would have ended with, wrong arguments included. */
  once(
    tool: Tool & { type: 'http' },
    input: Record<string, unknown>,
    scope: ToolScope,
    signal: AbortSignal,
  ): Promise<ToolResult>
  /** For a chat: the agent that a hand-off leads to, or what the model reads of a failed one. */
  handOffChat(
    tool: HandoffTool,
    input: Record<string, unknown>,
    facts: HandoffFacts,
    signal: AbortSignal,
  ): Promise<{ agent: ServedAgent } | ToolResult>
  /** For a chat, where there is no line to act on; undefined: the agent has no such tool. */
  ofChat(
    tools: readonly Tool[],
    name: string,
    input: Record<string, unknown>,
    scope: ToolScope,
    signal: AbortSignal,
  ): Promise<string | undefined>
}

export function createToolCalls({
  config,
  store,
  log,
  checks,
  mcp,
  requests,
  ofCampaign,
  campaignTools = async () => [],
  clock,
  calls,
  carriers,
}: ToolCallsOptions): ToolCalls {
  const box = toolSecrets(config)
  const allowed: readonly NetRule[] = (config.toolsAllowNet ?? []).map(parseInfrastructureRule)

  const http = async (
    tool: Tool & { type: 'http' },
    input: Record<string, unknown>,
    scope: ToolScope,
    signal: AbortSignal,
    { key, within }: Asked = {},
  ): Promise<ToolResult> => {
    let headers: Record<string, string>
    try {
      headers = openHeaders(tool.http.headers, box, scope.workspaceId)
    } catch (error) {
      if (!(error instanceof UnopenedSecret)) throw error
      log.error({ tool: tool.name, workspaceId: scope.workspaceId, reason: error.message }, 'A tool cannot be called')
      return { output: 'The request failed: the tool is not set up', fault: error.message }
    }
    const secrets = secretsFor(tool, scope.secrets)
    const variables = { ...scope.dynamicVariables, ...secrets }
    const asked = { input: withSecrets(input, secrets), parameters: tool.parameters, variables }
    const traced = requests && { requests, within }
    const options = { allowed, signal, idempotencyKey: key, traced }
    const result = await callHttp({ ...tool.http, headers }, asked, options)
    return { ...result, output: withoutSecrets(result.output, headers) }
  }

  const transfer = async (
    callId: string,
    tool: Tool & { type: 'transfer' },
    input: Record<string, unknown>,
    scope: ToolsOfCall,
  ): Promise<ToolResult> => {
    const { provider, ours } = scope
    const extension = await extensionByName(store.tenant(scope.workspaceId), tool.to)
    const phones = extension && (await carriers().ofExtensions())
    if (phones !== undefined) {
      const from = ours ?? 'agent'
      const second = secondLeg(phones, callId, { ...scope, from, to: tool.to, toExtension: true })
      return join(callId, tool, input, scope, { from, ...second })
    }
    const from = parsePhoneNumber(ours ?? '')
    if (provider === undefined || from === undefined) {
      const fault = 'a caller on the web is led to a number from one of the agent’s own, and it has none: register one'
      return { output: NOT_POSSIBLE, ...(scope.callType === 'web' ? { fault } : {}) }
    }
    const carrier = await carriers().get(provider)
    const destination = readDestination(tool.to)
    const title = carriers().titleOf(provider)
    if (destination === undefined) {
      const fault = `${JSON.stringify(tool.to)} is no number, no extension and no SIP URI of user and host`
      return { output: NOT_POSSIBLE, fault }
    }
    if (destination.kind !== 'number' && carrier.takesNames !== true) {
      return { output: NOT_POSSIBLE, fault: `${title} calls numbers alone, and "${tool.to}" is none` }
    }
    const to = formatDestination(destination)
    try {
      // The carrier can't transfer a web caller.
      if (scope.callType === 'phone' && tool.mode !== 'warm' && carrier.transfer !== undefined) {
        const { workspaceId, trunk } = scope
        const by = { workspaceId, from, ...(trunk === null ? {} : { trunk }) }
        await carrier.transfer(callId, to, signalWithin(CARRIER_TIMEOUT_MS), by)
        return { output: TRANSFER_OUTPUT }
      }
    } catch (error) {
      if (!(error instanceof TransferRefused)) {
        if (!(error instanceof CarrierFault)) log.warn({ err: error, callId }, 'A transfer failed')
        const words = error instanceof Error ? error.message : String(error)
        return { output: TRANSFER_FAILED, fault: `${title} error: ${words}` }
      }
    }
    return join(callId, { ...tool, to }, input, scope, { from, ...secondLeg(carrier, callId, { ...scope, from, to }) })
  }

  /** Dials the target ourselves, and connects its answer with the caller. */
  const join = async (
    callId: string,
    tool: Tool & { type: 'transfer' },
    input: Record<string, unknown>,
    scope: ToolsOfCall,
    { from, ...second }: ReturnType<typeof secondLeg> & { from: string },
  ): Promise<ToolResult> => {
    const result = await calls().transfer(callId, {
      to: tool.to,
      mode: tool.mode ?? 'blind',
      ...second,
      ...(tool.mode === 'warm'
        ? { whisper: await whisperTo({ store, clock }, scope, String(input.summary ?? ''), [from, tool.to]) }
        : {}),
    })
    if (result?.ok === true) return { output: TRANSFER_OUTPUT }
    return { output: `${TRANSFER_FAILED} ${result?.reason ?? 'The call is over.'}` }
  }

  /** Runs where the caller is, in the page, which may be anybody's: what it answers is words of the caller's. */
  const onPage = async (
    callId: string,
    tool: Tool & { type: 'client' },
    input: Record<string, unknown>,
    key: string,
  ): Promise<ToolResult> => {
    const { name, timeoutMs } = tool
    const answer = await calls().callPage(callId, { id: key, name, arguments: input, timeoutMs })
    if (answer === undefined) return { output: NOT_POSSIBLE }
    if ('result' in answer) return { output: toolOutput(cleanText(answer.result)) }
    const error = cleanText(answer.error, MAX_ERROR_CHARACTERS)
    return { output: `The page failed: ${error}`, fault: error }
  }

  const handOff = async (
    callId: string,
    tool: HandoffTool,
    input: Record<string, unknown>,
    scope: ToolsOfCall,
    ask: AskHandoffWebhook,
  ): Promise<ToolResult & { handoff?: HandoffOrder }> => {
    const { fromNumber: from_number, toNumber: to_number } = scope
    const found = await handoffTarget(
      store,
      tool,
      input,
      { ...scope, of: { call_id: callId, from_number, to_number } },
      ask,
    )
    if ('output' in found) return found
    const order = await handoffOrder({ store, mcp, clock }, callId, found.agent, tool, input, scope, (own) =>
      campaignTools(callId, own),
    )
    return 'output' in order ? order : { output: '', handoff: order }
  }

  const run = async (
    callId: string,
    tool: OwnTool | McpTarget,
    input: Record<string, unknown>,
    scope: ToolsOfCall & ToolScope,
    { id, key }: { id: string; key: string },
    signal: AbortSignal,
  ): Promise<ToolResult & { handoff?: HandoffOrder }> => {
    const within = contextOfTool(callId, id)
    const traced = requests && { requests, within }
    if (!('type' in tool)) return mcp.call(scope.workspaceId, tool, input, { signal, key, traced })
    switch (tool.type) {
      case 'http':
        return http(tool, input, scope, signal, { key, within })
      case 'client':
        return onPage(callId, tool, withSecrets(input, secretsFor(tool, scope.secrets)), key)
      case 'transfer':
        return transfer(callId, tool, input, scope)
      case 'handoff':
        return handOff(callId, tool, input, scope, (asked, body) => http(asked, body, scope, signal, { key, within }))
      case 'send_dtmf':
        return { output: calls().sendDtmf(callId, String(input.keys)) ? 'The keys were pressed.' : NOT_POSSIBLE }
      default:
        return { output: NOT_POSSIBLE }
    }
  }

  /** What the model got wrong, in words it can mend it by. */
  const faultOfInput = async (
    tool: OwnTool | McpTarget,
    input: Record<string, unknown>,
    workspaceId: string,
  ): Promise<string | undefined> => {
    const parameters = 'type' in tool ? parametersOf(tool) : tool.tool.inputSchema
    // A server of MCP checks what it takes itself; tools of our own read nothing but what they name.
    const isMakers = 'type' in tool && (tool.type === 'http' || tool.type === 'client')
    const [unnamed] = isMakers ? unnamedArguments(parameters, input) : []
    if (unnamed !== undefined)
      return `Wrong arguments: the tool has no parameter ${JSON.stringify(unnamed.slice(0, 100))}`
    const fault = await checks.faultOfInput(workspaceId, parameters, input)
    return fault === undefined ? undefined : `Wrong arguments: ${fault}`
  }

  const named = async (tools: readonly Tool[], name: string, workspaceId: string) =>
    tools.filter(isOwnTool).find((one) => one.name === name) ?? mcp.find(workspaceId, tools, name)

  return {
    async ofCall({ callId, ...by }, name, input, asked, signal) {
      const found = await toolsOfCall(store, callId, by)
      const scope = found && {
        ...found,
        dynamicVariables: { ...found.dynamicVariables, ...asked.collected },
        secrets: asked.secrets,
      }
      const tool = scope && (await named(scope.tools as Tool[], name, scope.workspaceId))
      if (scope === undefined || tool === undefined) {
        const output = scope && (await ofCampaign?.(callId, name, input))
        return { output: output ?? `There is no tool "${name}".` }
      }
      const unfit = await faultOfInput(tool, input, scope.workspaceId)
      if (unfit !== undefined) return { output: unfit }
      const made = await run(callId, tool, input, scope, asked, signal)
      const { output, fault, reason } = withoutSecretValues(made, Object.values(scope.secrets ?? {}))
      const { handoff } = made
      if (reason !== undefined) log.warn({ callId, tool: name, reason }, 'A tool of a call could not be reached')
      if (fault !== undefined) calls().fault(callId, 'tool', `Tool "${name}": ${fault}`)
      return { output, ...(handoff === undefined ? {} : { handoff }) }
    },
    async transferTo(callId, to) {
      const scope = await toolsOfCall(store, callId)
      if (scope === undefined) return { ok: false, output: NOT_POSSIBLE }
      const tool = { type: 'transfer', name: 'transfer', description: '', to, mode: 'blind' } as const
      const { output, fault } = await transfer(callId, tool, {}, scope)
      const ok = fault === undefined && output === TRANSFER_OUTPUT
      return { ok, output: fault === undefined ? output : `${output} ${fault}` }
    },
    async once(tool, input, scope, signal) {
      const unfit = await faultOfInput(tool, input, scope.workspaceId)
      return unfit === undefined ? http(tool, input, scope, signal) : { output: unfit, fault: unfit }
    },
    async handOffChat(tool, input, facts, signal) {
      const unfit = await faultOfInput(tool, input, facts.workspaceId)
      if (unfit !== undefined) return { output: unfit }
      const found = await handoffTarget(store, tool, input, facts, (asked, body) => http(asked, body, facts, signal))
      const fault = 'fault' in found ? found.fault : undefined
      if (fault !== undefined) log.warn({ tool: tool.name, fault }, 'A chat could not be handed off')
      return found
    },
    async ofChat(tools, name, input, scope, signal) {
      const tool = await named(tools, name, scope.workspaceId)
      if (tool === undefined) return undefined
      const unfit = await faultOfInput(tool, input, scope.workspaceId)
      if (unfit !== undefined) return unfit
      if ('type' in tool && tool.type !== 'http') return NOT_POSSIBLE
      const made =
        'type' in tool
          ? await http(tool, input, scope, signal)
          : await mcp.call(scope.workspaceId, tool, input, {
              ...{ signal, key: undefined },
              traced: requests && { requests, within: undefined },
            })
      const { output, fault, reason } = withoutSecretValues(made, Object.values(scope.secrets ?? {}))
      if (fault !== undefined) log.warn({ tool: name, fault, reason }, 'A tool of a chat failed')
      return output
    },
  }
}
