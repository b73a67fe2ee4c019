import { initializeLogger, llm } from '@livekit/agents'
import type { AgentSpec } from '../call/types/agent-spec.ts'
import type { Usage } from '../call/types/usage.ts'
import { collectToolSpec } from '../conversation/collecting/collect-tool-spec.ts'
import type { AnswerGuard } from '../conversation/guarding/answer-guard.ts'
import { instructionsFor } from '../conversation/languages/instructions.ts'
import { Breakers } from '../conversation/providers/breaker.ts'
import type { Chain } from '../conversation/providers/chain.ts'
import { closeChain, identityIn, openLlms } from '../conversation/providers/providers.ts'
import { guardedStep } from '../conversation/replying/guarded-step.ts'
import { passagesNote } from '../conversation/replying/knowledge.ts'
import { ResilientLlm } from '../conversation/replying/resilient-llm.ts'
import { streamStep } from '../conversation/replying/stream-step.ts'
import { boundary } from '../lib/async/boundary.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import type { PluginRegistry } from '../plugin/host.ts'
import type { Logger } from '../process/log.ts'

/** One request to the model: what it said and wants called, and how long that took on the clock on the wall. */
export interface ModelStep {
  text: string
  /** `given` is undefined where the arguments are no JSON object. */
  calls: { id: string; name: string; args: string; given: Record<string, unknown> | undefined }[]
  firstTextMs: number
  tookMs: number
  /** No model answered. */
  failed: boolean
}

interface ModelRequest {
  withTools: boolean
  /** A tool that is not the model's now. */
  isHidden(tool: string): boolean
  /** For this answer alone. */
  instructions?: string | undefined
  /** Undefined: nothing is checked. */
  guard: AnswerGuard | undefined
}

export interface TextModelDeps {
  plugins: PluginRegistry
  /** Passages for the caller's words, where the agent has a knowledge base. */
  knowledge?:
    | ((query: string, signal: AbortSignal) => Promise<readonly { filename: string; text: string }[]>)
    | undefined
  /** Measures how long models take. */
  realClock?: Clock
  signal: AbortSignal
  log: Logger
}

/** Health of the providers, as this process's tests know it: tests never make calls avoid a provider. */
const breakers = new Breakers()

/** The agent's language models and what they know of the conversation. Importing this loads @livekit/agents. */
export class TextModel {
  readonly #deps: TextModelDeps
  readonly #chain: Chain<llm.LLM>
  readonly #model: ResilientLlm
  readonly #context = llm.ChatContext.empty()
  readonly #tools: llm.FunctionTool[]
  readonly #usage = { input: 0, output: 0, cachedRead: 0, cacheWrite: 0 }
  #failure: Error | undefined
  #calls = 0
  /** A context keeps its items in the order of these. */
  #place = 1

  static async open(agent: AgentSpec, deps: TextModelDeps): Promise<TextModel> {
    initializeLogger({ pretty: false, level: 'silent' })
    const { plugins, log } = deps
    const chain = await openLlms(
      {
        ...{ source: plugins, keys: plugins.keys.of(agent.workspaceId), identityOf: identityIn(plugins) },
        ...{ breakers, clock: systemClock, log },
      },
      agent,
      { failed: (_stage, message, { fault }, err) => log.debug({ err, fault }, message) },
    )
    return new TextModel(agent, deps, chain)
  }

  private constructor(agent: AgentSpec, deps: TextModelDeps, chain: Chain<llm.LLM>) {
    this.#deps = deps
    this.#chain = chain
    this.#model = new ResilientLlm(chain, Math.random, {
      spent: ({ inputTokens, outputTokens, cachedReadTokens = 0, cacheWriteTokens = 0 }) => {
        this.#usage.input += inputTokens
        this.#usage.output += outputTokens
        this.#usage.cachedRead += cachedReadTokens
        this.#usage.cacheWrite += cacheWriteTokens
      },
    })
    this.#model.on(
      'error',
      boundary('call', ({ error }) => {
        this.#failure = error
      }),
    )
    this.#add('system', instructionsFor(agent.systemPrompt, agent.language, agent))
    const collects = (agent.collect ?? []).map((item) => collectToolSpec(item))
    this.#tools = [...(agent.tools ?? []), ...collects].map(({ name, description, parameters }) =>
      llm.tool({
        name,
        description,
        parameters: parameters as Parameters<typeof llm.tool>[0]['parameters'] & object,
        execute: async () => undefined,
      }),
    )
  }

  get lastFailure(): string | undefined {
    return this.#chain.lastFailure
  }

  /** The last failure will be the same next time. */
  get hopeless(): boolean {
    return this.#chain.hopeless
  }

  get usage(): Pick<Usage, 'llmInputTokens' | 'llmOutputTokens' | 'llmCachedReadTokens' | 'llmCacheWriteTokens'> {
    const { input, output, cachedRead, cacheWrite } = this.#usage
    return {
      llmInputTokens: input,
      llmOutputTokens: output,
      ...(cachedRead === 0 ? {} : { llmCachedReadTokens: cachedRead }),
      ...(cacheWrite === 0 ? {} : { llmCacheWriteTokens: cacheWrite }),
    }
  }

  /** The caller said it. */
  heard(text: string): void {
    this.#add('user', text)
  }

  note(role: 'user' | 'system', text: string): void {
    this.#add(role, text)
  }

  /** The agent says it; the returned function corrects it to what was heard. */
  said(text: string): (heard: string) => void {
    const message = this.#add('assistant', text)
    return (heard) => {
      if (heard === text) return
      if (heard === '') this.#context.items = this.#context.items.filter((item) => item !== message)
      else message.content = [heard]
    }
  }

  returned({ id, name, args, output }: { id: string; name: string; args: string; output: string }): void {
    const [calledAt, returnedAt] = [this.#place++, this.#place++]
    this.#context.insert([
      llm.FunctionCall.create({ callId: id, name, args, createdAt: calledAt }),
      llm.FunctionCallOutput.create({ callId: id, name, output, isError: false, createdAt: returnedAt }),
    ])
  }

  /** Asks the model once. Throws the signal's reason. */
  async ask({ withTools, isHidden, instructions, guard }: ModelRequest): Promise<ModelStep> {
    const { signal, realClock = systemClock } = this.#deps
    const context = await this.#informed(instructions)
    const startedMs = realClock.monotonicMs()
    let firstTextMs: number | undefined
    this.#failure = undefined
    let text = ''
    const tools = withTools ? this.#tools.filter(({ name }) => !isHidden(name)) : []
    const words = guardedStep(guard, context, (asked) => streamStep(this.#model, asked, tools, signal))
    let step = await words.next()
    for (; !step.done; step = await words.next()) {
      firstTextMs ??= realClock.monotonicMs() - startedMs
      text += step.value
    }
    const tookMs = Math.round(realClock.monotonicMs() - startedMs)
    const calls = step.value.calls.map(({ name, args }) => {
      return { id: `tool-${++this.#calls}`, name, args: args || '{}', given: objectIn(args || '{}') }
    })
    return {
      text: text.trim(),
      calls,
      firstTextMs: Math.round(firstTextMs ?? tookMs),
      tookMs,
      failed: this.#failure !== undefined,
    }
  }

  close(): Promise<void> {
    return closeChain(this.#chain, this.#deps.log)
  }

  #add(role: 'system' | 'user' | 'assistant', content: string): llm.ChatMessage {
    return this.#context.addMessage({ role, content, createdAt: this.#place++ })
  }

  /** The context with what the knowledge base says to the caller's last words, and with an order for this answer alone. */
  async #informed(instructions: string | undefined): Promise<llm.ChatContext> {
    const context = this.#context.copy()
    const last = context.items.at(-1)
    const { knowledge, signal } = this.#deps
    if (knowledge !== undefined && last?.type === 'message' && last.role === 'user') {
      const passages = await knowledge(last.textContent ?? '', signal)
      if (passages.length > 0) {
        const content = passagesNote(passages)
        context.items.splice(-1, 0, llm.ChatMessage.create({ role: 'system', content, createdAt: last.createdAt }))
      }
    }
    if (instructions !== undefined) {
      context.addMessage({ role: 'system', content: instructions, createdAt: this.#place })
    }
    return context
  }
}

function objectIn(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
