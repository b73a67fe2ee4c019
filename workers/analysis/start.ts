import {
  type AnalysisWishes,
  analysisOf,
  asksForMore,
  extractedSummary,
  faultOf,
  instructionsOf,
  onlyObjectIn,
  transcriptText,
} from '../../runtime/analysis/prompt.ts'
import type { Prices } from '../../runtime/call/cost.ts'
import type { Fallbacks } from '../../runtime/call/types/agent-spec.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import type { PluginRegistry } from '../../runtime/plugin/host.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { ArgumentChecks } from '../../runtime/tools/argument-check.ts'
import { contextOfCall, type TraceContext } from '../../runtime/traces/trace-context.ts'
import { agentById } from '../../store/agents/agents.ts'
import { agentAsUsed, type ServedAgent, servedAgent } from '../../store/agents/served-agents.ts'
import {
  addAnalysisUsage,
  claimAnalyses,
  type DueAnalysis,
  postponeAnalysis,
  settleAnalysis,
} from '../../store/calls/call-analyses.ts'
import { callById } from '../../store/calls/calls.ts'
import type { Store } from '../../store/database/database.ts'
import { startClaimedWork } from '../claimed-work.ts'

const POLL_MS = 1_000
const AT_ONCE = 8
/** So that a slow model of one workspace does not hold up the others'. */
const MOST_OF_ONE = 2
const LEASE_S = 300
const WAITS_S = [30, 300, 1_800] as const
const NO_ANSWER = 'The language model gave no answer in the form asked for'

interface AnalysisJob {
  /** Begins no other; those that run are done again elsewhere after their lease. */
  stop(graceMs: number): Promise<void>
}

interface Services {
  store: Store
  plugins: PluginRegistry
  checks: ArgumentChecks
  prices: Prices
  /** Traces are exported: requests to language models carry the call's trace context. */
  traced?: boolean
  clock: Clock
  log: Logger
}

/** Finds out after the end of calls what they came to, as their agents ask. Never changes how a call ended. */
export function startAnalysis(services: Services): AnalysisJob {
  const { store, log } = services
  async function run(due: DueAnalysis, signal: AbortSignal): Promise<void> {
    try {
      await analyse(services, due, signal)
    } catch (err) {
      if (signal.aborted) return
      const waitS = WAITS_S[due.attempts - 1]
      log.warn({ err, callId: due.callId, waitS }, 'A call could not be analysed')
      if (waitS !== undefined) return postponeAnalysis(store, due.callId, waitS)
      const words = err instanceof Error ? err.message : String(err)
      await giveUp(services, due, words)
    }
  }
  return startClaimedWork({
    ...{ atOnce: AT_ONCE, mostOfOne: MOST_OF_ONE, intervalMs: POLL_MS },
    claim: (wanted) => claimAnalyses(store, { ...wanted, leaseS: LEASE_S }),
    run,
    onError(err, due) {
      if (due === undefined) log.warn({ err }, 'Calls to be analysed could not be looked for')
      else log.warn({ err, callId: due.callId }, 'An analysis could not be settled')
    },
  })
}

async function analyse(services: Services, { callId, workspaceId }: DueAnalysis, signal: AbortSignal): Promise<void> {
  const tenant = services.store.tenant(workspaceId)
  const call = await callById(tenant, callId)
  const row = call && (await agentById(tenant, call.agent_id))
  // One yardstick for calls of all versions: what the live one asks for.
  const chosen = row && (await agentAsUsed(tenant, row, 'live'))
  const wishes = (chosen?.analysis ?? {}) as AnalysisWishes
  const wantsNothing = wishes.summary === false && !asksForMore(wishes)
  if (call === undefined || row === undefined || wantsNothing || call.turns.length === 0) {
    return settleAnalysis(tenant, callId, undefined)
  }
  const served = await servedAgent(services.store, workspaceId, row)
  if ('refused' in served) {
    return giveUp(services, { callId, workspaceId }, `Quota reached: ${served.refused}`)
  }
  const { agent } = served
  const spent = { inputTokens: 0, outputTokens: 0 }
  const trace = services.traced ? contextOfCall(callId) : undefined
  const found = await ask(services, workspaceId, agent, wishes, transcriptText(call.turns), { signal, spent, trace })
  const extracted = wishes.summary === false ? null : extractedSummary(call.turns)
  if (found === undefined) {
    const error = asksForMore(wishes) ? NO_ANSWER : null
    const nothing = { success: null, reason: null, data: null, disposition: null, error }
    await settleAnalysis(tenant, callId, { summary: extracted, analysis: nothing })
  } else {
    const summary = wishes.summary === false ? null : String(found.summary)
    await settleAnalysis(tenant, callId, { summary, analysis: analysisOf(found, wishes) })
  }
  if (spent.inputTokens + spent.outputTokens === 0) return
  const usage = {
    llmInputTokens: spent.inputTokens,
    llmOutputTokens: spent.outputTokens,
    sttSeconds: 0,
    ttsCharacters: 0,
  }
  const choice = { llm: { provider: agent.llm_provider, model: agent.llm_model } }
  const costs = services.prices.costOf(choice, usage, new Date(services.clock.nowMs()))
  await addAnalysisUsage(tenant, callId, usage, costs)
}

/** What the model found, as it was asked to say it; undefined: it can't. */
async function ask(
  { plugins, checks, log }: Services,
  workspaceId: string,
  agent: ServedAgent,
  wishes: AnalysisWishes,
  transcript: string,
  options: {
    signal: AbortSignal
    spent: { inputTokens: number; outputTokens: number }
    trace: TraceContext | undefined
  },
): Promise<Record<string, unknown> | undefined> {
  const { askModel } = await import('../../runtime/analysis/ask-model.ts')
  const { LLM = [] } = agent.fallbacks as { LLM?: Fallbacks['llm'] }
  const llm = { provider: agent.llm_provider, model: agent.llm_model }
  const choice = { llm, fallbacks: { llm: LLM ?? [] }, workspaceId }
  const messages: { role: 'system' | 'user' | 'assistant'; content: string }[] = [
    { role: 'system', content: instructionsOf(wishes) },
    { role: 'user', content: transcript },
  ]
  const fault = async (found: Record<string, unknown> | undefined): Promise<string | undefined> => {
    if (found === undefined) return 'it is no JSON object'
    const wrong = faultOf(found, wishes)
    if (wrong !== undefined || wishes.data === undefined) return wrong
    return checks.faultOfInput(workspaceId, wishes.data, found.data)
  }
  for (let round = 0; round < 2; round++) {
    const answer = await askModel(plugins, choice, messages, { ...options, log })
    const found = onlyObjectIn(answer)
    const wrong = await fault(found)
    if (wrong === undefined) return found
    messages.push(
      { role: 'assistant', content: answer },
      {
        role: 'user',
        content: `That can't be used: ${wrong}. Answer again with the whole JSON object and nothing else.`,
      },
    )
  }
  return undefined
}

/** No model answered, many times: what can be said without one. */
async function giveUp(
  { store }: Services,
  { callId, workspaceId }: Pick<DueAnalysis, 'callId' | 'workspaceId'>,
  error: string,
): Promise<void> {
  const tenant = store.tenant(workspaceId)
  const call = await callById(tenant, callId)
  if (call === undefined) return settleAnalysis(tenant, callId, undefined)
  const nothing = { success: null, reason: null, data: null, disposition: null, error: cleanText(error, 500) }
  await settleAnalysis(tenant, callId, { summary: extractedSummary(call.turns), analysis: nothing })
}
