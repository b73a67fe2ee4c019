import type { Turn } from '../link/messages.ts'
import type { SessionPort } from './contract.ts'
import type { Heard } from './mouth.ts'

/** Turns of the caller that wait for the agent's running turn to be closed; more than a few never do. */
const MAX_WAITING_TURNS = 16

/**
 * The record of who said what: reports turns in the order spoken, numbered over the whole call. The agent's running
 * turn holds its number from its first sound; a caller's turn that cuts it off waits until what was heard of it is known.
 */
export class Transcript {
  readonly #port: SessionPort
  readonly #toCallMs: (monotonicMs: number) => number
  readonly #waiting: Turn[] = []
  #seq: number
  #agentOpen = false

  /**
   * @param firstSeq number of the next turn
   * @param toCallMs monotonic time to milliseconds since the call was answered
   */
  constructor(port: SessionPort, firstSeq: number, toCallMs: (monotonicMs: number) => number) {
    this.#port = port
    this.#seq = firstSeq
    this.#toCallMs = toCallMs
  }

  /** Words of the caller, as they are recognised. */
  words(text: string, startMs: number, endMs: number, final: boolean): void {
    this.#port.transcript(this.#userTurn(text, startMs, endMs), final)
  }

  user(text: string, startMs: number, endMs: number): void {
    const turn = this.#userTurn(text, startMs, endMs)
    if (!this.#agentOpen) this.#report(turn)
    else if (this.#waiting.length < MAX_WAITING_TURNS) this.#waiting.push(turn)
  }

  agentStarted(): void {
    this.#agentOpen = true
  }

  /** What was heard of the running turn so far: shown live, and kept in case this worker dies. */
  agentProgress(heard: Heard): void {
    if (!this.#agentOpen || heard.text === '') return
    const turn = this.#agentTurn(heard, true)
    this.#port.heard(this.#seq, turn)
    this.#port.transcript({ ...turn, interrupted: false }, false)
  }

  agentDone(heard: Heard | undefined, interrupted: boolean): void {
    this.#agentOpen = false
    if (heard !== undefined && heard.text !== '') {
      const turn = this.#agentTurn(heard, interrupted)
      this.#port.transcript(turn, true)
      this.#report(turn)
    }
    for (const turn of this.#waiting.splice(0)) this.#report(turn)
  }

  #report(turn: Turn): void {
    this.#port.turn(this.#seq++, turn)
  }

  #userTurn(text: string, startMs: number, endMs: number): Turn {
    return { role: 'user', text, startMs: this.#toCallMs(startMs), endMs: this.#toCallMs(endMs), interrupted: false }
  }

  #agentTurn(heard: Heard, interrupted: boolean): Turn {
    const { text, startMs, endMs } = heard
    return { role: 'assistant', text, startMs: this.#toCallMs(startMs), endMs: this.#toCallMs(endMs), interrupted }
  }
}
