import type { LinkSession } from '../link/api-end.ts'

/** What a call keeps while no worker runs its conversation, and what has to change when the next one does. */

/** How much of the caller's audio waits for a worker; what is older is dropped. */
const HELD_AUDIO_MS = 2_000
const MAX_HELD_CHUNKS = 400
const MAX_MARKS = 1_000

/** The caller's audio while there is no worker. Bounded: the oldest goes. */
export class HeldAudio {
  readonly #maxSamples: number
  #audio: { bytes: Uint8Array; timestamp: number }[] = []

  constructor(sampleRateHz: number) {
    this.#maxSamples = (sampleRateHz * HELD_AUDIO_MS) / 1000
  }

  audio(bytes: Uint8Array, timestamp: number): void {
    this.#audio.push({ bytes: bytes.slice(), timestamp })
    for (;;) {
      const oldest = this.#audio[0]
      if (oldest === undefined) return
      if (this.#audio.length <= MAX_HELD_CHUNKS && timestamp - oldest.timestamp <= this.#maxSamples) return
      this.#audio.shift()
    }
  }

  /** Hands everything over and is empty. */
  deliver(link: Pick<LinkSession, 'audio'>): void {
    const audio = this.#audio
    this.#audio = []
    for (const { bytes, timestamp } of audio) link.audio(bytes, timestamp)
  }
}

/**
 * Numbers the marks of a call. Each worker counts its own marks from the start; the leg sees one number once, and a mark
 * of a worker that died is not played back to the next.
 */
export class Marks {
  readonly #workerMarks = new Map<number, number>()
  #next = 1

  /** The leg's number for a mark of the worker. */
  issue(workerMark: number): number {
    const mark = this.#next++
    this.#workerMarks.set(mark, workerMark)
    if (this.#workerMarks.size > MAX_MARKS) {
      const [oldest] = this.#workerMarks.keys()
      this.#workerMarks.delete(oldest!)
    }
    return mark
  }

  /** The worker's number of a mark that was played; undefined for one never issued, played before or of another worker. */
  take(mark: number): number | undefined {
    const workerMark = this.#workerMarks.get(mark)
    this.#workerMarks.delete(mark)
    return workerMark
  }

  forget(): void {
    this.#workerMarks.clear()
  }
}
