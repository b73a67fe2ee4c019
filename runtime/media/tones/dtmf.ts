/** Telephone events (RFC 4733): the keys of a phone, as packets of their own beside the audio. */

const KEYS = '0123456789*#ABCD'
const VOLUME = 10
/** How long a key sounds, and how long it is quiet before the next. */
const TONE_STEPS = 5
const GAP_STEPS = 3
/** The last packet of a key goes out this often, so that one of them arrives. */
const ENDINGS = 3
const MAX_QUEUED = 64

export function isKeys(text: string): boolean {
  return /^[0-9A-D*#]+$/.test(text)
}

/** The key of signalling, as itself or by its code in RFC 4733 (`10` is `*`); undefined: there is none. */
export function keyOfSignal(signal: string): string | undefined {
  const key = /^1[0-5]$/.test(signal) ? KEYS[Number(signal)] : signal.toUpperCase()
  return key !== undefined && key.length === 1 && KEYS.includes(key) ? key : undefined
}

/** How long an event may last until it goes on as another with a timestamp of its own (RFC 4733, section 2.5.1.3). */
const LONGEST_TICKS = 0xffff

/** Tells each key once: all packets of one press have the same timestamp, or go on where the one before ended. */
export class DtmfReceiver {
  #last: { key: string; timestamp: number; ticks: number; ended: boolean } | undefined

  /** The key that this packet begins, undefined when it is known already or none. */
  push(payload: Uint8Array, timestamp: number): string | undefined {
    if (payload.length < 4) return undefined
    const key = KEYS[payload[0] ?? 255]
    if (key === undefined) return undefined
    const last = this.#last
    const elapsed = last === undefined ? 1 : (timestamp - last.timestamp) | 0
    // One that comes late belongs to an earlier key.
    if (elapsed < 0) return undefined
    const ticks = ((payload[2] ?? 0) << 8) | (payload[3] ?? 0)
    const ended = ((payload[1] ?? 0) & 0x80) !== 0
    const goesOn = last !== undefined && last.key === key && continues(last, { elapsed, ticks, ended })
    const isKnown = elapsed === 0 || goesOn
    this.#last =
      isKnown && last !== undefined
        ? { key: last.key, timestamp: timestamp | 0, ticks, ended }
        : { key, timestamp: timestamp | 0, ticks, ended }
    return isKnown ? undefined : key
  }

  /** The other side began a new stream: its timestamps have nothing to do with those before. */
  reset(): void {
    this.#last = undefined
  }
}

/** A segment of an event that is longer than a duration can say, or one packet of an event whose sender moves its timestamp. */
function continues(
  last: { ticks: number; ended: boolean },
  next: { elapsed: number; ticks: number; ended: boolean },
): boolean {
  if (next.elapsed === LONGEST_TICKS && last.ticks === LONGEST_TICKS && !last.ended) return true
  if (next.elapsed > next.ticks) return false
  return last.ended
    ? next.ended && next.ticks === last.ticks
    : next.ticks > last.ticks || (next.ended && next.ticks === last.ticks)
}

export interface DtmfPacket {
  payload: Uint8Array
  /** Where the key began. */
  timestamp: number
  marker: boolean
}

/** Sends keys, one packet a tick. */
export class DtmfSender {
  #queue: string[] = []
  #step = 0
  #startedAt = 0

  get isBusy(): boolean {
    return this.#queue.length > 0
  }

  /** Keys beyond 64 that wait are dropped. */
  send(keys: string): void {
    this.#queue = [...this.#queue, ...keys].slice(0, MAX_QUEUED)
  }

  /** What is due at this timestamp; undefined in the gap between two keys. `stepTicks`: 20 ms of the stream's clock. */
  tick(timestamp: number, stepTicks: number): DtmfPacket | undefined {
    const key = this.#queue[0]
    if (key === undefined) return undefined
    const step = this.#step++
    if (step === 0) this.#startedAt = timestamp
    if (step + 1 >= TONE_STEPS + ENDINGS + GAP_STEPS) {
      this.#queue.shift()
      this.#step = 0
    }
    if (step >= TONE_STEPS + ENDINGS) return undefined
    const ended = step >= TONE_STEPS
    const duration = Math.min(step + 1, TONE_STEPS) * stepTicks
    return {
      payload: Uint8Array.of(KEYS.indexOf(key), (ended ? 0x80 : 0) | VOLUME, duration >> 8, duration & 0xff),
      timestamp: this.#startedAt,
      marker: step === 0,
    }
  }
}
