import { type EndCause, outcomeOf } from '../../call/control/session.ts'
import type { LinkedConversation, OpenConversation, SessionPort } from '../../call/link/linked-conversation.ts'
import type { AskMethod, AskMethods } from '../../call/link/messages.ts'
import { CallLog } from '../../call/log/call-log.ts'
import { type CallEvent, type CallEventBody, isPassing } from '../../call/log/events.ts'
import { atTimesOfTheLine, mediaEvent } from '../../call/path.ts'
import { CallTimeline } from '../../call/timeline.ts'
import type { AgentSpec, SessionLimits } from '../../call/types/agent-spec.ts'
import type { AgentState, LegEndReason, LegEvents } from '../../call/types/leg.ts'
import { BEGIN_PROCEDURE, procedureText } from '../../call/types/procedure.ts'
import { boundary } from '../../lib/async/boundary.ts'
import { endedBy } from '../../lib/async/ended-by.ts'
import { signalWithin } from '../../lib/async/signal-within.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StoredKeys } from '../../plugin/stored-keys.ts'
import type { LoopbackCall } from '../../plugin-sdk/telephony/carrier.ts'
import { TRANSFER_OUTPUT } from '../../tools/transfer-output.ts'
import type { MockAnswer } from '../mocks.ts'
import { handedOff, type NextAgents } from '../next-agents.ts'
import type { CallerPhone } from './caller-phone.ts'

/** An answer that was lost on the line is sent again. */
const CONNECT_TIMEOUT_MS = 20_000

export interface SpokenCallOptions {
  /** For logs. */
  callId: string
  agent: AgentSpec
  /** Of its workspace's own accounts at providers. */
  keys: StoredKeys
  limits: SessionLimits
  call: LoopbackCall
  openConversation: OpenConversation
  clock: Clock
  /** Puts the caller at the calling end. */
  takePhone(leg: Awaited<LoopbackCall['calling']>, failed: (error: unknown) => void): CallerPhone
  /** Answers a call of a tool. What it throws ends the call. */
  callTool(name: string, given: Record<string, unknown>): Promise<MockAnswer>
  handoffs: NextAgents
  lookUp(query: string): Promise<readonly { filename: string; text: string }[]>
  tell?: ((event: CallEvent) => void) | undefined
  signal: AbortSignal
}

/**
 * One call in sound and real time: the conversation of a voice worker at the called end, a simulated caller at the other. What an api node
 * does for a call is done here, but that tools are mocks and nothing is stored.
 */
export class SpokenCall {
  readonly #options: SpokenCallOptions
  readonly #log: CallLog
  readonly #events: CallEvent[] = []
  readonly #over = Promise.withResolvers<EndCause>()
  readonly #timeline: CallTimeline
  readonly #toolsAsked = new Map<string, Promise<{ output: string }>>()
  #answeredMs = 0
  /** What happened before the call was answered. */
  #early: (() => void)[] | undefined = []
  #conversation: LinkedConversation | undefined
  /** What the agent does, and what it was to say before the caller held the phone. */
  #agent: { state: AgentState; said: string[] } = { state: 'listening', said: [] }
  #phone: CallerPhone | undefined

  constructor(options: SpokenCallOptions) {
    const { call, clock, tell } = options
    this.#options = options
    this.#timeline = new CallTimeline(call.called.format, (atMs) => atMs - this.#answeredMs)
    this.#log = new CallLog(clock, [
      (event) => {
        if (!isPassing(event)) this.#events.push(event)
        tell?.(event)
      },
    ])
    this.#over.promise.catch(() => {})
  }

  /** Runs to the end of the call and returns its log. Throws what a tool or the caller threw, and the signal's reason. */
  async run(): Promise<CallEvent[]> {
    const { agent, keys, limits, call, callId, clock, openConversation, signal } = this.#options
    const { called } = call
    try {
      const open = { session: 0, callId, agent, keys: { ...keys }, limits, format: called.format, elapsedMs: 0 }
      const conversation = await openConversation(open, this.#port())
      this.#conversation = conversation
      called.start(this.#callerEvents(conversation))
      this.#answeredMs = clock.monotonicMs()
      this.#log.append({ type: 'answered' })
      called.answer()
      for (const late of this.#early ?? []) late()
      this.#early = undefined
      const connected = endedBy(call.calling, signalWithin(CONNECT_TIMEOUT_MS, signal))
      const phone = this.#options.takePhone(await connected, this.#over.reject)
      for (const text of this.#agent.said) phone.said(text)
      phone.agentState(this.#agent.state)
      this.#phone = phone
      const cause = await endedBy(this.#over.promise, signal)
      await this.#leave(cause)
      return this.#events
    } finally {
      this.#phone?.stop()
      await this.#conversation?.close('the test is over')
      called.close('the test is over')
      await call.close()
    }
  }

  /** The conversation tells what was heard until now; then the call has ended. */
  async #leave(cause: EndCause): Promise<void> {
    const { clock } = this.#options
    this.#phone?.stop()
    const durationMs = clock.monotonicMs() - this.#answeredMs
    await this.#conversation?.close(cause.reason)
    const { status, endReason: end_reason, disposition, error } = outcomeOf(cause, true, this.#log.state)
    const why = error === undefined ? {} : { error }
    this.#log.append({ type: 'ended', status, end_reason, disposition, ...why, duration_ms: Math.round(durationMs) })
  }

  /** What the called end hears of the caller. */
  #callerEvents(conversation: LinkedConversation): LegEvents {
    const { clock } = this.#options
    const ended: Partial<Record<LegEndReason, EndCause['reason']>> = { policy_violation: 'connection_lost' }
    return {
      audio: (bytes, timestamp) => {
        this.#timeline.heard(bytes, timestamp, clock.monotonicMs())
        conversation.audio(bytes, timestamp)
      },
      text: () => undefined,
      dtmf: (digit) => {
        const event = this.#log.append({ type: 'key', digit })
        if (event !== undefined) conversation.input(event)
      },
      played: (markId) => conversation.played(markId),
      media: (figures) => this.#log.append(mediaEvent(figures)),
      ended: (reason) => this.#over.resolve({ reason: ended[reason] ?? reason }),
    }
  }

  /** What the conversation does to the call. */
  #port(): SessionPort {
    const { call, clock } = this.#options
    const { called } = call
    const rateHz = called.format.sampleRateHz
    return {
      sendAudio: (bytes, timestamp) => {
        this.#timeline.said(bytes, clock.monotonicMs(), (timestamp * 1_000) / rateHz)
        called.sendAudio(bytes)
      },
      state: (state) => {
        this.#agent.state = state
        this.#phone?.agentState(state)
      },
      tell: (event, sound) => this.#whenAnswered(() => this.#tell(atTimesOfTheLine(this.#timeline, event, sound))),
      // No other worker goes on with the call of a test.
      owes: () => undefined,
      clear: () => {
        this.#timeline.cleared(clock.monotonicMs())
        called.clear()
      },
      mark: (id) => called.mark(id),
      ended: (reason, error) =>
        this.#whenAnswered(() =>
          this.#over.resolve({
            reason: reason === 'worker_drained' ? 'error' : reason,
            ...(error === undefined ? {} : { error }),
          }),
        ),
      ask: async <M extends AskMethod>(method: M, params: AskMethods[M]['params']): Promise<AskMethods[M]['result']> =>
        (await this.#ask(method, params)) as AskMethods[M]['result'],
    }
  }

  /** Now, or as soon as the call is answered. */
  #whenAnswered(act: () => void): void {
    if (this.#early === undefined) act()
    else this.#early.push(act)
  }

  #tell(body: CallEventBody): void {
    this.#log.append(body)
    if (body.type !== 'said') return
    if (this.#phone === undefined) this.#agent.said.push(body.text)
    else this.#phone.said(body.text)
  }

  async #ask(method: AskMethod, params: AskMethods[AskMethod]['params']): Promise<AskMethods[AskMethod]['result']> {
    if (method === 'secret') return {}
    if (method === 'hand_off') {
      const { id } = params as AskMethods['hand_off']['params']
      const asked = this.#log.state.tools.find((tool) => tool.id === id)
      const { agent, handoffs } = this.#options
      if (asked !== undefined) this.#log.append(handedOff(agent, handoffs, asked.name, asked.arguments))
      this.#over.resolve({ reason: 'transferred' })
      return {}
    }
    if (method === 'knowledge') {
      const { query, topK } = params as AskMethods['knowledge']['params']
      const found = await this.#options.lookUp(query)
      return { passages: found.slice(0, topK).map((one) => ({ ...one, documentId: '', score: 0 })) }
    }
    const asked = params as AskMethods['tool']['params']
    const known = this.#toolsAsked.get(asked.id)
    if (known !== undefined) return known
    const running = this.#tool(asked)
    this.#toolsAsked.set(asked.id, running)
    return running
  }

  async #tool({ id, name, arguments: given }: AskMethods['tool']['params']): Promise<{ output: string }> {
    const { agent, callTool } = this.#options
    this.#log.append({ type: 'tool_called', id, name, arguments: given })
    if (name === BEGIN_PROCEDURE) {
      const procedure = agent.procedures?.find((one) => one.name === given.name)
      const output = procedure === undefined ? 'There is no such procedure.' : procedureText(procedure)
      this.#log.append({ type: 'tool_returned', id, result: output, ms: 0 })
      if (procedure !== undefined) this.#log.append({ type: 'procedure_begun', id, name: procedure.name })
      return { output }
    }
    let answer: MockAnswer
    try {
      answer = await callTool(name, given)
    } catch (error) {
      this.#over.reject(error)
      throw error
    }
    const { output, afterMs, error } = answer
    await new Promise<void>((resolve) => setTimeout(boundary('call', resolve), afterMs).unref())
    this.#log.append({
      type: 'tool_returned',
      id,
      result: output,
      ms: afterMs,
      ...(error === undefined ? {} : { error }),
    })
    const isTransfer = agent.tools?.some((tool) => tool.name === name && tool.kind === 'transfer') === true
    if (isTransfer && output === TRANSFER_OUTPUT) this.#over.resolve({ reason: 'transferred' })
    return { output }
  }
}
