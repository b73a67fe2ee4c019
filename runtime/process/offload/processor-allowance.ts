/** Of the processor, at everybody's priority: what a file of some pages takes. */
const MOST_MS = 150
/** Two hundredths of a core: who works on and on is lowered on and on. */
const REGAINED_PER_MS = 0.02

interface Account {
  leftMs: number
  atMs: number
}

/**
 * What workspaces may use of the processor before their work gives way to that of others: some of it at once, and what they regain with
 * time. Work that gives way is counted, too, so that the next piece of an unending row begins lowered.
 */
export class ProcessorAllowance {
  readonly #accounts = new Map<string, Account>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  isSpent(workspaceId: string): boolean {
    return this.#account(workspaceId).leftMs <= 0
  }

  spend(workspaceId: string, usedMs: number): void {
    if (usedMs <= 0) return
    const { leftMs, atMs } = this.#account(workspaceId)
    // At the end, as the last to have worked.
    this.#accounts.delete(workspaceId)
    this.#accounts.set(workspaceId, { leftMs: Math.max(-MOST_MS, leftMs - usedMs), atMs })
    this.#forgetRested()
  }

  /** How many workspaces it has an account of. */
  get size(): number {
    return this.#accounts.size
  }

  #account(workspaceId: string): Account {
    const atMs = this.#nowMs()
    const known = this.#accounts.get(workspaceId)
    if (known === undefined) return { leftMs: MOST_MS, atMs }
    return { leftMs: Math.min(MOST_MS, known.leftMs + (atMs - known.atMs) * REGAINED_PER_MS), atMs }
  }

  #forgetRested(): void {
    for (const workspaceId of this.#accounts.keys()) {
      if (this.#account(workspaceId).leftMs < MOST_MS) return
      this.#accounts.delete(workspaceId)
    }
  }
}
