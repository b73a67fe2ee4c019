import { make } from './dom.ts'

const BARS = 32
/** A level that fills the height; speech seldom passes it. */
const FULL_LEVEL = 0.25

/** The last seconds of both voices as bars, the newest at the end. */
export class Wave {
  readonly element = make('div', { className: 'wave', ariaHidden: 'true' })
  #agent = 0

  constructor() {
    this.still()
  }

  /** How loud a side is, ten times a second: 0 to 1. A bar is drawn for each of the microphone's. */
  add({ side, level }: { side: string; level: number }): void {
    if (side === 'agent') {
      this.#agent = level
      return
    }
    const bar = this.element.firstElementChild as HTMLElement
    bar.className = level > this.#agent ? 'user' : ''
    bar.style.height = `${Math.min(100, 8 + (92 * Math.max(level, this.#agent)) / FULL_LEVEL)}%`
    this.element.append(bar)
  }

  still(): void {
    this.#agent = 0
    this.element.replaceChildren(...Array.from({ length: BARS }, () => make('i')))
  }
}
