/** Requests at once: to a receiver at first, at most, and at least; in the name of one workspace; and of the process. */
const FIRST_OF_RECEIVER = 8
const MOST_OF_RECEIVER = 64
const LEAST_OF_RECEIVER = 1
const OF_WORKSPACE = 128
const OF_ALL = 1_024
/**
 * Deliveries are claimed ahead for a receiver, at least this many times its window, so that claims are rarer than answers. A receiver that
 * answered more between two looks has twice that ready for the next, so that it waits for none, however long a look takes.
 */
const AHEAD = 4
const MOST_READY = 1_024
const MOST_TAKEN = 2 * OF_ALL

interface Sending {
  webhookId: string
  workspaceId: string
}

/**
 * Limits the concurrent deliveries of each webhook, so that a hanging receiver delays no other: each has its own window, which
 * grows with what it takes and is halved by what it fails. What is free is shared out in turns. Pure.
 */
export class DeliveryWindows {
  readonly #windows = new Map<string, number>()
  readonly #ofReceiver = new Map<string, number>()
  readonly #ofWorkspace = new Map<string, number>()
  /** Until when each asked to be left alone. */
  readonly #restsUntilMs = new Map<string, number>()
  /** Good answers of each since the last look. */
  readonly #answered = new Map<string, number>()
  #all = 0
  #first = 0

  /**
   * How many more of each may be taken, and of all together, so that the next are there when those under way are answered. Each
   * is the first in its turn.
   * @param held of all webhooks, taken and not under way
   */
  free(
    webhooks: readonly { id: string; workspaceId: string }[],
    held: ReadonlyMap<string, { readonly length: number }>,
    nowMs: number,
  ): { rooms: { webhookId: string; room: number }[]; most: number } {
    const rooms: { webhookId: string; room: number }[] = []
    let most = MOST_TAKEN - this.#all
    for (const { length } of held.values()) most -= length
    this.#first = webhooks.length === 0 ? 0 : (this.#first + 1) % webhooks.length
    for (let i = 0; i < webhooks.length && most > 0; i++) {
      const { id } = webhooks[(this.#first + i) % webhooks.length]!
      if (this.isResting(id, nowMs)) continue
      const window = this.#window(id)
      const pace = Math.min(MOST_READY, 2 * (this.#answered.get(id) ?? 0))
      this.#answered.delete(id)
      // Nothing lies ready for one that fails.
      const ready = window < FIRST_OF_RECEIVER ? window : Math.max(AHEAD * window, pace)
      const room = ready - (this.#ofReceiver.get(id) ?? 0) - (held.get(id)?.length ?? 0)
      if (room > 0) rooms.push({ webhookId: id, room })
    }
    return { rooms, most }
  }

  /** The receiver is left alone until then. */
  rest(webhookId: string, untilMs: number): void {
    this.#restsUntilMs.set(webhookId, Math.max(untilMs, this.#restsUntilMs.get(webhookId) ?? 0))
  }

  isResting(webhookId: string, nowMs: number): boolean {
    return nowMs < (this.#restsUntilMs.get(webhookId) ?? 0)
  }

  /** Whether one more may be sent now; what is in the way: the receiver's own window, or what others send. */
  allows({ webhookId, workspaceId }: Sending): 'now' | 'receiver' | 'others' {
    if ((this.#ofReceiver.get(webhookId) ?? 0) >= this.#window(webhookId)) return 'receiver'
    const isFull = this.#all >= OF_ALL || (this.#ofWorkspace.get(workspaceId) ?? 0) >= OF_WORKSPACE
    return isFull ? 'others' : 'now'
  }

  taken({ webhookId, workspaceId }: Sending): void {
    this.#all++
    this.#ofReceiver.set(webhookId, (this.#ofReceiver.get(webhookId) ?? 0) + 1)
    this.#ofWorkspace.set(workspaceId, (this.#ofWorkspace.get(workspaceId) ?? 0) + 1)
  }

  underWay(webhookId: string): number {
    return this.#ofReceiver.get(webhookId) ?? 0
  }

  answered(webhookId: string, good: boolean): void {
    const window = this.#window(webhookId)
    const next = good ? Math.min(MOST_OF_RECEIVER, window + 1) : Math.max(LEAST_OF_RECEIVER, Math.floor(window / 2))
    this.#windows.set(webhookId, next)
    if (good) this.#answered.set(webhookId, (this.#answered.get(webhookId) ?? 0) + 1)
  }

  left({ webhookId, workspaceId }: Sending): void {
    this.#all--
    lower(this.#ofReceiver, webhookId)
    lower(this.#ofWorkspace, workspaceId)
  }

  /** Drops the windows of all other webhooks. */
  keep(webhooks: readonly { id: string }[]): void {
    const kept = new Set(webhooks.map(({ id }) => id))
    for (const one of [this.#windows, this.#answered, this.#restsUntilMs])
      for (const id of one.keys()) if (!kept.has(id)) one.delete(id)
  }

  #window(webhookId: string): number {
    return this.#windows.get(webhookId) ?? FIRST_OF_RECEIVER
  }
}

function lower(counts: Map<string, number>, key: string): void {
  const count = (counts.get(key) ?? 1) - 1
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
