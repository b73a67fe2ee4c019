import type { Reply } from './scripted-server.ts'

/** An answer in nobody's own form; each provider's server writes it as it does. */
export interface Answer {
  parts?: readonly Part[]
  /** `none`: the stream ends without saying that the answer does. Default: by itself. */
  stop?: 'length' | 'refusal' | 'safety' | 'none'
  usage?: { input: number; output: number; cached?: number; written?: number; reasoning?: number }
  /** Said in the stream, in place of its end. */
  error?: { status: number; message: string }
}
export type Part = { text: string } | { thought: string } | { call: { id: string; name: string; args: string } }

export interface Dialect {
  model: string
  env(url: string): Record<string, string>
  answer(answer: Answer): Reply
  refusal(status: number, message: string): Reply
}

const sse = (events: readonly object[], end = ''): string[] => [
  ...events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
  end,
]
const json = (status: number, body: object): Reply => ({
  status,
  type: 'application/json',
  pieces: [JSON.stringify(body)],
})

const openai: Dialect = {
  model: 'some-model',
  env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'k' }),
  answer({ parts = [], stop, usage, error }) {
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta, finish_reason }],
    })
    let index = -1
    const events: object[] = parts.map((part) => {
      if ('text' in part) return chunk({ content: part.text })
      if ('thought' in part) return chunk({ reasoning_content: part.thought })
      const { id, name, args } = part.call
      return chunk({ tool_calls: [{ index: ++index, id, type: 'function', function: { name, arguments: args } }] })
    })
    if (stop === 'refusal') events.push(chunk({ refusal: 'I can’t help with that.' }))
    const reasons = { length: 'length', safety: 'content_filter', refusal: 'stop' } as const
    if (error !== undefined) events.push({ error: { message: error.message, code: error.status } })
    else if (stop !== 'none')
      events.push(chunk({}, stop === undefined ? (index >= 0 ? 'tool_calls' : 'stop') : reasons[stop]))
    if (usage !== undefined) {
      const { input, output, cached, written, reasoning } = usage
      const prompt_tokens_details = { cached_tokens: cached, cache_write_tokens: written }
      events.push({
        choices: [],
        usage: {
          prompt_tokens: input,
          completion_tokens: output,
          prompt_tokens_details,
          completion_tokens_details: { reasoning_tokens: reasoning },
        },
      })
    }
    return { pieces: sse(events, stop === 'none' ? '' : 'data: [DONE]\n\n') }
  },
  refusal: (status, message) => json(status, { error: { message, type: 'invalid_request_error' } }),
}

const anthropic: Dialect = {
  model: 'claude-haiku-5-5',
  env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'k' }),
  answer({ parts = [], stop, usage, error }) {
    const { input = 1, output = 1, cached, written, reasoning } = usage ?? {}
    const told = usage && {
      input_tokens: input - (cached ?? 0) - (written ?? 0),
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: written,
    }
    const events: object[] = [{ type: 'message_start', message: { usage: told } }]
    parts.forEach((part, index) => {
      const [content_block, delta] =
        'text' in part
          ? [
              { type: 'text', text: '' },
              { type: 'text_delta', text: part.text },
            ]
          : 'thought' in part
            ? [{ type: 'thinking' }, { type: 'thinking_delta', thinking: part.thought }]
            : [
                { type: 'tool_use', id: part.call.id, name: part.call.name },
                { type: 'input_json_delta', partial_json: part.call.args },
              ]
      events.push({ type: 'content_block_start', index, content_block })
      events.push({ type: 'content_block_delta', index, delta }, { type: 'content_block_stop', index })
    })
    const reasons = { length: 'max_tokens', safety: 'refusal', refusal: 'refusal' } as const
    if (error !== undefined) events.push({ type: 'error', error: { type: 'overloaded_error', message: error.message } })
    else if (stop !== 'none') {
      const details = reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }
      const stop_reason = stop === undefined ? 'end_turn' : reasons[stop]
      events.push({
        type: 'message_delta',
        delta: { stop_reason },
        usage: usage && { output_tokens: output, ...details },
      })
      events.push({ type: 'message_stop' })
    }
    return { pieces: sse(events) }
  },
  refusal: (status, message) => json(status, { type: 'error', error: { type: 'invalid_request_error', message } }),
}

const google: Dialect = {
  model: 'gemini-3.5-flash-lite',
  env: (url) => ({ GOOGLE_BASE_URL: url, GOOGLE_API_KEY: 'k' }),
  answer({ parts = [], stop, usage, error }) {
    const events: object[] = parts.map((part) => ({
      candidates: [{ content: { role: 'model', parts: [partOf(part)] } }],
    }))
    const reasons = { length: 'MAX_TOKENS', safety: 'SAFETY', refusal: 'PROHIBITED_CONTENT' } as const
    const usageMetadata = usage && {
      promptTokenCount: usage.input,
      candidatesTokenCount: usage.output - (usage.reasoning ?? 0),
      thoughtsTokenCount: usage.reasoning,
      cachedContentTokenCount: usage.cached,
    }
    if (error !== undefined)
      events.push({ error: { code: error.status, status: 'UNAVAILABLE', message: error.message } })
    else if (stop !== 'none') {
      events.push({ candidates: [{ finishReason: stop === undefined ? 'STOP' : reasons[stop] }], usageMetadata })
    }
    return { pieces: sse(events) }
  },
  refusal: (status, message) => json(status, { error: { code: status, status: 'INVALID_ARGUMENT', message } }),
}

function partOf(part: Part): object {
  if ('text' in part) return { text: part.text }
  if ('thought' in part) return { text: part.thought, thought: true }
  const { id, name, args } = part.call
  return { functionCall: { id, name, args: JSON.parse(args || '{}') } }
}

export const DIALECTS = { openai, anthropic, google } as const
export type DialectName = keyof typeof DIALECTS
