export type Side = 'microphone' | 'agent'

/** Ten a second, as the call tells them. */
const KEPT = 80

/** How loud both sides were in the last seconds; the newest last. */
export class LevelTrace {
  readonly #levels: Record<Side, number[]> = { microphone: [], agent: [] }

  /** `level`: root mean square, 0 to 1. */
  add(side: Side, level: number): void {
    const levels = this.#levels[side]
    levels.push(level)
    if (levels.length > KEPT) levels.shift()
  }

  of(side: Side): readonly number[] {
    return this.#levels[side]
  }

  clear(): void {
    this.#levels.microphone = []
    this.#levels.agent = []
  }

  get kept(): number {
    return KEPT
  }
}
