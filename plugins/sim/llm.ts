import { randomUUID } from 'node:crypto'
import { type APIConnectOptions, DEFAULT_API_CONNECT_OPTIONS, llm } from '@livekit/agents'
import { chatRequestOf } from '../../runtime/plugin-sdk/chat/chat-request.ts'
import { estimateTokens, readChatText } from '../../runtime/plugin-sdk/chat/chat-text.ts'
import { delay, Faults } from './fault.ts'
import type { LlmScenario } from './scenario.ts'

const OTHERWISE = 'You said: {question}'

/** A language model that says what its scenario has it say, when its scenario has it say it. */
export class SimLLM extends llm.LLM {
  readonly scenario: LlmScenario
  readonly faults: Faults

  constructor(scenario: LlmScenario) {
    super()
    this.scenario = scenario
    this.faults = new Faults(scenario.fault)
  }

  override label(): string {
    return 'sim.LLM'
  }

  override get model(): string {
    return 'scenario'
  }

  override get provider(): string {
    return 'sim'
  }

  override chat(options: {
    chatCtx: llm.ChatContext
    toolCtx?: llm.ToolContextLike
    connOptions?: APIConnectOptions
  }): llm.LLMStream {
    return new SimStream(this, options)
  }
}

class SimStream extends llm.LLMStream {
  readonly #owner: SimLLM

  constructor(
    owner: SimLLM,
    { chatCtx, toolCtx, connOptions = DEFAULT_API_CONNECT_OPTIONS }: Parameters<SimLLM['chat']>[0],
  ) {
    super(owner, { chatCtx, toolCtx, connOptions })
    this.#owner = owner
  }

  protected override async run(): Promise<void> {
    const { scenario, faults } = this.#owner
    const { signal } = this.abortController
    const { sources, turns } = readChatText(chatRequestOf(this.chatCtx, undefined, undefined).messages)
    const question = turns.findLast((turn) => turn.role === 'user')?.text ?? ''
    const { items } = this.chatCtx
    // A tool is called once per question.
    const asked = items.findLastIndex((item) => item.type === 'message' && item.role === 'user')
    const result = items.findLast((item, at) => at > asked && item.type === 'function_call_output')
    const output = result?.type === 'function_call_output' ? result.output : undefined
    const tool = output === undefined ? entryFor(scenario, question)?.tool : undefined
    const text = tool === undefined ? reply(scenario, question, output) : ''
    const limit = faults.begin()
    const id = randomUUID()
    const startMs = performance.now() + (scenario.firstTokenMs ?? 0)
    const gapMs = scenario.tokensPerSecond ? 1000 / scenario.tokensPerSecond : 0
    let sent = 0
    for (const content of text.trim().match(/\s*\S+/g) ?? []) {
      if (sent >= limit) break
      await delay(startMs + sent * gapMs - performance.now(), signal)
      if (signal.aborted || this.queue.closed) return
      this.queue.put({ id, delta: { role: 'assistant', content } })
      sent++
    }
    if (limit !== Number.POSITIVE_INFINITY) await faults.strike(signal)
    if (tool !== undefined && !this.queue.closed) {
      await delay(startMs - performance.now(), signal)
      const call = llm.FunctionCall.create({ callId: id, name: tool.name, args: JSON.stringify(tool.arguments) })
      this.queue.put({ id, delta: { role: 'assistant', toolCalls: [call] } })
    }
    if (this.queue.closed) return
    const promptTokens = estimateTokens([...sources, ...turns.map((turn) => turn.text)])
    const completionTokens = estimateTokens([text])
    this.queue.put({
      id,
      usage: { promptTokens, completionTokens, promptCachedTokens: 0, totalTokens: promptTokens + completionTokens },
    })
  }
}

function entryFor({ script = [] }: LlmScenario, question: string) {
  const asked = wordsOf(question)
  return script.find((line) => wordsOf(line.question) === asked)
}

/** The words alone: small letters without accents or marks. */
function wordsOf(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return (
    plain
      .replace(/['’]/g, '')
      .match(/[\p{L}\p{N}]+/gu)
      ?.join(' ') ?? ''
  )
}

function reply(scenario: LlmScenario, question: string, output: string | undefined): string {
  const { otherwise = OTHERWISE } = scenario
  const text = entryFor(scenario, question)?.answer ?? otherwise.replaceAll('{question}', () => question)
  return output === undefined ? text : text.replaceAll('{output}', () => output)
}
