/**
 * A language model of the AI SDK (`@ai-sdk/*`, specifications v2 to v4 of its LanguageModel) as a plugin:
 *
 *     import { createMistral } from '@ai-sdk/mistral'
 *     import { fromAiSdk } from '@patchbay/plugin/ai-sdk'
 *
 *     export default fromAiSdk((host, { model = 'mistral-small-latest' }) =>
 *       createMistral({ apiKey: host.env.get('MISTRAL_API_KEY') })(model),
 *     )
 */
import {
  type ChatRequest,
  definePlugin,
  type Factories,
  type Host,
  type LlmEvent,
  type Message,
  type Options,
  ProviderError,
  type Tool,
} from './mod.ts'

/** What is used of the AI SDK's model, of whichever specification. */
export interface AiSdkModel {
  readonly provider: string
  doStream(options: never): PromiseLike<{ stream: ReadableStream<unknown> }>
}

/** The plugin of a provider of the AI SDK. `make` is called once for each session. */
export function fromAiSdk(make: (host: Host, options: Options) => AiSdkModel | Promise<AiSdkModel>): Factories {
  return definePlugin({
    llm: async (host, options) => {
      const model = await make(host, options)
      return { chat: (request, signal) => chat(model, request, signal, host) }
    },
  })
}

async function* chat(
  model: AiSdkModel,
  request: ChatRequest,
  signal: AbortSignal,
  host: Host,
): AsyncGenerator<LlmEvent> {
  try {
    const { stream } = await model.doStream(callOf(request, signal) as never)
    for await (const part of stream as unknown as AsyncIterable<StreamPart>) {
      if (part.type === 'error') throw part.error
      if (part.type === 'stream-start') for (const warning of part.warnings) host.log.warn(wordsOf(warning))
      yield* eventsOf(part)
    }
  } catch (error) {
    if (signal.aborted) return
    throw judged(model.provider, error)
  }
}

function callOf({ messages, tools, temperature }: ChatRequest, signal: AbortSignal): object {
  return {
    prompt: promptOf(messages),
    abortSignal: signal,
    ...(tools.length === 0 ? {} : { tools: tools.map(toolOf), toolChoice: { type: 'auto' } }),
    ...(temperature === undefined ? {} : { temperature }),
  }
}

const toolOf = ({ name, description, parameters }: Tool): object => ({
  type: 'function',
  name,
  description,
  inputSchema: parameters,
})

interface PromptMessage {
  role: string
  content: string | object[]
}

/** Parts of one speaker that follow each other are one message: providers refuse calls of tools that are parted from their results. */
function promptOf(messages: readonly Message[]): PromptMessage[] {
  const prompt: PromptMessage[] = []
  for (const message of messages) {
    const { role, content } = promptMessageOf(message)
    const last = prompt.at(-1)
    if (last?.role === role && Array.isArray(last.content) && Array.isArray(content)) last.content.push(...content)
    else prompt.push({ role, content })
  }
  return prompt
}

function promptMessageOf(message: Message): PromptMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content }
    case 'tool_call': {
      const { id, name } = message
      return {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: id, toolName: name, input: parsed(message.arguments) }],
      }
    }
    case 'tool_result': {
      const output = { type: 'text', value: message.content }
      return {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: message.id, toolName: message.name, output }],
      }
    }
    default:
      return { role: message.role, content: [{ type: 'text', text: message.content }] }
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return {}
  }
}

/** The parts of a stream that matter here; of others there is only the type. */
type StreamPart =
  | { type: 'text-delta'; delta: string }
  | { type: 'reasoning-start' | 'reasoning-delta' }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string; providerExecuted?: boolean }
  | { type: 'stream-start'; warnings: readonly unknown[] }
  | { type: 'finish'; usage: Usage; finishReason: string | { unified: string; raw?: string | undefined } }
  | { type: 'error'; error: unknown }

type Count = number | undefined
/** Nested since v3. */
interface Usage {
  inputTokens?: Count | { total?: Count; cacheRead?: Count; cacheWrite?: Count }
  outputTokens?: Count | { total?: Count; reasoning?: Count }
  cachedInputTokens?: Count
  reasoningTokens?: Count
  raw?: Record<string, unknown> | undefined
}

function* eventsOf(part: StreamPart): Generator<LlmEvent> {
  switch (part.type) {
    case 'text-delta':
      yield { type: 'text', text: part.delta }
      return
    case 'reasoning-start':
    case 'reasoning-delta':
      yield { type: 'thinking' }
      return
    case 'tool-call':
      // What the provider runs itself is none of the agent's tools.
      if (part.providerExecuted === true) return
      yield { type: 'tool_call', id: part.toolCallId, name: part.toolName, arguments: part.input }
      return
    case 'finish':
      yield* stopOf(part.finishReason)
      yield* usageOf(part.usage)
  }
}

function* stopOf(reason: Extract<StreamPart, { type: 'finish' }>['finishReason']): Generator<LlmEvent> {
  const { unified, raw } = typeof reason === 'string' ? { unified: reason, raw: undefined } : reason
  const detail = raw === undefined ? {} : { detail: raw }
  if (unified === 'length' || unified === 'interrupted') yield { type: 'stop', reason: 'length', ...detail }
  if (unified === 'content-filter') yield { type: 'stop', reason: 'safety', ...detail }
}

function* usageOf({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens, raw }: Usage): Generator<LlmEvent> {
  const input = typeof inputTokens === 'object' ? inputTokens : { total: inputTokens, cacheRead: cachedInputTokens }
  const output = typeof outputTokens === 'object' ? outputTokens : { total: outputTokens, reasoning: reasoningTokens }
  if (input.total === undefined && output.total === undefined) return
  const parts = {
    cachedInputTokens: input.cacheRead,
    cacheWriteTokens: 'cacheWrite' in input ? input.cacheWrite : undefined,
    reasoningTokens: output.reasoning,
    raw,
  }
  yield {
    type: 'usage',
    inputTokens: input.total ?? 0,
    outputTokens: output.total ?? 0,
    ...(Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as object),
  }
}

const wordsOf = (warning: unknown): string => `The AI SDK warns: ${JSON.stringify(warning)}`

/** An APICallError has the HTTP status and what the provider answered. */
interface CallFault {
  name?: unknown
  message?: unknown
  statusCode?: unknown
  responseBody?: unknown
  /** Of a RetryError. */
  lastError?: unknown
}

function judged(provider: string, error: unknown): unknown {
  if (error instanceof ProviderError || typeof error !== 'object' || error === null) return error
  const { name, message, statusCode, responseBody, lastError } = error as CallFault
  if (lastError !== undefined) return judged(provider, lastError)
  const title = provider.split('.')[0] ?? provider
  if (typeof statusCode === 'number') {
    return ProviderError.ofStatus(title, statusCode, typeof responseBody === 'string' ? responseBody : String(message))
  }
  if (name === 'AI_APICallError') return ProviderError.unreachable(title, error)
  if (name === 'AI_LoadAPIKeyError') return new ProviderError(String(message), { fault: 'authentication' })
  return error
}
