import type { llm } from '@livekit/agents'
import { boundary } from '../../lib/async/boundary.ts'
import { PatchbayError } from '../../lib/errors.ts'
import type { ResilientLlm } from './resilient-llm.ts'

/** Models that say nothing for this long have failed, all of them. */
const SILENCE_TIMEOUT_MS = 30_000
const CONNECTION = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 10_000 }

/**
 * One request to the model: yields its words, returns the tools it wants called and whether it said anything. A failure of all models
 * is told by the model's `error` event.
 *
 * @throws PatchbayError timeout; the signal's reason
 */
export async function* streamStep(
  model: ResilientLlm,
  context: llm.ChatContext,
  tools: readonly llm.FunctionTool[],
  signal: AbortSignal,
): AsyncGenerator<string, { calls: llm.FunctionCall[]; saidWords: boolean }> {
  const stream = model.chat({
    chatCtx: context,
    connOptions: CONNECTION,
    ...(tools.length === 0 ? {} : { toolCtx: [...tools] }),
  })
  const close = boundary('call', () => stream.close())
  signal.addEventListener('abort', close)
  let silent = false
  const watchdog = setTimeout(
    boundary('call', () => {
      silent = true
      close()
    }),
    SILENCE_TIMEOUT_MS,
  )
  const calls: llm.FunctionCall[] = []
  let saidWords = false
  try {
    for await (const { delta } of stream) {
      watchdog.refresh()
      calls.push(...(delta?.toolCalls ?? []))
      if (delta?.content) {
        saidWords ||= delta.content.trim() !== ''
        yield delta.content
      }
    }
    signal.throwIfAborted()
    if (silent) {
      const params = { action: 'The language model', timeoutMs: SILENCE_TIMEOUT_MS }
      throw new PatchbayError('timeout', { params })
    }
    return { calls, saidWords }
  } finally {
    clearTimeout(watchdog)
    signal.removeEventListener('abort', close)
    close()
  }
}
