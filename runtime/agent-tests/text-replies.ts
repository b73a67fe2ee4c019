import { collectTool } from '../call/log/collect-output.ts'
import type { CallEventBody } from '../call/log/events.ts'
import type { AgentSpec, ToolSpec } from '../call/types/agent-spec.ts'
import { HANDED_OFF_OUTPUT } from '../call/types/hand-off.ts'
import { isOfOtherProcedure, procedureText } from '../call/types/procedure.ts'
import type { AnswerGuard } from '../conversation/guarding/answer-guard.ts'
import type { Order, Report } from '../conversation/stages/signal.ts'
import { TRANSFER_OUTPUT } from '../tools/transfer-output.ts'
import type { MockAnswer } from './mocks.ts'
import { handedOff, type NextAgents } from './next-agents.ts'
import type { SimulatedClock } from './simulated-clock.ts'
import type { ModelStep, TextModel } from './text-model.ts'
import type { TextSpeech } from './text-speech.ts'

/** What a voice adds to the model's time. */
const VOICE_MS = 200
const LOOK_AGAIN_MS = 60
/** Rounds of tools in one answer; then the model is asked without any. */
const MAX_TOOL_STEPS = 10

/** The language model of a conversation in text. */
export type ReplyModel = Pick<TextModel, 'ask' | 'said' | 'heard' | 'note' | 'returned' | 'lastFailure' | 'hopeless'>

interface TextRepliesOptions {
  clock: SimulatedClock
  model: ReplyModel
  agent: AgentSpec
  /** Undefined: nothing is checked. */
  guard: AnswerGuard | undefined
  /** The agents that tools hand to, by tool. */
  handoffs: NextAgents
  speech: TextSpeech
  callTool(name: string, given: Record<string, unknown>): Promise<MockAnswer>
  report(report: Report): void
  tell(event: CallEventBody): void
  /** Acts then, unless the conversation is over. */
  later(delayMs: number, act: () => void): void
  /** Simulated time stands still meanwhile. */
  await(work: Promise<unknown>): void
  transferred(): void
}

/** The agent's answers in a conversation in text: the model's words and the tools it calls, each when it would have come. */
export class TextReplies {
  readonly #options: TextRepliesOptions
  /** Counts answers: what belongs to an earlier one is dropped. */
  #answer = 0
  #busy = false
  #toolsRunning = 0
  /** Procedures that the model has begun. */
  readonly #begun = new Set<string>()

  constructor(options: TextRepliesOptions) {
    this.#options = options
  }

  /** The caller waits for words that are not there yet. */
  get thinking(): boolean {
    return this.#busy || this.#toolsRunning > 0
  }

  /** What is being made is not said; tools that were called go on. */
  cancel(): void {
    this.#answer++
    this.#busy = false
    this.#toolsRunning = 0
  }

  start(instructions?: string): void {
    this.cancel()
    this.#busy = true
    const answer = this.#answer
    const begin = (): void => {
      if (answer !== this.#answer) return
      // What is said to its end is not cut off by an answer, either.
      if (this.#options.speech.uninterruptible) this.#options.later(LOOK_AGAIN_MS, begin)
      else this.#ask(answer, 0, instructions)
    }
    begin()
  }

  /** A fixed step calls a tool; resolves with what it returned. */
  runTool({ id, name, arguments: given }: Extract<Order, { type: 'run_tool' }>): Promise<void> {
    return this.#call({ id, name, given, args: '' }, (output) => {
      this.#options.model.note('system', `The tool ${name} was called and returned: ${output}`)
      this.#options.report({ type: 'tool_over', output })
    })
  }

  #ask(answer: number, step: number, instructions?: string): void {
    const { agent, model, guard } = this.#options
    const asking = model.ask({
      withTools: step < MAX_TOOL_STEPS,
      isHidden: (tool) => isOfOtherProcedure(agent.procedures ?? [], this.#begun, tool),
      instructions,
      guard,
    })
    this.#options.await(asking.then((made) => this.#answered(answer, step, made)))
  }

  #answered(answer: number, step: number, { text, calls, firstTextMs, tookMs, failed }: ModelStep): void {
    const { clock, model, speech, report, later } = this.#options
    const isCurrent = (): boolean => answer === this.#answer
    const collected = calls.flatMap(({ id, name }) => {
      const item = this.#options.agent.collect?.find((one) => collectTool(one.name) === name)
      return item === undefined ? [] : [{ id, name: item.name }]
    })
    const others = calls.filter(
      ({ id, name }) => this.#kindOf(name) !== 'hang_up' && !collected.some((one) => one.id === id),
    )
    const hangsUp = others.length + collected.length < calls.length
    const isLast = others.length === 0
    if (text !== '') {
      later(firstTextMs, () => {
        if (isCurrent()) report({ type: 'first_text', atMs: clock.monotonicMs() })
      })
    }
    later(text === '' ? tookMs : firstTextMs + VOICE_MS, () => {
      if (!isCurrent()) return
      if (isLast) this.#busy = false
      if (text === '' && !isLast) return
      const remember = text === '' ? undefined : model.said(text)
      speech.say({
        ...{ text, purpose: 'reply', interruptible: true, hangsUp },
        ...(failed ? { failed: 'llm' as const } : {}),
        over: (heard) => remember?.(heard),
      })
    })
    if (collected.length > 0) {
      later(Math.max(tookMs, text === '' ? 0 : firstTextMs + VOICE_MS), () => {
        for (const one of isCurrent() ? collected : []) report({ type: 'collect', ...one })
      })
    }
    if (isLast) return
    later(Math.max(tookMs, text === '' ? 0 : firstTextMs + VOICE_MS), () => {
      if (isCurrent()) this.#callTools(answer, step, others, text !== '')
    })
  }

  #callTools(answer: number, step: number, calls: ModelStep['calls'], spoke: boolean): void {
    this.#toolsRunning = calls.length
    this.#options.await(Promise.all(calls.map((call) => this.#callTool(answer, step, call, spoke))))
  }

  #callTool(answer: number, step: number, call: ModelStep['calls'][number], spoke: boolean): Promise<void> {
    const { id, name, given, args } = call
    return this.#call(call, (output) => {
      const kind = this.#kindOf(name)
      const isCurrent = answer === this.#answer
      if (kind === 'procedure' && this.#begin(id, String(given?.name), isCurrent)) return
      // What was called stays known, also where the caller spoke meanwhile.
      this.#options.model.returned({ id, name, args, output })
      if (!isCurrent) return
      if (kind === 'handoff' && output === HANDED_OFF_OUTPUT) this.#handOff(answer, call, spoke)
      else if (kind === 'transfer' && output === TRANSFER_OUTPUT) this.#options.transferred()
      else if (--this.#toolsRunning === 0) this.#ask(answer, step + 1)
    })
  }

  /** Calls a tool for the log; `over` gets what it returned once the time it takes has passed. */
  async #call({ id, name, given }: ModelStep['calls'][number], over: (output: string) => void): Promise<void> {
    const { tell, later, callTool } = this.#options
    tell({ type: 'tool_called', id, name, arguments: given ?? {} })
    const wrong = 'Wrong arguments: they are no JSON object'
    const { output, afterMs, error } =
      given === undefined ? { output: wrong, afterMs: 0, error: wrong } : await callTool(name, given)
    later(afterMs, () => {
      tell({ type: 'tool_returned', id, result: output, ms: afterMs, ...(error === undefined ? {} : { error }) })
      over(output)
    })
  }

  /** True: the procedure has fixed steps, and the model waits for them. */
  #begin(id: string, name: string, isCurrent: boolean): boolean {
    const { agent, tell, model, report } = this.#options
    const procedure = agent.procedures?.find((one) => one.name === name)
    if (procedure === undefined) return false
    this.#begun.add(name)
    tell({ type: 'procedure_begun', id, name })
    if (procedure.fixed.length === 0 || !isCurrent) return false
    model.note('system', procedureText(procedure))
    this.cancel()
    report({ type: 'procedure_begun', id, name })
    return true
  }

  /** The agent has said all before the next one has the caller, where no caller cuts in. */
  #handOff(answer: number, { name, given }: ModelStep['calls'][number], spoke: boolean): void {
    const { agent, handoffs, speech, tell, later, transferred } = this.#options
    const says = agent.tools?.find((tool) => tool.name === name)?.says ?? ''
    if (!spoke && says !== '') speech.say({ text: says, purpose: 'reply', interruptible: false, hangsUp: false })
    const leave = (): void => {
      if (answer !== this.#answer) return
      if (speech.busy) {
        later(LOOK_AGAIN_MS, leave)
        return
      }
      tell(handedOff(agent, handoffs, name, given))
      transferred()
    }
    leave()
  }

  #kindOf(name: string): ToolSpec['kind'] | undefined {
    return this.#options.agent.tools?.find((tool) => tool.name === name)?.kind
  }
}
