import type { Logger } from './log.ts'

/** What a role has opened: closed in the opposite order, whether its start succeeds or not. */
export class ResourceStack {
  readonly #closes: ((graceMs: number) => unknown)[] = []
  readonly #role: string
  readonly #log: Logger

  constructor(role: string, log: Logger) {
    this.#role = role
    this.#log = log
  }

  /** Notes how to close what was just opened. `graceMs`: how long it may wait for what runs. */
  push(close: (graceMs: number) => unknown): void {
    this.#closes.push(close)
  }

  /** Closes all of it, once. What can't be closed is logged and keeps nothing else from being closed. */
  async close(graceMs: number): Promise<void> {
    for (let close = this.#closes.pop(); close !== undefined; close = this.#closes.pop()) {
      try {
        await close(graceMs)
      } catch (err) {
        this.#log.warn({ err, role: this.#role }, 'A part of the role did not close')
      }
    }
  }
}
