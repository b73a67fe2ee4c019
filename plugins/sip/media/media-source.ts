export interface MediaAddress {
  readonly address: string
  readonly port: number
}

/** So many packets in a row, and only they, make another source the call's. */
const LEARN_PACKETS = 3
/** The place that both sides left goes on sending for a while, which makes it the call's only after three seconds of it alone. */
const LEARN_PACKETS_OF_LEFT = 150
/** The call's own source has to be silent this long before another may take its place. */
const RELEARN_AFTER_MS = 1_000

/**
 * Where a call's packets come from, and so where ours go (symmetric RTP). What the session description names is believed at
 * once and always; another source that the call may have is learnt when it sends several packets in a row, at the beginning or once
 * the one before has fallen silent: routers rebind ports, and media servers fail over. One stray packet changes nothing. Pure.
 */
export class MediaSource {
  #named: MediaAddress
  readonly #allows: (address: string) => boolean
  #current: MediaAddress | undefined
  #heardMs = Number.NEGATIVE_INFINITY
  #candidate: MediaAddress | undefined
  #count = 0
  /** Where packets came from before the sides agreed on another place. */
  #left: MediaAddress | undefined

  /** @param allows whether media of this call may come from an address that its description doesn't name */
  constructor(named: MediaAddress, allows: (address: string) => boolean) {
    this.#named = named
    this.#allows = allows
  }

  /** Where packets are to be sent. */
  get target(): MediaAddress {
    return this.#current ?? this.#named
  }

  /** Whether the call's packets come from there now. */
  isCurrent(from: MediaAddress): boolean {
    return same(from, this.#current ?? this.#named)
  }

  /** Both sides agreed on another place. */
  rename(named: MediaAddress): void {
    if (same(named, this.#named)) return
    this.#left = this.target
    this.#named = named
    this.#current = undefined
    this.#candidate = undefined
  }

  /** Whether a packet of a kind that was agreed on is the call's. `stranger`: it comes from where no media of the call may. */
  accept(from: MediaAddress, nowMs: number): 'taken' | 'waits' | 'stranger' {
    if (same(from, this.#named) || (this.#current !== undefined && same(from, this.#current))) {
      this.#take(from, nowMs)
      return 'taken'
    }
    if (from.address !== this.#named.address && !this.#allows(from.address)) return 'stranger'
    if (this.#current !== undefined && nowMs - this.#heardMs < RELEARN_AFTER_MS) {
      this.#candidate = undefined
      return 'waits'
    }
    this.#count = this.#candidate !== undefined && same(from, this.#candidate) ? this.#count + 1 : 1
    this.#candidate = { address: from.address, port: from.port }
    const isLeft = this.#left !== undefined && same(from, this.#left)
    if (this.#count < (isLeft ? LEARN_PACKETS_OF_LEFT : LEARN_PACKETS)) return 'waits'
    this.#take(from, nowMs)
    return 'taken'
  }

  #take(from: MediaAddress, nowMs: number): void {
    this.#current = { address: from.address, port: from.port }
    this.#heardMs = nowMs
    this.#candidate = undefined
  }
}

function same(a: MediaAddress, b: MediaAddress): boolean {
  return a.port === b.port && a.address === b.address
}
