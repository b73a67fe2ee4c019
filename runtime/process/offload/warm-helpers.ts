import { boundary, inBackground } from '../../lib/async/boundary.ts'
import { ProcessorAllowance } from './processor-allowance.ts'

/**
 * Helpers that read what tenants upload, one piece of work at a time. Starting one takes longer than most of their work, so one that did
 * its work as it should does the next, too. Each begins as anybody else, and gives way once those it works for have had their allowance.
 */

/** A thread or a process of its own. */
export interface Helper {
  /** This process ends no sooner than it. */
  ref(): void
  unref(): void
  /** Of the processor, since it began; undefined: it is at its start, or the system doesn't tell. */
  usedMs(): number | undefined
  /** Has it give way; false: not yet, ask again. */
  lower(): boolean
  /** Undoes `lower`; false: this process may not. */
  raise(): boolean
  /** Whether what its work left in memory is worth keeping it. */
  leavesLittle(): Promise<boolean>
  /** Ends it with whatever it is at. */
  end(): Promise<void>
}

/** Notified of the outcome of the work that a helper is held for. */
export interface HelperListener<M> {
  message(message: M): void
  error(error: NodeJS.ErrnoException): void
  exit(): void
}

/** A helper while it works for its holder alone. */
export interface HeldHelper<H> {
  readonly helper: H
  /** Once: gives the helper back for other work where this was done as it should; else it is ended. Resolves with either. */
  release(wasDone: boolean): Promise<void>
}

export interface WarmHelpersOptions<M, H> {
  start: (listener: HelperListener<M>) => H
  /** That wait for work; what each takes for itself is some ten megabytes. */
  mostWarm: number
  /** Of which other helpers may share. */
  allowance?: ProcessorAllowance
}

/** After so much work a helper is ended: what it left behind goes with it. */
const MOST_WORK = 1_000
const LOOK_MS = 50

interface Kept<M, H> {
  readonly helper: H
  works: number
  ended: boolean
  isLow: boolean
  listener: HelperListener<M> | undefined
}

/** Helpers whose messages are of the type M. */
export class WarmHelpers<M, H extends Helper> {
  readonly #options: WarmHelpersOptions<M, H>
  readonly #allowance: ProcessorAllowance
  /** In the order in which they began to wait: the first has had most time to load what it runs. */
  readonly #warm: Kept<M, H>[] = []
  #held = 0

  constructor(options: WarmHelpersOptions<M, H>) {
    this.#options = options
    this.#allowance = options.allowance ?? new ProcessorAllowance(() => performance.now())
  }

  /** One that waits, or a new one. While several work one more is made ready: the next caller does not wait for a start. */
  hold(listener: HelperListener<M>, workspaceId: string): HeldHelper<H> {
    const kept = this.#takeWarm(this.#allowance.isSpent(workspaceId)) ?? this.#start()
    this.#held++
    const isSpare = this.#warm.length === 0 && this.#held > 1 && this.#held < this.#options.mostWarm
    if (isSpare) this.#keepWarm(this.#start())
    const { helper } = kept
    kept.listener = listener
    kept.works++
    helper.ref()
    const lookAgain = this.#watch(kept, workspaceId)
    const timer = setInterval(boundary('process', lookAgain), LOOK_MS)
    timer.unref()
    return {
      helper,
      release: (wasDone) => {
        clearInterval(timer)
        lookAgain()
        return this.#release(kept, wasDone)
      },
    }
  }

  /** Of those that wait, a low-priority one for callers that must give way, and no such one for others. */
  #takeWarm(givesWay: boolean): Kept<M, H> | undefined {
    const fit = this.#warm.findIndex(({ isLow }) => isLow === givesWay)
    const [kept] = this.#warm.splice(Math.max(0, fit), 1)
    if (kept === undefined || givesWay || !kept.isLow) return kept
    if (kept.helper.raise()) {
      kept.isLow = false
      return kept
    }
    inBackground('process', kept.helper.end())
    return undefined
  }

  /** Returns what counts the work since the last look. */
  #watch(kept: Kept<M, H>, workspaceId: string): () => void {
    const { helper } = kept
    let beforeMs = helper.usedMs()
    const look = () => {
      const usedMs = helper.usedMs()
      if (usedMs !== undefined) {
        // One at its start has done none of this work.
        this.#allowance.spend(workspaceId, usedMs - (beforeMs ?? usedMs))
        beforeMs = usedMs
      }
      if (!kept.isLow && this.#allowance.isSpent(workspaceId)) kept.isLow = helper.lower()
    }
    look()
    return look
  }

  async #release(kept: Kept<M, H>, wasDone: boolean): Promise<void> {
    kept.listener = undefined
    const again = wasDone && kept.works < MOST_WORK && (await kept.helper.leavesLittle())
    this.#held--
    if (again && !kept.ended) return this.#keepWarm(kept)
    // A caller that ends its helper after each piece of work still leaves one to the next, which has started by then.
    do this.#keepWarm(this.#start())
    while (this.#held + this.#warm.length < this.#options.mostWarm)
    await kept.helper.end()
  }

  #keepWarm(kept: Kept<M, H>): void {
    kept.helper.unref()
    this.#warm.push(kept)
    if (this.#warm.length > this.#options.mostWarm) inBackground('process', this.#warm.shift()!.helper.end())
  }

  #start(): Kept<M, H> {
    const forget = () => {
      kept.ended = true
      const at = this.#warm.indexOf(kept)
      if (at !== -1) this.#warm.splice(at, 1)
    }
    const helper = this.#options.start({
      message: (message) => kept.listener?.message(message),
      error(error) {
        forget()
        kept.listener?.error(error)
      },
      exit() {
        forget()
        kept.listener?.exit()
      },
    })
    const kept: Kept<M, H> = { helper, works: 0, ended: false, isLow: false, listener: undefined }
    return kept
  }
}
