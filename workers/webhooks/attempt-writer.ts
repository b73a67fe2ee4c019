import type { Logger } from '../../runtime/log.ts'
import { boundary, inBackground } from '../../runtime/process/boundary.ts'
import type { Store } from '../../store/database.ts'
import { type Attempt, writeAttempts } from '../../store/webhook-deliveries.ts'

const WRITE_MS = 25

/** Writes what came of deliveries down, those of some milliseconds together. */
export class AttemptWriter {
  readonly #store: Store
  readonly #log: Logger
  #waiting: { attempt: Attempt; written: () => void; failed: (error: unknown) => void }[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(store: Store, log: Logger) {
    this.#store = store
    this.#log = log
  }

  /** Resolves when it is written. */
  write(attempt: Attempt): Promise<void> {
    return new Promise((written, failed) => {
      this.#waiting.push({ attempt, written, failed })
      this.#timer ??= setTimeout(
        boundary('queue', () => inBackground('queue', this.#write())),
        WRITE_MS,
      )
    })
  }

  async #write(): Promise<void> {
    this.#timer = undefined
    const waiting = this.#waiting
    this.#waiting = []
    try {
      await writeAttempts(
        this.#store,
        waiting.map(({ attempt }) => attempt),
      )
      for (const { written } of waiting) written()
    } catch (error) {
      this.#log.warn({ err: error, attempts: waiting.length }, 'Deliveries could not be written down')
      for (const { failed } of waiting) failed(error)
    }
  }
}
