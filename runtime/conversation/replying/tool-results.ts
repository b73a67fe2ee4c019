import { llm, type voice } from '@livekit/agents'

/** Results that no context has taken up; more are of calls long over. */
const MAX_KEPT = 64

interface Returned {
  call: llm.FunctionCall
  output: string
  isError: boolean
  /** Since 1970. */
  atMs: number
}

/**
 * What tools returned that the session's context doesn't hold yet: the library adds the results of parallel calls once the last
 * of them has returned, and has nobody answer those whose answer was cut off.
 */
export class ToolResults {
  readonly #nowMs: () => number
  readonly #returned = new Map<string, Returned>()
  /** Results of answers that were cut off, which no request to a model has held. */
  readonly #untold = new Set<string>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** The caller waits for what a tool of a cut-off answer returned. */
  get areUntold(): boolean {
    return this.#untold.size > 0
  }

  /** Keeps what the call of a tool comes to. */
  async keep<T>({ functionCall: call, speechHandle }: voice.RunContext, result: Promise<T>): Promise<T> {
    const { callId } = call
    try {
      const value = await result
      this.#keep({ call, output: outputOf(value), isError: false, atMs: this.#nowMs() }, speechHandle.interrupted)
      return value
    } catch (error) {
      // One that ends the answer returns nothing.
      if (error instanceof Error && error.name !== 'StopResponse') {
        const output = 'The tool failed.'
        this.#keep({ call, output, isError: true, atMs: this.#nowMs() }, speechHandle.interrupted)
      }
      throw error
    } finally {
      while (this.#returned.size > MAX_KEPT) this.#returned.delete(this.#returned.keys().next().value ?? callId)
    }
  }

  #keep(returned: Returned, isCutOff: boolean): void {
    this.#returned.set(returned.call.callId, returned)
    if (isCutOff) this.#untold.add(returned.call.callId)
  }

  /** The context of a request with every result there is; its own is unchanged. */
  complete(context: llm.ChatContext): llm.ChatContext {
    const answered = new Set(
      context.items.flatMap((item) => (item.type === 'function_call_output' ? [item.callId] : [])),
    )
    const missing = [...this.#returned.values()].filter(({ call }) => !answered.has(call.callId))
    for (const callId of answered) this.#returned.delete(callId)
    this.#untold.clear()
    if (missing.length === 0) return context
    const complete = context.copy()
    const called = new Set(complete.items.flatMap((item) => (item.type === 'function_call' ? [item.callId] : [])))
    for (const { call, output, isError, atMs } of missing) {
      const { callId, name, args, createdAt } = call
      if (!called.has(callId)) complete.insert(llm.FunctionCall.create({ callId, name, args, createdAt }))
      complete.insert(llm.FunctionCallOutput.create({ callId, name, output, isError, createdAt: atMs }))
    }
    return complete
  }
}

/** As the library writes it. */
const outputOf = (value: unknown): string => JSON.stringify(value) ?? ''
