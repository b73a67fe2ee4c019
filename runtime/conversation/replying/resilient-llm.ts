import { APIConnectionError, llm } from '@livekit/agents'
import { boundary } from '../../lib/async/boundary.ts'
import { cleanText, parseCleanJson, TextCleaner } from '../../lib/text.ts'
import { STOPPED, THINKING } from '../../plugin-sdk/chat/llm-chunks.ts'
import type { TraceContext } from '../../traces/trace-context.ts'
import { traceScope } from '../../traces/trace-scope.ts'
import type { Candidate, Chain } from '../providers/chain.ts'
import { beforeRetry, MAX_TRIES, PATIENCE, within } from '../providers/patience.ts'
import { StreamFailure } from '../providers/stream-failure.ts'
import { fitContext, MAX_SHORTENINGS } from './fitting-context.ts'
import { Overlap } from './overlap.ts'
import { type Expected, Spending, type Spent, TokenRates } from './spending.ts'

type ChatOptions = Parameters<llm.LLM['chat']>[0]

const ONCE = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 8_000 }
/** As its events allow. */
const MAX_NAME_CHARS = 200
const GO_ON = 'Your answer was cut off by a fault after the words above. Go on exactly from there; repeat nothing.'

interface LlmOptions {
  trace?: TraceContext | undefined
  asked?: (more: Expected) => void
  spent?: (spent: Spent) => void
}

/**
 * The language models of an agent as one. Where nothing was said yet, a failure is tried again and then the next model
 * asked; where something was, the next model goes on from there. LiveKit's own adapter gives up once a token was sent,
 * and knows nothing of other sessions' failures.
 */
export class ResilientLlm extends llm.LLM {
  readonly chain: Chain<llm.LLM>
  readonly random: () => number
  readonly trace: TraceContext | undefined
  readonly asked: (more: Expected) => void
  readonly spent: (spent: Spent) => void
  readonly rates = new TokenRates()
  /** Ids of what the caller said and every model's filter refused: left out from then on, or nothing is answered any more. */
  readonly leftOut = new Set<string>()
  /** How much of the past the models were found to take. */
  shortenings = 0

  /**
   * @param trace requests belong to this span and carry its trace context
   * @param asked called before each request with what it will cost, about, and with the same less once it is over and `spent` was called
   * @param spent called once each request is over, however it ended
   */
  constructor(
    chain: Chain<llm.LLM>,
    random: () => number,
    { trace, asked = () => {}, spent = () => {} }: LlmOptions = {},
  ) {
    super()
    this.chain = chain
    this.random = random
    this.trace = trace
    this.asked = asked
    this.spent = spent
    // The stream sees failures through listeners of its own; without one here an event would be thrown.
    for (const { instance } of chain.candidates) instance.on('error', () => undefined)
  }

  override label(): string {
    return this.chain.first.label()
  }

  override get model(): string {
    return this.chain.first.model
  }

  override get provider(): string {
    return this.chain.first.provider
  }

  override chat(options: ChatOptions): llm.LLMStream {
    return new ResilientStream(this, options)
  }

  override prewarm(): void {
    for (const { instance } of this.chain.candidates) instance.prewarm()
  }
}

class ResilientStream extends llm.LLMStream {
  readonly #owner: ResilientLlm
  readonly #options: ChatOptions
  #said = ''
  #calledTools = false

  constructor(owner: ResilientLlm, options: ChatOptions) {
    super(owner, { chatCtx: options.chatCtx, connOptions: ONCE, ...(options.toolCtx && { toolCtx: options.toolCtx }) })
    this.#owner = owner
    this.#options = options
  }

  protected override async run(): Promise<void> {
    const owner = this.#owner
    const { chain, random } = owner
    const { signal } = this.abortController
    const order = chain.order()
    let filtered = 0
    for (const [i, candidate] of order.entries()) {
      for (let tries = 1; ; tries++) {
        try {
          chain.began(candidate)
          await this.#ask(candidate, order.length > 1)
          chain.succeeded(candidate)
          return
        } catch (error) {
          if (signal.aborted) return
          const untouched = this.#said === '' && !this.#calledTools
          const failure = chain.failed(candidate, error, order[i + 1])
          // Calls of tools can't be taken back, nor said twice.
          if (this.#calledTools) return
          // With the oldest turns left out it may be taken, at once.
          if (failure.refused === 'too_long' && untouched && owner.shortenings < MAX_SHORTENINGS) {
            owner.shortenings++
            tries--
            continue
          }
          if (failure.refused === 'content') filtered++
          // Where nobody else goes on from what was said, the same model does.
          const goesOn = untouched || order[i + 1] === undefined
          if (!goesOn || !failure.retryable || tries >= MAX_TRIES) break
          if (order[i + 1] !== undefined && failure.fault === 'rate_limit') break
          await beforeRetry(random, signal).catch(() => undefined)
          if (signal.aborted) return
        }
      }
    }
    const last = this.#options.chatCtx.items.findLast((item) => item.type === 'message' && item.role === 'user')
    if (filtered === order.length && last !== undefined) owner.leftOut.add(last.id)
    // Half an answer is one: the caller heard it, and may ask on.
    if (this.#said !== '') return
    throw new APIConnectionError({ message: chain.lastFailure ?? 'No language model', options: { retryable: false } })
  }

  async #ask({ instance }: Candidate<llm.LLM>, backed: boolean): Promise<void> {
    const limits = (of: { alone: number; backed: number }): number => (backed ? of.backed : of.alone)
    const overlap = new Overlap(this.#said)
    const cleaner = new TextCleaner()
    const { trace, asked, spent } = this.#owner
    const chatCtx = this.#context()
    const spending = new Spending(instance, chatCtx, this.#options.toolCtx, this.#owner.rates)
    const expected = spending.expected()
    asked(expected)
    const ask = () => instance.chat({ ...this.#options, chatCtx, connOptions: ONCE })
    const stream = trace === undefined ? ask() : traceScope.run(trace, ask)
    const close = boundary('provider', (): void => stream.close())
    const failure = new StreamFailure(instance, stream)
    this.abortController.signal.addEventListener('abort', close, { once: true })
    try {
      let limitMs = limits(PATIENCE.llmFirstTokenMs)
      for (;;) {
        const { done, value } = await within(limitMs, 'The language model', stream.next())
        if (done) break
        limitMs = limits(PATIENCE.llmNextTokenMs)
        spending.count(value)
        this.#pass(value, overlap, cleaner)
      }
      await failure.check()
    } catch (error) {
      spending.failed(error)
      throw error
    } finally {
      spent(spending.total())
      asked({ input_tokens: -expected.input_tokens, output_tokens: -expected.output_tokens })
      failure.stop()
      this.abortController.signal.removeEventListener('abort', close)
      close()
    }
  }

  #pass(chunk: llm.ChatChunk, overlap: Overlap, cleaner: TextCleaner): void {
    if (this.queue.closed) return
    const { delta } = chunk
    const stopped = delta?.extra?.[STOPPED]
    if (typeof stopped === 'string') this.#owner.chain.noted(stopped)
    if (stopped !== undefined || delta?.extra?.[THINKING] !== undefined) return
    if (delta?.toolCalls?.length) {
      this.#calledTools = true
      for (const call of delta.toolCalls) cleanCall(call)
    }
    if (delta?.content === undefined || delta.content === '') {
      this.queue.put(chunk)
      return
    }
    const content = overlap.push(cleaner.push(delta.content))
    this.#said += content
    if (content !== '' || delta.toolCalls?.length) this.queue.put({ ...chunk, delta: { ...delta, content } })
  }

  /** What the model reads: with the words that were said before another one broke off. */
  #context(): llm.ChatContext {
    const { leftOut, shortenings } = this.#owner
    const context = fitContext(this.#options.chatCtx, leftOut, shortenings)
    if (this.#said === '') return context
    context.addMessage({ role: 'assistant', content: this.#said })
    context.addMessage({ role: 'system', content: GO_ON })
    return context
  }
}

/** What a model wants called, as events, tools and the next request may hold it. */
function cleanCall(call: llm.FunctionCall): void {
  call.name = cleanText(call.name, MAX_NAME_CHARS)
  call.args = cleanText(call.args)
  // Written as escapes, which other servers refuse as well.
  if (!call.args.includes('\\u')) return
  try {
    call.args = JSON.stringify(parseCleanJson(call.args))
  } catch {
    // Arguments that are no JSON are answered by what reads them.
  }
}
