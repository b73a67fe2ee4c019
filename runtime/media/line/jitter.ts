/** Packets held back at most while a late one is waited for; beyond, the oldest hole is given up. */
const MAX_HELD_PACKETS = 50

/** What the packets of one stream hold. They are read in the order in which they were sent, each once. */
export interface PacketReader {
  readonly sampleRateHz: number
  /** Samples in a packet, without reading it. */
  samplesIn(packet: Uint8Array): number
  /** The samples of a packet; none where nothing in it can be heard. */
  read(packet: Uint8Array): Int16Array
  /** `samples` in place of those lost before `next`. */
  conceal(samples: number, next: Uint8Array): Int16Array[]
}

interface JitterOptions {
  /** How long a missing packet is waited for before it is concealed. */
  maxWaitMs: number
  /** A hole longer than this is a new stream (a restarted sender), not a loss to be filled. */
  maxFillMs: number
}

interface Held {
  timestamp: number
  packet: Uint8Array
  atMs: number
}

/**
 * Puts packets into order by timestamp and fills what was lost, so that what follows sees one unbroken run of samples.
 * Packets that arrive in order pass at once: no delay is added to a clean line. Pure: time is passed in.
 */
export class JitterBuffer {
  readonly #reader: PacketReader
  readonly #maxWaitMs: number
  readonly #maxFillSamples: number
  readonly #held: Held[] = []
  #expected: number | undefined
  /** Of the last packet, in full. */
  #lastTimestamp = 0
  /** Samples that never came, and of packets that came too late. */
  lost = 0
  lateSamples = 0

  constructor(reader: PacketReader, { maxWaitMs, maxFillMs }: JitterOptions) {
    this.#reader = reader
    this.#maxWaitMs = maxWaitMs
    this.#maxFillSamples = (maxFillMs * reader.sampleRateHz) / 1000
  }

  /** The timestamp behind the last sample that was given out, beyond 32 bits where timestamps are. */
  get position(): number {
    return this.#lastTimestamp + (((this.#expected ?? 0) - this.#lastTimestamp) | 0)
  }

  /** Takes a packet; returns what is now in order. `timestamp` counts samples and may wrap at 32 bits. */
  push(packet: Uint8Array, timestamp: number, nowMs: number): Int16Array[] {
    if (packet.length === 0) return []
    this.#lastTimestamp = timestamp
    this.#expected ??= timestamp | 0
    const ahead = ((timestamp | 0) - this.#expected) | 0
    if (ahead < 0 && -ahead < this.#maxFillSamples) {
      this.lateSamples += this.#reader.samplesIn(packet)
      return []
    }
    const out: Int16Array[] = []
    if (ahead < 0 || ahead > this.#maxFillSamples) {
      this.#release(out, nowMs, true)
      this.#expected = timestamp | 0
      this.#pass(out, this.#reader.read(packet))
      return out
    }
    if (ahead === 0) this.#pass(out, this.#reader.read(packet))
    else this.#insert({ timestamp: timestamp | 0, packet: packet.slice(), atMs: nowMs })
    this.#release(out, nowMs, this.#held.length > MAX_HELD_PACKETS)
    return out
  }

  /** Gives up holes that were waited for long enough. Call it once a tick. */
  tick(nowMs: number): Int16Array[] {
    const out: Int16Array[] = []
    this.#release(out, nowMs, false)
    return out
  }

  #pass(out: Int16Array[], samples: Int16Array): void {
    if (samples.length === 0) return
    this.#expected = (this.#expected! + samples.length) | 0
    out.push(samples)
  }

  #insert(packet: Held): void {
    let i = this.#held.length
    while (i > 0 && ((this.#held[i - 1]!.timestamp - packet.timestamp) | 0) > 0) i--
    if (i > 0 && this.#held[i - 1]!.timestamp === packet.timestamp) return
    this.#held.splice(i, 0, packet)
  }

  #release(out: Int16Array[], nowMs: number, force: boolean): void {
    for (let next = this.#held[0]; next !== undefined; next = this.#held[0]) {
      const { packet, timestamp, atMs } = next
      const gap = (timestamp - this.#expected!) | 0
      if (gap > 0) {
        if (!force && nowMs - atMs < this.#maxWaitMs) break
        this.lost += gap
        for (const run of this.#reader.conceal(gap, packet)) this.#pass(out, run)
      }
      this.#held.shift()
      // Of a packet that overlaps what was passed, only the new part is heard.
      if (-gap < this.#reader.samplesIn(packet)) this.#pass(out, this.#reader.read(packet).subarray(Math.max(0, -gap)))
    }
  }
}
