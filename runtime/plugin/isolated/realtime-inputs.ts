import type { RealtimeClientEvent } from '../../../packages/plugin/realtime.ts'

/** What goes into one session of a speech-to-speech model. */
export type RealtimeInput =
  | { type: 'tell'; event: RealtimeClientEvent }
  | { type: 'receive'; raw: string }
  | { type: 'closed'; code: number; reason: string }

/** What was not taken; a session that falls so far behind is of no use. */
const MAX_WAITING = 10_000

/** In order, until it ends. Imports nothing that Deno has not. */
export class RealtimeInputs implements AsyncIterable<RealtimeInput> {
  readonly #waiting: RealtimeInput[] = []
  #isOver = false
  #isFlooded = false
  #wake: () => void = () => undefined

  push(input: RealtimeInput): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(input)
    else this.#isFlooded = true
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RealtimeInput> {
    for (;;) {
      const next = this.#waiting.shift()
      if (this.#isOver) return
      if (this.#isFlooded) throw new Error('It falls behind what it is told')
      if (next !== undefined) yield next
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }
}
