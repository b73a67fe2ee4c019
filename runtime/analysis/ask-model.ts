import { initializeLogger, llm } from '@livekit/agents'
import type { AgentSpec } from '../call/types/agent-spec.ts'
import { Breakers } from '../conversation/providers/breaker.ts'
import { closeChain, identityIn, openLlms } from '../conversation/providers/providers.ts'
import { ResilientLlm } from '../conversation/replying/resilient-llm.ts'
import { boundary } from '../lib/async/boundary.ts'
import { signalWithin } from '../lib/async/signal-within.ts'
import { systemClock } from '../lib/clock.ts'
import type { PluginRegistry } from '../plugin/host.ts'
import type { Logger } from '../process/log.ts'
import type { TraceContext } from '../traces/trace-context.ts'

/** One question to a language model, outside of any conversation. Importing this loads @livekit/agents. */

const CONNECTION = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 20_000 }
const TIMEOUT_MS = 60_000
const breakers = new Breakers()

type ModelChoice = Pick<AgentSpec, 'llm' | 'fallbacks' | 'language' | 'workspaceId'>

interface AnalysisUsage {
  inputTokens: number
  outputTokens: number
}

/** The model's answer to messages, whole. Throws when no model answers, and the signal's reason. */
export async function askModel(
  plugins: PluginRegistry,
  choice: ModelChoice,
  messages: readonly { role: 'system' | 'user' | 'assistant'; content: string }[],
  {
    signal,
    log,
    spent,
    trace,
  }: { signal: AbortSignal; log: Logger; spent: AnalysisUsage; trace?: TraceContext | undefined },
): Promise<string> {
  initializeLogger({ pretty: false, level: 'silent' })
  const agent = { ...choice, temperature: 0 } as AgentSpec
  const keys = plugins.keys.of(choice.workspaceId)
  const deps = { source: plugins, keys, identityOf: identityIn(plugins), breakers, clock: systemClock, log }
  const chain = await openLlms(deps, agent, { failed: (_stage, message, _failure, err) => log.warn({ err }, message) })
  const model = new ResilientLlm(chain, Math.random, {
    trace,
    spent: ({ inputTokens, outputTokens }) => {
      spent.inputTokens += inputTokens
      spent.outputTokens += outputTokens
    },
  })
  let failure: Error | undefined
  model.on(
    'error',
    boundary('provider', ({ error }) => {
      failure = error
    }),
  )
  const context = llm.ChatContext.empty()
  for (const { role, content } of messages) context.addMessage({ role, content })
  const limit = signalWithin(TIMEOUT_MS, signal)
  const stream = model.chat({ chatCtx: context, connOptions: CONNECTION })
  const close = boundary('provider', () => stream.close())
  limit.addEventListener('abort', close)
  try {
    let answer = ''
    for await (const { delta } of stream) {
      answer += delta?.content ?? ''
    }
    limit.throwIfAborted()
    if (failure !== undefined) throw new Error(chain.lastFailure ?? failure.message, { cause: failure })
    return answer
  } finally {
    limit.removeEventListener('abort', close)
    close()
    await closeChain(chain, log)
  }
}
