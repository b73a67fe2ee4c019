import type { SpeechSegment } from './speech-segment.ts'

/** A client that says it plays later than this is not believed. */
const MAX_DELAY_MS = 3_000
/** Marks that a client has not answered yet. */
const MAX_MARKS = 16

/** A frame on its way to the listener: sent, and not dropped since. */
export interface FrameOnTheWay {
  atMs: number
  /** Its place in what is said. */
  leftMs: number
  frame: Int16Array
  /** What it is of; undefined: something said out of turn. */
  of: SpeechSegment | undefined
}

/** What was sent and may not have been heard yet: what lies between sending and hearing is learnt from the client's marks. Pure. */
export class Playout {
  /** Oldest first. */
  #onTheWay: FrameOnTheWay[] = []
  readonly #sentAtMs = new Map<number, number>()
  #markId = 0
  #delayMs = 0

  sent(frame: FrameOnTheWay): void {
    this.#onTheWay.push(frame)
    while (this.#onTheWay[0]!.atMs <= frame.atMs - MAX_DELAY_MS) this.#onTheWay.shift()
  }

  unheard(nowMs: number): FrameOnTheWay[] {
    const heardUpToMs = nowMs - this.#delayMs
    return this.#onTheWay.filter(({ atMs }) => atMs > heardUpToMs)
  }

  /** The client dropped what it held. */
  cleared(): void {
    this.#onTheWay = []
  }

  /** A mark that is sent behind the last frame. */
  mark(nowMs: number): number {
    const id = this.#markId++
    this.#sentAtMs.set(id, nowMs)
    if (this.#sentAtMs.size > MAX_MARKS) this.#sentAtMs.delete(this.#sentAtMs.keys().next().value!)
    return id
  }

  /** The client says that playback reached a mark. */
  played(markId: number, nowMs: number): void {
    const sentMs = this.#sentAtMs.get(markId)
    if (sentMs === undefined) return
    for (const id of this.#sentAtMs.keys()) if (id <= markId) this.#sentAtMs.delete(id)
    this.#delayMs = Math.min(MAX_DELAY_MS, Math.max(0, nowMs - sentMs))
  }
}
