import { initializeLogger, llm } from '@livekit/agents'
import { collectTool } from '../../runtime/call/log/collect-output.ts'
import type { AgentSpec } from '../../runtime/call/types/agent-spec.ts'
import { collectToolSpec } from '../../runtime/conversation/collecting/collect-tool-spec.ts'
import type { AnswerGuard } from '../../runtime/conversation/guarding/answer-guard.ts'
import { instructionsFor } from '../../runtime/conversation/languages/instructions.ts'
import { Breakers } from '../../runtime/conversation/providers/breaker.ts'
import { closeChain, identityIn, openLlms } from '../../runtime/conversation/providers/providers.ts'
import { guardedStep } from '../../runtime/conversation/replying/guarded-step.ts'
import { passagesNote } from '../../runtime/conversation/replying/knowledge.ts'
import { ResilientLlm } from '../../runtime/conversation/replying/resilient-llm.ts'
import type { Spent } from '../../runtime/conversation/replying/spending.ts'
import { streamStep } from '../../runtime/conversation/replying/stream-step.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { PluginRegistry } from '../../runtime/plugin/host.ts'
import { MAX_TOKENS } from '../../runtime/plugin-sdk/chat/llm-chunks.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { CollectedOutput } from './chat-collecting.ts'

/** The language model of a chat. Importing this loads @livekit/agents: routes do so with the first chat. */

interface Prompt {
  agent: AgentSpec
  messages: readonly { role: 'user' | 'assistant'; content: string }[]
  passages: readonly { filename: string; text: string }[]
  question: string
  /** What the agent reads besides, before the question. */
  notes?: readonly string[]
  /** The chat was handed to another agent, or fixed steps follow: the model says no more. */
  isOver?(): boolean
  /** A tool that is not the model's now. */
  isHidden?(tool: string): boolean
  /** What tools returned that collect values: the model reads it behind the question. */
  collected?: readonly CollectedOutput[]
  /** The model wants values collected: the first question for them. */
  collect?(wanted: readonly { id: string; name: string }[]): string
  guard?: AnswerGuard | undefined
  /** Calls a tool of the agent: what the model is to read. */
  callTool(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<string>
}

export interface ChatModelUsage {
  inputTokens: number
  outputTokens: number
  /** Parts of the input; undefined where the provider says nothing of them. */
  cachedReadTokens?: number
  cacheWriteTokens?: number
}

/** Rounds of tools in one answer; then it is given without any. */
const MAX_TOOL_STEPS = 10
/** Tools that act on a phone line are useless in a chat. */
const CHAT_TOOLS = new Set(['http', 'knowledge', 'mcp', 'handoff', 'procedure'])

/** What the chats of this process know of the providers' health. */
const breakers = new Breakers()

/**
 * Streams the model's answer piece by piece and returns what it cost: tools are called as the model asks, and where it
 * fails, the agent's fallbacks go on. Aborting the signal cancels the model. Throws `provider_fault` when no model
 * answers, `timeout` when they fall silent, and the signal's reason.
 */
export async function* streamAnswer(
  plugins: PluginRegistry,
  prompt: Prompt,
  options: { signal: AbortSignal; log: Logger },
): AsyncGenerator<string, ChatModelUsage> {
  const { agent } = prompt
  const { signal, log } = options
  // The library's own logger prints what prompts and answers hold; failures are logged through ours.
  initializeLogger({ pretty: false, level: 'silent' })
  signal.throwIfAborted()
  const chain = await openLlms(
    {
      ...{ source: plugins, keys: plugins.keys.of(agent.workspaceId), identityOf: identityIn(plugins) },
      ...{ breakers, clock: systemClock, log },
    },
    agent,
    {
      failed: (_stage, message, { fault }, err) => log.warn({ err, fault }, message),
    },
  )
  const used: ChatModelUsage = { inputTokens: 0, outputTokens: 0 }
  const model = new ResilientLlm(chain, Math.random, { spent: (one) => count(used, one) })
  let failure: Error | undefined
  model.on(
    'error',
    boundary('call', ({ error }) => {
      failure = error
    }),
  )
  const context = contextOf(prompt)
  const tools = toolsOf(agent)
  try {
    for (let step = 0; ; step++) {
      const isLast = step === MAX_TOOL_STEPS
      const { calls, saidWords } = yield* guardedStep(prompt.guard, context, (asked) =>
        streamStep(model, asked, isLast ? [] : tools.filter(({ name }) => prompt.isHidden?.(name) !== true), signal),
      )
      if (failure !== undefined) throw failed(plugins, agent, chain.lastFailure ?? failure.message, failure)
      if (calls.length === 0 || (isLast && saidWords)) return used
      if (isLast) {
        const detail = `it called tools ${MAX_TOOL_STEPS} times, and again where it was to answer without them`
        throw failed(plugins, agent, detail, new Error(detail))
      }
      const wanted = wantedOf(calls, agent)
      if (wanted.length > 0 && prompt.collect !== undefined) {
        const question = prompt.collect(wanted)
        yield saidWords ? ` ${question}` : question
        return used
      }
      for (const call of calls) context.items.push(call, await outputOf(call, prompt, signal))
      if (prompt.isOver?.()) return used
    }
  } finally {
    await closeChain(chain, log)
  }
}

/** The values that the model wants collected. */
function wantedOf(calls: readonly llm.FunctionCall[], agent: AgentSpec): { id: string; name: string }[] {
  return calls.flatMap(({ callId, name }) => {
    const item = agent.collect?.find((one) => collectTool(one.name) === name)
    return item === undefined ? [] : [{ id: callId, name: item.name }]
  })
}

/** A request is over: what it cost, also one that failed. */
function count(used: ChatModelUsage, { inputTokens, outputTokens, cachedReadTokens, cacheWriteTokens }: Spent): void {
  used.inputTokens = sumOf(used.inputTokens, inputTokens)
  used.outputTokens = sumOf(used.outputTokens, outputTokens)
  if (cachedReadTokens !== undefined) used.cachedReadTokens = sumOf(used.cachedReadTokens, cachedReadTokens)
  if (cacheWriteTokens !== undefined) used.cacheWriteTokens = sumOf(used.cacheWriteTokens, cacheWriteTokens)
}

function sumOf(tokens: number | undefined, more: number): number {
  return Math.min((tokens ?? 0) + more, MAX_TOKENS)
}

/** The agent's tools as described to the model; outputOf calls them. */
function toolsOf(agent: AgentSpec): llm.FunctionTool[] {
  const collects = (agent.collect ?? []).map((item) => collectToolSpec(item))
  return [...(agent.tools ?? []).filter(({ kind }) => CHAT_TOOLS.has(kind)), ...collects].map(
    ({ name, description, parameters }) =>
      llm.tool({
        name,
        description,
        parameters: parameters as Parameters<typeof llm.tool>[0]['parameters'] & object,
        execute: async () => undefined,
      }),
  )
}

async function outputOf(call: llm.FunctionCall, prompt: Prompt, signal: AbortSignal): Promise<llm.FunctionCallOutput> {
  const input = parsed(call.args)
  const output =
    input === undefined ? 'Wrong arguments: they are no JSON object' : await prompt.callTool(call.name, input, signal)
  return llm.FunctionCallOutput.create({ callId: call.callId, name: call.name, output, isError: false })
}

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json || '{}')
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** What the model reads: as in a call, passages stand just before the words they are for. */
function contextOf({ agent, messages, passages, notes: told = [], question, collected = [] }: Prompt): llm.ChatContext {
  const context = llm.ChatContext.empty()
  const notes = passages.length === 0 ? [] : [{ role: 'system' as const, content: passagesNote(passages) }]
  const all = [
    { role: 'system' as const, content: instructionsFor(agent.systemPrompt, agent.language, agent) },
    ...messages,
    ...told.map((content) => ({ role: 'system' as const, content })),
    ...notes,
    { role: 'user' as const, content: question },
  ]
  const nowMs = Date.now()
  // A context keeps its messages in the order of their times.
  all.forEach(({ role, content }, i) => {
    context.addMessage({ role, content, createdAt: nowMs - all.length + i })
  })
  for (const { id, name, output } of collected) {
    context.items.push(
      llm.FunctionCall.create({ callId: id, name, args: '{}' }),
      llm.FunctionCallOutput.create({ callId: id, name, output, isError: false }),
    )
  }
  return context
}

function failed(plugins: PluginRegistry, agent: AgentSpec, detail: string, cause: Error): PatchbayError {
  if (cause instanceof PatchbayError) return cause
  return new PatchbayError('provider_fault', {
    params: { provider: plugins.titleOf(agent.llm.provider), detail },
    cause,
  })
}
