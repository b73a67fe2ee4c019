import { isOfOtherProcedure, type Procedure, procedureText } from '../../runtime/call/types/procedure.ts'
import type { ChatProcedureState } from '../../store/database/schema.ts'
import type { CollectedOutput } from './chat-collecting.ts'

const MAX_NOTES = 40
const MAX_NOTE_CHARACTERS = 4_000
const NOTHING_BEGUN: ChatProcedureState = { begun: [], notes: [] }

/** What the fixed steps of a chat do. */
interface StepsOfChat {
  /** Calls a tool of the agent: what it returned. */
  callTool(name: string, input: Record<string, unknown>): Promise<string>
  /** The first question for the value; empty: the agent collects no such value. */
  collect(name: string): string
  /** The chat was handed to another agent. */
  isOver(): boolean
}

/** The procedures of an agent in one chat: those that its model has begun, and the fixed steps of the one that runs. */
export class ChatProcedures {
  readonly #procedures: readonly Procedure[]
  readonly #begun: Set<string>
  readonly #notes: string[]
  /** Fixed steps were made for this message: not once more. */
  readonly #made = new Set<string>()
  #running: ChatProcedureState['running']

  constructor(procedures: readonly Procedure[] = [], { begun, notes, running } = NOTHING_BEGUN) {
    this.#procedures = procedures
    this.#begun = new Set(begun)
    this.#notes = [...notes]
    this.#running = running
  }

  get stored(): ChatProcedureState {
    const running = this.#running === undefined ? {} : { running: this.#running }
    return { begun: [...this.#begun], notes: this.#notes.slice(-MAX_NOTES), ...running }
  }

  /** What the model knows of them. */
  get notes(): string[] {
    const texts = this.#procedures.filter(({ name }) => this.#begun.has(name)).map(procedureText)
    return [...texts, ...this.#notes]
  }

  /** Fixed steps are to be made, and the model waits for them. */
  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** A tool that is not the model's now. */
  isHidden(tool: string): boolean {
    return isOfOtherProcedure(this.#procedures, this.#begun, tool)
  }

  /** The model begins a procedure: what it reads. */
  begin(name: unknown): string {
    const procedure = this.#procedures.find((one) => one.name === name)
    if (procedure === undefined) return 'There is no such procedure.'
    this.#begun.add(procedure.name)
    if (procedure.fixed.length > 0 && !this.#made.has(procedure.name)) this.#running = { name: procedure.name, step: 0 }
    this.#made.add(procedure.name)
    return procedureText(procedure)
  }

  /** The person has answered the step that waits for it. `collected`: the values that they gave. */
  answered(collected: readonly CollectedOutput[]): void {
    if (this.#running?.waits !== true) return
    for (const { name, output } of collected) this.#note(`${name} returned: ${output}`)
    const { name, step } = this.#running
    this.#running = { name, step: step + 1 }
  }

  /** Makes the steps in order, to the end or to one that the person must answer. Yields what is said. */
  async *steps({ callTool, collect, isOver }: StepsOfChat): AsyncGenerator<string, void> {
    while (this.#running !== undefined && !isOver()) {
      const { name, step } = this.#running
      const next = this.#procedures.find((one) => one.name === name)?.fixed[step]
      if (next === undefined) {
        this.#running = undefined
        return
      }
      const question = 'ask' in next ? next.ask : 'collect' in next ? collect(next.collect) : ''
      if (question !== '') {
        this.#running = { name, step, waits: true }
        yield question
        return
      }
      this.#running = { name, step: step + 1 }
      if ('say' in next) yield next.say
      else if ('tool' in next)
        this.#note(`The tool ${next.tool} was called and returned: ${await callTool(next.tool, next.arguments)}`)
    }
  }

  #note(text: string): void {
    this.#notes.push(text.slice(0, MAX_NOTE_CHARACTERS))
  }
}
