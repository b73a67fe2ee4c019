import type { SessionPort } from './contract.ts'
import type { Heard } from './mouth.ts'

/** Turns of the caller that wait for the agent's running turn to be closed; more than a few never do. */
const MAX_WAITING_TURNS = 16

/** A turn of the caller: what was said, and which inputs it was made of. */
interface CallerTurn {
  text: string
  start_ms: number
  end_ms: number
  inputs?: number[]
}

/**
 * The record of who said what: reports turns in the order spoken. The agent's running turn holds its place from its first
 * sound; a caller's turn that cuts it off waits until what was heard of it is known.
 */
export class Transcript {
  readonly #port: SessionPort
  readonly #toCallMs: (monotonicMs: number) => number
  readonly #waiting: CallerTurn[] = []
  #agentOpen = false

  /** @param toCallMs monotonic time to milliseconds since the call was answered */
  constructor(port: SessionPort, toCallMs: (monotonicMs: number) => number) {
    this.#port = port
    this.#toCallMs = toCallMs
  }

  /** Words of the caller, as they are recognised. */
  words(text: string, startMs: number, endMs: number, final: boolean): void {
    this.#port.tell({ type: 'words', ...this.#timed(text, startMs, endMs), final })
  }

  /** @param inputs the typed turn or the keys that it is made of, by their places in the call's log */
  user(text: string, startMs: number, endMs: number, inputs?: readonly number[]): void {
    const turn = { ...this.#timed(text, startMs, endMs), ...(inputs === undefined ? {} : { inputs: [...inputs] }) }
    if (!this.#agentOpen) this.#report(turn)
    else if (this.#waiting.length < MAX_WAITING_TURNS) this.#waiting.push(turn)
  }

  agentStarted(): void {
    this.#agentOpen = true
  }

  /** What was heard of the running turn so far: shown live, and kept in case this worker dies. */
  agentProgress(heard: Heard): void {
    if (!this.#agentOpen || heard.text === '') return
    this.#heard(heard, { interrupted: false, final: false })
  }

  agentDone(heard: Heard | undefined, interrupted: boolean): void {
    this.#agentOpen = false
    if (heard !== undefined && heard.text !== '') this.#heard(heard, { interrupted, final: true })
    for (const turn of this.#waiting.splice(0)) this.#report(turn)
  }

  #report(turn: CallerTurn): void {
    this.#port.tell({ type: 'turn', ...turn })
  }

  #heard({ text, startMs, endMs }: Heard, how: { interrupted: boolean; final: boolean }): void {
    this.#port.tell({ type: 'heard', ...this.#timed(text, startMs, endMs), ...how })
  }

  #timed(text: string, startMs: number, endMs: number): CallerTurn {
    return { text, start_ms: this.#toCallMs(startMs), end_ms: this.#toCallMs(endMs) }
  }
}
