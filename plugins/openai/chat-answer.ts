import { randomUUID } from 'node:crypto'
import { CallsInWords } from '../../runtime/plugin-sdk/chat/calls-in-words.ts'
import type { LlmEvent } from '../../runtime/plugin-sdk/chat/chat-request.ts'
import { tokens } from '../../runtime/plugin-sdk/chat/llm-chunks.ts'
import { beginsInThought, ThoughtFilter } from '../../runtime/plugin-sdk/chat/thought-filter.ts'
import { explainFailure, ProviderError, type ProviderIdentity } from '../../runtime/plugin-sdk/provider-error.ts'
import { jsonEvents } from '../../runtime/plugin-sdk/speech/json-events.ts'

/** As servers of this protocol send it: every part may be missing, null, or of another type than OpenAI's. */
interface Chunk {
  choices?: readonly Choice[] | null
  usage?: Usage | null
  error?: { message?: unknown; code?: unknown; type?: unknown } | string | null
}
interface Choice {
  delta?: Delta | null
  /** Of servers that send an answer whole although they were asked to stream. */
  message?: Delta | null
  finish_reason?: string | null
}
interface Delta {
  content?: string | readonly { type?: string; text?: string }[] | null
  refusal?: string | null
  reasoning_content?: string | null
  reasoning?: string | null
  tool_calls?: readonly CallDelta[] | null
  function_call?: { name?: string; arguments?: unknown } | null
}
interface CallDelta {
  index?: number | null
  id?: string | null
  function?: { name?: string | null; arguments?: unknown } | null
}
interface Usage {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  prompt_tokens_details?: { cached_tokens?: unknown; cache_write_tokens?: unknown } | null
  completion_tokens_details?: { reasoning_tokens?: unknown } | null
  /** DeepSeek's name for what was cached. */
  prompt_cache_hit_tokens?: unknown
}

const STOPS: Readonly<Record<string, 'length' | 'safety'>> = { length: 'length', content_filter: 'safety' }

/** One chat completion as it streams, from OpenAI or any server that speaks like it. */
export async function* chatAnswer(
  response: Response,
  model: string,
  provider: ProviderIdentity,
): AsyncGenerator<LlmEvent> {
  const filter = new ThoughtFilter(beginsInThought(model))
  const inWords = new CallsInWords()
  const calls = new CallCollector()
  let finish: string | undefined
  let refused = false
  let usage: Usage | undefined
  for await (const chunk of eventsOf(response)) {
    if (chunk.error) throw brokenOff(provider, chunk.error)
    // Some send it with every chunk, summed up: the last counts.
    if (chunk.usage) usage = chunk.usage
    const [choice] = Array.isArray(chunk.choices) ? chunk.choices : []
    const delta: Delta = choice?.delta ?? choice?.message ?? {}
    const text = inWords.push(filter.push(textOf(delta.content)))
    if (text !== '') yield { type: 'text', text }
    else if (delta.reasoning_content || delta.reasoning || delta.content) yield { type: 'thinking' }
    refused ||= Boolean(delta.refusal)
    for (const call of delta.tool_calls ?? []) calls.push(call)
    if (delta.function_call) calls.push({ index: 0, function: delta.function_call })
    finish ||= choice?.finish_reason ?? undefined
  }
  if (finish === undefined) throw new Error('the answer broke off')
  const rest = inWords.push(filter.flush()) + inWords.flush()
  if (rest !== '') yield { type: 'text', text: rest }
  if (usage !== undefined) yield usageOf(usage)
  if (refused) yield { type: 'stop', reason: 'refusal' }
  const stop = STOPS[finish]
  if (stop !== undefined) yield { type: 'stop', reason: stop, detail: finish }
  if (filter.foundThoughts) yield { type: 'stop', reason: 'thoughts' }
  if (inWords.found) yield { type: 'stop', reason: 'call_in_words' }
  // Some parsers let the words of a call through, too: it is one call.
  if (calls.isEmpty) for (const [index, call] of inWords.calls.entries()) calls.push({ index, function: call })
  for (const call of calls.all()) yield call
}

/** The events of a stream; one alone where the server answers whole. */
async function* eventsOf(response: Response): AsyncGenerator<Chunk> {
  if (/^application\/json/i.test(response.headers.get('content-type') ?? '')) {
    yield (await response.json()) as Chunk
    return
  }
  yield* jsonEvents<Chunk>(response)
}

function textOf(content: Delta['content']): string {
  if (typeof content === 'string') return content
  // Mistral's reasoning models send parts; those of type thinking are not for the caller.
  return (content ?? []).map(({ type, text }) => (type === 'thinking' ? '' : (text ?? ''))).join('')
}

function brokenOff(provider: ProviderIdentity, error: NonNullable<Chunk['error']>): ProviderError {
  const { message, code, type } =
    typeof error === 'string' ? { message: error, code: undefined, type: undefined } : error
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : undefined
  const name = [code, type].find((value) => typeof value === 'string')
  return new ProviderError(explainFailure(provider, { status, code: name, message }))
}

function usageOf(usage: Usage): LlmEvent {
  const cached = tokens(usage.prompt_tokens_details?.cached_tokens) ?? tokens(usage.prompt_cache_hit_tokens)
  const written = tokens(usage.prompt_tokens_details?.cache_write_tokens)
  const reasoning = tokens(usage.completion_tokens_details?.reasoning_tokens)
  return {
    type: 'usage',
    inputTokens: tokens(usage.prompt_tokens) ?? 0,
    outputTokens: tokens(usage.completion_tokens) ?? 0,
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
    ...(written === undefined ? {} : { cacheWriteTokens: written }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
    raw: usage as Record<string, unknown>,
  }
}

interface Call {
  index: number | undefined
  id: string
  name: string
  text: string
}

/**
 * Tool calls out of their pieces. A new id begins a call whatever its index, and so does a name behind a call that is whole:
 * Ollama gives every call the index 0, others none.
 */
class CallCollector {
  readonly #calls: Call[] = []

  push({ index, id, function: piece }: CallDelta): void {
    const text = argumentsOf(piece?.arguments)
    const call = this.#openCall(index ?? undefined, id ?? '', piece?.name ?? '')
    call.text += text
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0
  }

  all(): LlmEvent[] {
    return this.#calls.map(({ id, name, text }) => {
      return { type: 'tool_call', id: id || `call_${randomUUID()}`, name, arguments: text }
    })
  }

  #openCall(index: number | undefined, id: string, name: string): Call {
    const last = this.#calls.at(-1)
    const same =
      id === ''
        ? this.#calls.findLast((call) => index === undefined || call.index === undefined || call.index === index)
        : this.#calls.find((call) => call.id === id)
    // A name again, without an id, where the arguments before it are whole: the next call.
    const isNext = same !== undefined && id === '' && name !== '' && isWhole(same.text)
    if (same !== undefined && !isNext) {
      if (same.name === '') same.name = name
      return same
    }
    // An id that comes late, behind a first piece without one.
    if (id !== '' && last !== undefined && last.id === '' && last.index === index && name === '') {
      last.id = id
      return last
    }
    const call = { index, id, name, text: '' }
    this.#calls.push(call)
    return call
  }
}

/** Text, as OpenAI has it, or the object itself, as some servers do. */
function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : ''
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
