import { Compile } from 'typebox/compile'
import { boundary } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { maskedArguments } from '../../tools/masked.ts'
import { type AskMethod, type AskMethods, HAND_OFF_ASK, KNOWLEDGE_ASK, SECRET_ASK, TOOL_ASK } from '../link/messages.ts'
import type { CallLog } from '../log/call-log.ts'
import type { AgentSpec } from '../types/agent-spec.ts'
import { HANDED_OFF_OUTPUT } from '../types/hand-off.ts'
import { BEGIN_PROCEDURE, procedureText } from '../types/procedure.ts'
import { type HandoffOrder, handoffFault } from './hand-off.ts'

/** Results kept for a worker that asks again; a conversation has few calls of tools that run when its worker dies. */
const MAX_KEPT = 64
/** What is said before a hand-off may last so long. */
const HAND_OFF_WITHIN_MS = 60_000
const TOO_LATE = 'Another agent has the call by now.'

const toolAsk = Compile(TOOL_ASK)
const handOffAsk = Compile(HAND_OFF_ASK)
const secretAsk = Compile(SECRET_ASK)
const knowledgeAsk = Compile(KNOWLEDGE_ASK)

/** What was collected from the caller, by name. */
export interface CollectedValues {
  /** For templates of every tool. */
  readonly collected: Readonly<Record<string, string>>
  /** For tools that list them. Never logged. */
  readonly secrets: Readonly<Record<string, string>>
}

/** Whose question it is: the agent that has the call. */
interface Asker {
  callId: string
  agentId: string
  agentVersion?: number | undefined
}

/** Does what a worker asks for. `key` identifies a tool call across all calls and is sent along as an idempotency key. */
export interface AskAnswers {
  /** `handoff`: the tool hands the call to another agent. */
  tool(
    of: Asker,
    params: AskMethods['tool']['params'],
    key: string,
    values: CollectedValues,
  ): Promise<AskMethods['tool']['result'] & { handoff?: HandoffOrder }>
  knowledge(of: Asker, params: AskMethods['knowledge']['params']): Promise<AskMethods['knowledge']['result']>
}

interface WorkerRequestsOptions {
  callId: string
  log: CallLog
  answers: AskAnswers
  clock: Clock
  /** The agent that has the call. */
  agent(): AgentSpec
  /** No worker runs the conversation: there is nobody who has anything to say before a hand-off. */
  isAlone(): boolean
  /** Called once for each hand-off. */
  handOff(order: HandoffOrder): void
}

/** Requests of one call's workers: each is answered once and written to the call log. */
export class WorkerRequests {
  readonly #options: WorkerRequestsOptions
  readonly #secrets: Record<string, string> = {}
  readonly #tools = new Map<string, Promise<AskMethods['tool']['result']>>()
  /** A hand-off that waits for the worker's last words. */
  #armed: { id: string; order: HandoffOrder; timer: NodeJS.Timeout } | undefined

  constructor(options: WorkerRequestsOptions) {
    this.#options = options
  }

  /** Throws a PatchbayError; what is asked wrongly is `validation`. */
  async ask(method: AskMethod, params: unknown): Promise<AskMethods[AskMethod]['result']> {
    if (method === 'knowledge' && knowledgeAsk.Check(params)) return this.#lookUp(params)
    if (method === 'tool' && toolAsk.Check(params)) return this.#tool(params)
    if (method === 'hand_off' && handOffAsk.Check(params)) return this.#go(params.id)
    if (method === 'secret' && secretAsk.Check(params)) {
      this.#secrets[params.name] = params.value
      return {}
    }
    throw new PatchbayError('validation')
  }

  /** The worker has said all. It reads the answer before its session is closed. */
  #go(id: string): Record<string, never> {
    if (this.#armed?.id === id) setImmediate(boundary('call', () => this.handOff()))
    return {}
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
    const { callId, log, answers, clock, agent } = this.#options
    const { id, name, arguments: given } = params
    const startedMs = clock.monotonicMs()
    const took = () => Math.round(clock.monotonicMs() - startedMs)
    const { agentId, agentVersion, tools = [] } = agent()
    const schema = tools.find((spec) => spec.name === name)?.parameters
    log.append({ type: 'tool_called', id, name, arguments: maskedArguments(schema, given) })
    try {
      if (name === BEGIN_PROCEDURE) return this.#beginProcedure(id, given, took)
      const { output: result, handoff } = await answers.tool(
        { callId, agentId, agentVersion },
        params,
        `${callId}:${id}`,
        { collected: log.state.collected, secrets: { ...this.#secrets } },
      )
      const output = handoff === undefined ? result : this.#arm(id, handoff, agentId)
      log.append({ type: 'tool_returned', id, result: output, ms: took() })
      return { output }
    } catch (error) {
      const words = error instanceof PatchbayError ? error.message : new PatchbayError('internal').message
      log.append({ type: 'tool_returned', id, result: '', ms: took(), error: words })
      throw error
    }
  }

  /** The text of a procedure; from here on a worker makes its fixed steps. */
  #beginProcedure(id: string, { name }: Record<string, unknown>, took: () => number): { output: string } {
    const { log, agent } = this.#options
    const procedure = agent().procedures?.find((one) => one.name === name)
    const output = procedure === undefined ? 'There is no such procedure.' : procedureText(procedure)
    log.append({ type: 'tool_returned', id, result: output, ms: took() })
    if (procedure !== undefined) log.append({ type: 'procedure_begun', id, name: procedure.name })
    return { output }
  }

  /** The call is to be handed on, once the worker has said what it has to say; returns what the model reads. */
  #arm(id: string, order: HandoffOrder, by: string): string {
    const { log, agent, isAlone } = this.#options
    const { agentId } = order.agent
    // Two hand-offs at once: the first one counts.
    const isFirst = agent().agentId === by && this.#armed === undefined
    const fault = isFirst ? handoffFault(log.state, by, agentId) : TOO_LATE
    if (fault !== undefined) return fault
    const timer = setTimeout(
      boundary('call', () => this.handOff()),
      HAND_OFF_WITHIN_MS,
    )
    this.#armed = { id, order, timer }
    if (isAlone()) setImmediate(boundary('call', () => this.handOff()))
    return HANDED_OFF_OUTPUT
  }

  /** Hands the call on where that waits for the worker's last words. */
  handOff(): void {
    const armed = this.#armed
    if (armed === undefined) return
    clearTimeout(armed.timer)
    this.#armed = undefined
    this.#options.handOff(armed.order)
  }

  /** The call is over. */
  close(): void {
    clearTimeout(this.#armed?.timer)
    this.#armed = undefined
  }

  async #lookUp(params: AskMethods['knowledge']['params']): Promise<AskMethods['knowledge']['result']> {
    const { callId, log, answers, clock, agent } = this.#options
    const startedMs = clock.monotonicMs()
    const { agentId, agentVersion } = agent()
    const found = await answers.knowledge({ callId, agentId, agentVersion }, params)
    const ms = Math.round(clock.monotonicMs() - startedMs)
    const hits = found.passages.map(({ documentId, filename, score }) => ({ document_id: documentId, filename, score }))
    log.append({ type: 'knowledge_looked_up', query: params.query, hits, ms })
    return found
  }
}
