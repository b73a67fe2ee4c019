import type { Purpose } from '../conversation/stages/signal.ts'
import type { SimulatedClock } from './simulated-clock.ts'

/** How fast people and voices speak, as a share of about 150 words a minute. */
const MS_PER_CHARACTER = 65
const MIN_SPEECH_MS = 200

/** How long it takes to say a text. */
export const speechMs = (text: string): number => Math.max(MIN_SPEECH_MS, text.length * MS_PER_CHARACTER)

/** Something that the agent says, or a reply that has no words. */
export interface SpokenPiece {
  text: string
  purpose: Purpose
  interruptible: boolean
  hangsUp: boolean
  /** The provider's stage that failed while it was made. */
  failed?: 'llm'
  /** It is said to its end, or the caller heard so much of it. */
  over?(heard: string, interrupted: boolean): void
}

interface SpeechEvents {
  started(piece: SpokenPiece): void
  ended(piece: SpokenPiece, heard: { text: string; startMs: number; endMs: number }, interrupted: boolean): void
}

/** The agent's voice where nobody listens: one piece after the other, each as long as it would take to say it. */
export class TextSpeech {
  readonly #clock: SimulatedClock
  readonly #events: SpeechEvents
  #waiting: SpokenPiece[] = []
  #running: { piece: SpokenPiece; startMs: number; cancel(): void } | undefined

  constructor(clock: SimulatedClock, events: SpeechEvents) {
    this.#clock = clock
    this.#events = events
  }

  get speaks(): boolean {
    return this.#running !== undefined
  }

  get busy(): boolean {
    return this.speaks || this.#waiting.length > 0
  }

  /** What is said to its end is being said, or waits. */
  get uninterruptible(): boolean {
    return [this.#running?.piece, ...this.#waiting].some((piece) => piece?.interruptible === false)
  }

  /** Of the running piece. */
  heardSoFar(): { text: string; startMs: number; endMs: number } | undefined {
    if (this.#running === undefined) return undefined
    const { piece, startMs } = this.#running
    const endMs = this.#clock.monotonicMs()
    return { text: wordsBy(piece.text, (endMs - startMs) / MS_PER_CHARACTER), startMs, endMs }
  }

  say(piece: SpokenPiece): void {
    this.#waiting.push(piece)
    if (!this.speaks) this.#next()
  }

  /** Cuts off what is said and drops what waits. `force`: also what is to be said to its end. */
  interrupt(force: boolean): void {
    const dropped = this.#waiting.filter(({ interruptible }) => force || interruptible)
    this.#waiting = this.#waiting.filter((piece) => !dropped.includes(piece))
    const running = this.#running
    if (running !== undefined && (force || running.piece.interruptible)) {
      running.cancel()
      const heard = this.heardSoFar() ?? { text: '', startMs: running.startMs, endMs: running.startMs }
      this.#end(running.piece, heard, true)
    }
    for (const piece of dropped) piece.over?.('', true)
  }

  #next(): void {
    const piece = this.#waiting.shift()
    if (piece === undefined) return
    const startMs = this.#clock.monotonicMs()
    if (piece.text === '') {
      this.#end(piece, { text: '', startMs, endMs: startMs }, false)
      return
    }
    const cancel = this.#clock.after(speechMs(piece.text), () =>
      this.#end(piece, { text: piece.text, startMs, endMs: this.#clock.monotonicMs() }, false),
    )
    this.#running = { piece, startMs, cancel }
    this.#events.started(piece)
  }

  #end(piece: SpokenPiece, heard: { text: string; startMs: number; endMs: number }, interrupted: boolean): void {
    this.#running = undefined
    piece.over?.(heard.text, interrupted)
    this.#events.ended(piece, heard, interrupted)
    if (!this.speaks) this.#next()
  }
}

/** The whole words within so many characters. */
function wordsBy(text: string, characters: number): string {
  if (characters >= text.length) return text
  const cut = text.slice(0, Math.max(0, Math.floor(characters)))
  const end = /\s/.test(text[cut.length] ?? ' ') ? cut.length : Math.max(0, cut.search(/\s\S*$/))
  return cut.slice(0, end).trim()
}
