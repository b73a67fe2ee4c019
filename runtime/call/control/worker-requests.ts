import { Compile } from 'typebox/compile'
import type { Clock } from '../../lib/clock.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { maskedArguments } from '../../tools/masked.ts'
import { type AskMethod, type AskMethods, KNOWLEDGE_ASK, TOOL_ASK } from '../link/messages.ts'
import type { CallLog } from '../log/call-log.ts'
import type { ToolSpec } from '../types/agent-spec.ts'

/** Results kept for a worker that asks again; a conversation has few calls of tools that run when its worker dies. */
const MAX_KEPT = 64

const toolAsk = Compile(TOOL_ASK)
const knowledgeAsk = Compile(KNOWLEDGE_ASK)

/** Does what a worker asks for. `key` identifies a tool call across all calls and is sent along as an idempotency key. */
export interface AskAnswers {
  tool(callId: string, params: AskMethods['tool']['params'], key: string): Promise<AskMethods['tool']['result']>
  knowledge(callId: string, params: AskMethods['knowledge']['params']): Promise<AskMethods['knowledge']['result']>
}

/** Requests of one call's workers: each is answered once and written to the call log. */
export class WorkerRequests {
  readonly #callId: string
  readonly #log: CallLog
  readonly #answers: AskAnswers
  readonly #clock: Clock
  readonly #specs: readonly ToolSpec[]
  readonly #tools = new Map<string, Promise<AskMethods['tool']['result']>>()

  /** @param specs the tools of the agent */
  constructor(callId: string, log: CallLog, answers: AskAnswers, clock: Clock, specs: readonly ToolSpec[] = []) {
    this.#callId = callId
    this.#log = log
    this.#answers = answers
    this.#clock = clock
    this.#specs = specs
  }

  /** Throws a PatchbayError; what is asked wrongly is `validation`. */
  async ask(method: AskMethod, params: unknown): Promise<AskMethods[AskMethod]['result']> {
    if (method === 'knowledge' && knowledgeAsk.Check(params)) return this.#lookUp(params)
    if (method === 'tool' && toolAsk.Check(params)) return this.#tool(params)
    throw new PatchbayError('validation')
  }

  /** A repeated tool call, perhaps of a lost worker, runs once: every request gets the same result. */
  #tool(params: AskMethods['tool']['params']): Promise<AskMethods['tool']['result']> {
    const known = this.#tools.get(params.id)
    if (known !== undefined) return known
    const running = this.#call(params)
    this.#tools.set(params.id, running)
    const [oldest] = this.#tools.keys()
    if (this.#tools.size > MAX_KEPT && oldest !== undefined) this.#tools.delete(oldest)
    return running
  }

  async #call(params: AskMethods['tool']['params']): Promise<AskMethods['tool']['result']> {
    const { id, name, arguments: given } = params
    const startedMs = this.#clock.monotonicMs()
    const took = () => Math.round(this.#clock.monotonicMs() - startedMs)
    const schema = this.#specs.find((spec) => spec.name === name)?.parameters
    this.#log.append({ type: 'tool_called', id, name, arguments: maskedArguments(schema, given) })
    try {
      const answer = await this.#answers.tool(this.#callId, params, `${this.#callId}:${id}`)
      this.#log.append({ type: 'tool_returned', id, result: answer.output, ms: took() })
      return answer
    } catch (error) {
      const words = error instanceof PatchbayError ? error.message : new PatchbayError('internal').message
      this.#log.append({ type: 'tool_returned', id, result: '', ms: took(), error: words })
      throw error
    }
  }

  async #lookUp(params: AskMethods['knowledge']['params']): Promise<AskMethods['knowledge']['result']> {
    const startedMs = this.#clock.monotonicMs()
    const found = await this.#answers.knowledge(this.#callId, params)
    const ms = Math.round(this.#clock.monotonicMs() - startedMs)
    const hits = found.passages.map(({ documentId, filename, score }) => ({ document_id: documentId, filename, score }))
    this.#log.append({ type: 'knowledge_looked_up', query: params.query, hits, ms })
    return found
  }
}
