interface ByteCacheLimits {
  mostEntries: number
  mostBytes: number
  /** Of one owner, so that nobody's entries push out those of all others. */
  mostBytesOfOwner: number
}

interface Entry<V> {
  owner: string
  bytes: number
  value: V
}

/** Values by key, bounded in number and in bytes, over all and for each owner; those not used for longest go first. */
export class ByteCache<V> {
  readonly #limits: ByteCacheLimits
  /** The latest used last. */
  readonly #entries = new Map<string, Entry<V>>()
  readonly #ofOwner = new Map<string, number>()
  #bytes = 0

  constructor(limits: ByteCacheLimits) {
    this.#limits = limits
  }

  /** Of all that is kept. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Puts the value in, or in the place of an earlier one; others make room for it, and it is not kept where it is too large itself. */
  set(key: string, value: V, { owner, bytes }: { owner: string; bytes: number }): void {
    const { mostEntries, mostBytes, mostBytesOfOwner } = this.#limits
    this.#delete(key)
    this.#entries.set(key, { owner, bytes, value })
    this.#count(owner, bytes)
    for (const [oldest, entry] of this.#entries) {
      const isOwnerFull = (this.#ofOwner.get(owner) ?? 0) > mostBytesOfOwner
      const isFull = this.#bytes > mostBytes || this.#entries.size > mostEntries
      if (!isOwnerFull && !isFull) return
      if (entry.owner === owner || !isOwnerFull) this.#delete(oldest)
    }
  }

  #delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#count(entry.owner, -entry.bytes)
  }

  #count(owner: string, bytes: number): void {
    const left = (this.#ofOwner.get(owner) ?? 0) + bytes
    this.#bytes += bytes
    if (left === 0) this.#ofOwner.delete(owner)
    else this.#ofOwner.set(owner, left)
  }
}
