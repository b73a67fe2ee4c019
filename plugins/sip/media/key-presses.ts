/** A press that is reported twice is reported again within this time. */
const PAIR_MS = 1_000
const MAX_UNPAIRED = 32

/** Counts a press once that some phones report both by telephone events (RFC 4733) and by INFO. Pure. */
export class KeyPresses {
  #unpaired: { key: string; by: 'events' | 'signalling'; atMs: number }[] = []

  /** False: the other way has reported this press. */
  isNew(key: string, by: 'events' | 'signalling', nowMs: number): boolean {
    this.#unpaired = this.#unpaired.filter(({ atMs }) => nowMs - atMs < PAIR_MS).slice(-MAX_UNPAIRED)
    const at = this.#unpaired.findIndex((one) => one.key === key && one.by !== by)
    if (at < 0) this.#unpaired.push({ key, by, atMs: nowMs })
    else this.#unpaired.splice(at, 1)
    return at < 0
  }
}
