import type { LinkSession } from '../link/api-end.ts'
import type { CallEventBody } from '../log/events.ts'

/** Always kept: audio that a hung or overloaded worker may not have reported on yet. */
const RECENT_MS = 6_000
/** Speech begins in the audio before the worker reports it. */
const BEFORE_SPEECH_MS = 1_000
/** Delay between the start of a silence and the worker's report of it, when the worker keeps up. */
const SILENCE_TOLD_AFTER_MS = 200
/** Finished speech that produces no turn within this time is treated as noise. */
const SETTLED_MS = 8_000
/** Kept at most: speech before the worker was lost, and what is said until the next one is there. */
const MAX_KEPT_MS = 30_000

interface Chunk {
  bytes: Uint8Array
  timestamp: number
  atMs: number
}

/**
 * The caller's audio that no turn in the log covers yet. When the worker that hears it dies, the next worker
 * hears it first, so that the caller is not asked to repeat it. Bounded. Pure: times are monotonic milliseconds, passed in.
 */
export class CallerAudio {
  #chunks: Chunk[] = []
  /** Up to here the caller's words are in the log. */
  #saidUntilMs = Number.NEGATIVE_INFINITY
  #speechFromMs: number | undefined
  #speechEndMs: number | undefined
  #answeredAtMs = 0
  /** Since when there is no worker. */
  #aloneSinceMs: number | undefined
  /** Where the last stretch of speech began. */
  #startedMs = Number.NEGATIVE_INFINITY

  hear(bytes: Uint8Array, timestamp: number, nowMs: number): void {
    this.#chunks.push({ bytes: Buffer.from(bytes), timestamp, atMs: nowMs })
    this.#forget(nowMs)
  }

  /** An event of the call's log was written. */
  take(event: CallEventBody, nowMs: number): void {
    switch (event.type) {
      case 'answered':
        this.#answeredAtMs = nowMs
        break
      case 'speech_started':
        this.#startedMs = nowMs
        this.#speechFromMs ??= nowMs - BEFORE_SPEECH_MS
        this.#speechEndMs = undefined
        break
      case 'speech_ended':
        this.#speechEndMs = nowMs
        break
      case 'turn':
        // A turn that was typed or keyed says nothing of what was spoken meanwhile.
        if (event.inputs === undefined || event.inputs.length === 0) this.#said(event.end_ms)
        break
      case 'not_understood':
        this.#said(event.end_ms)
        break
      case 'worker_lost':
        this.#aloneSinceMs ??= nowMs
    }
  }

  /** The last packet, and when it came, in milliseconds from the answer. */
  get last(): { timestamp: number; ms: number } | undefined {
    const last = this.#chunks.at(-1)
    return last && { timestamp: last.timestamp, ms: Math.round(last.atMs - this.#answeredAtMs) }
  }

  /** Gives a worker that takes the call what it has to hear first. It is kept on: this worker may die, too. */
  deliver(link: Pick<LinkSession, 'audio'>, nowMs: number): void {
    this.#forget(nowMs)
    this.#aloneSinceMs = undefined
    for (const { bytes, timestamp } of this.#chunks) link.audio(bytes, timestamp)
  }

  /** The worker was well to the end: what the caller says now is all that the next one has to hear first. */
  settle(nowMs: number): void {
    const fromMs = this.#speechFromMs ?? nowMs - BEFORE_SPEECH_MS
    this.#chunks = this.#chunks.filter(({ atMs }) => atMs >= fromMs)
  }

  /** Clears the replay buffer: this audio crashed the last workers (poison input). */
  drop(): void {
    this.#chunks = []
    this.#speechFromMs = undefined
  }

  #said(endMs: number): void {
    // The worker may be slow: its report of the silence marks the end, not its clock.
    const silentMs = (this.#speechEndMs ?? Number.NEGATIVE_INFINITY) - SILENCE_TOLD_AFTER_MS
    this.#saidUntilMs = Math.max(this.#answeredAtMs + endMs, silentMs)
    // A turn is reported some time after it was spoken: speech that began since then belongs to the next one.
    if (this.#startedMs > this.#saidUntilMs) {
      this.#speechFromMs = this.#startedMs - BEFORE_SPEECH_MS
      return
    }
    this.#speechFromMs = undefined
    this.#speechEndMs = undefined
  }

  #forget(nowMs: number): void {
    if (this.#speechEndMs !== undefined && nowMs - this.#speechEndMs > SETTLED_MS && this.#aloneSinceMs === undefined) {
      this.#speechFromMs = undefined
      this.#speechEndMs = undefined
    }
    const recentMs = (this.#aloneSinceMs ?? nowMs) - RECENT_MS
    // Audio before reported speech is settled; whether a worker hangs is known only once it is lost.
    const openMs = this.#speechFromMs ?? recentMs
    const fromMs = Math.max(openMs, this.#saidUntilMs, nowMs - MAX_KEPT_MS)
    let old = 0
    while (old < this.#chunks.length && this.#chunks[old]!.atMs < fromMs) old++
    if (old > 0) this.#chunks.splice(0, old)
  }
}
