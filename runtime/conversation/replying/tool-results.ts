import { llm, type voice } from '@livekit/agents'

/** Results that no context has taken up; more are of calls long over. */
const MAX_KEPT = 64

/** Begins the ids of results by which the library says that a tool still runs. */
const STAND_IN = 'lk_running_placeholder/'

interface Returned {
  call: llm.FunctionCall
  output: llm.FunctionCallOutput
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
      this.#keep(call, outputOf(value), false, speechHandle.interrupted)
      return value
    } catch (error) {
      // One that ends the answer returns nothing.
      if (error instanceof Error && error.name !== 'StopResponse') {
        this.#keep(call, 'The tool failed.', true, speechHandle.interrupted)
      }
      throw error
    } finally {
      while (this.#returned.size > MAX_KEPT) this.#returned.delete(this.#returned.keys().next().value ?? callId)
    }
  }

  #keep(call: llm.FunctionCall, text: string, isError: boolean, isCutOff: boolean): void {
    const { callId, name } = call
    const output = llm.FunctionCallOutput.create({ callId, name, output: text, isError, createdAt: this.#nowMs() })
    this.#returned.set(callId, { call, output })
    if (isCutOff) this.#untold.add(callId)
  }

  /** The context of a request with every result there is, each behind its call: a question that came later stays last. */
  complete(context: llm.ChatContext): llm.ChatContext {
    for (const item of context.items) {
      const isResult = item.type === 'function_call_output' && !item.id.startsWith(STAND_IN)
      if (isResult) this.#returned.delete(item.callId)
    }
    this.#untold.clear()
    const missing = [...this.#returned.values()]
    const complete = context.copy()
    const returned = new Set(missing.map(({ call }) => call.callId))
    complete.items = complete.items.filter((item) => item.type !== 'function_call_output' || !returned.has(item.callId))
    const called = new Set(complete.items.flatMap((item) => (item.type === 'function_call' ? [item.callId] : [])))
    for (const { call, output } of missing) {
      const { callId, name, args, createdAt } = call
      if (!called.has(callId)) complete.insert(llm.FunctionCall.create({ callId, name, args, createdAt }))
      complete.items.push(output)
    }
    complete.items = behindCalls(complete.items)
    return complete
  }
}

/** Results behind the calls that they belong to, in their order. One without a call stays where it is. */
function behindCalls(items: readonly llm.ChatItem[]): llm.ChatItem[] {
  const ordered: llm.ChatItem[] = []
  for (const item of items) {
    let at = ordered.length
    if (item.type === 'function_call_output') {
      const call = ordered.findLastIndex((one) => one.type === 'function_call' && one.callId === item.callId)
      if (call >= 0) at = call + 1
      while (ordered[at]?.type === 'function_call' || ordered[at]?.type === 'function_call_output') at++
    }
    ordered.splice(at, 0, item)
  }
  return ordered
}

/** As the library writes it. */
const outputOf = (value: unknown): string => JSON.stringify(value) ?? ''
