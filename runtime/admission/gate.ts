import { boundary } from '../lib/async/boundary.ts'
import { PatchbayError } from '../lib/errors.ts'
import { FairQueue, type QueuePlace } from './fair-queue.ts'
import { countRefusal } from './refusals.ts'

interface GateOptions {
  /** What is asked for, for the counter of refusals. */
  kind: string
  /** Pieces of work at once, in this process. */
  places: number
  /** At once of one workspace, so that another finds a place; default: all. */
  mostOfOne?: number
  /** Lower per-workspace limit while several workspaces were active within this time, so that each finds a place quickly. */
  besideOthers?: { mostOfOne: number; withinMs: number; monotonicMs(): number }
  /** Maximum waiting; beyond it, the newest of the workspace with the most is refused. */
  maxWaiting: number
}

interface Waiting {
  workspaceId: string
  go(): void
  refuse(): void
}

interface Visit {
  workspaceId: string
  atMs: number
}

/** Lets work of this process begin in turns by workspace. */
export class AdmissionGate {
  readonly #options: GateOptions
  readonly #waiting: FairQueue<Waiting>
  readonly #held = new Map<string, number>()
  #inside = 0
  /** Who came last and, of all others, who came last. */
  #newest: Visit | undefined
  #other: Visit | undefined

  constructor(options: GateOptions) {
    this.#options = options
    this.#waiting = new FairQueue(options.maxWaiting)
  }

  /**
   * Waits for a place; resolves with what gives it back, once however often it is called. Throws `unavailable` when too many
   * wait, and the signal's reason.
   */
  async enter(place: QueuePlace, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    const { workspaceId } = place
    this.#note(workspaceId)
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        workspaceId,
        go: () => {
          signal?.removeEventListener('abort', leave)
          resolve()
        },
        refuse: () => {
          signal?.removeEventListener('abort', leave)
          countRefusal(this.#options.kind, 'line_full')
          reject(
            new PatchbayError('unavailable', { cause: new Error(`Too much waits for a place: ${this.#options.kind}`) }),
          )
        },
      }
      const leave = boundary('call', () => {
        this.#waiting.remove(waiting)
        reject(signal?.reason)
      })
      signal?.addEventListener('abort', leave, { once: true })
      const left = this.#waiting.add(waiting, place)
      this.#admit()
      if (left !== undefined) left.refuse()
    })
    return this.#leaving(workspaceId)
  }

  /** As `enter`, where there is a place now; undefined: one would have to wait. */
  tryEnter({ workspaceId }: QueuePlace): (() => void) | undefined {
    this.#note(workspaceId)
    if (this.#inside >= this.#options.places || this.#waiting.sizeOf(workspaceId) > 0) return undefined
    if (!this.#mayEnter(workspaceId)) return undefined
    this.#take(workspaceId)
    return this.#leaving(workspaceId)
  }

  #leaving(workspaceId: string): () => void {
    let inside = true
    return () => {
      if (!inside) return
      inside = false
      this.#inside--
      const held = (this.#held.get(workspaceId) ?? 1) - 1
      if (held === 0) this.#held.delete(workspaceId)
      else this.#held.set(workspaceId, held)
      this.#admit()
    }
  }

  /** Runs the work in a place. */
  async run<T>(place: QueuePlace, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.enter(place, signal)
    try {
      return await work()
    } finally {
      leave()
    }
  }

  /** What the source yields, in a place held until it ends. */
  async *pass<T>(place: QueuePlace, source: () => AsyncIterable<T>, signal?: AbortSignal): AsyncGenerator<T> {
    const leave = await this.enter(place, signal)
    try {
      yield* source()
    } finally {
      leave()
    }
  }

  #admit(): void {
    while (this.#inside < this.#options.places) {
      const next = this.#waiting.next((workspaceId) => this.#mayEnter(workspaceId))
      if (next === undefined) return
      this.#take(next.workspaceId)
      next.go()
    }
  }

  #mayEnter(workspaceId: string): boolean {
    const { places, mostOfOne = places, besideOthers } = this.#options
    const most = besideOthers !== undefined && this.#isBesideOthers(workspaceId) ? besideOthers.mostOfOne : mostOfOne
    return (this.#held.get(workspaceId) ?? 0) < most
  }

  #note(workspaceId: string): void {
    const { besideOthers } = this.#options
    if (besideOthers === undefined) return
    if (this.#newest?.workspaceId !== workspaceId) this.#other = this.#newest
    this.#newest = { workspaceId, atMs: besideOthers.monotonicMs() }
  }

  #isBesideOthers(workspaceId: string): boolean {
    const { besideOthers } = this.#options
    const visit = this.#newest?.workspaceId === workspaceId ? this.#other : this.#newest
    if (besideOthers === undefined || visit === undefined) return false
    return besideOthers.monotonicMs() - visit.atMs < besideOthers.withinMs
  }

  #take(workspaceId: string): void {
    this.#inside++
    this.#held.set(workspaceId, (this.#held.get(workspaceId) ?? 0) + 1)
  }
}
