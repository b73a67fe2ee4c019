import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Store } from '../../store/database/database.ts'
import { writeRows } from '../../store/database/write-rows.ts'
import { type DeliveryAttempt, writeAttempts } from '../../store/events/webhook-deliveries.ts'

const WRITE_MS = 25
const UNSAID = { responseBody: null, error: 'The database refused what the receiver said' }

interface Waiting {
  attempt: DeliveryAttempt
  written(): void
  failed(error: unknown): void
}

/** Writes what came of deliveries down, those of some milliseconds together. */
export class AttemptWriter {
  readonly #store: Store
  readonly #log: Logger
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(store: Store, log: Logger) {
    this.#store = store
    this.#log = log
  }

  /** Resolves when it is written. */
  write(attempt: DeliveryAttempt): Promise<void> {
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
    const { left, refused, error } = await this.#writeAll(waiting)
    for (const one of waiting) if (!left.includes(one) && !refused.includes(one)) one.written()
    // Without what its receiver said: one that is not settled is sent again and again.
    const bare = refused.map((one) => ({ ...one, attempt: { ...one.attempt, ...UNSAID } }))
    const again = await this.#writeAll(bare)
    for (const one of bare) {
      if (again.left.includes(one) || again.refused.includes(one))
        one.failed(again.error ?? new Error('It was refused'))
      else one.written()
    }
    if (left.length === 0) return
    this.#log.warn({ err: error, attempts: left.length }, 'Could not save deliveries')
    for (const { failed } of left) failed(error)
  }

  #writeAll(rows: readonly Waiting[]) {
    return writeRows({
      ...{ table: 'webhook_deliveries', rows, log: this.#log },
      write: (some) =>
        writeAttempts(
          this.#store,
          some.map(({ attempt }) => attempt),
        ),
      about: ({ attempt: { id, webhookId, workspaceId } }) => ({ id, webhookId, workspaceId }),
    })
  }
}
