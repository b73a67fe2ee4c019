import type { AudioFrame } from '@livekit/rtc-node'
import { boundary } from '../../lib/async/boundary.ts'
import { sentenceEnds } from '../../plugin-sdk/speech/sentences.ts'

/** What a voice is given at once lasts about so long: eight seconds of ordinary speech. */
const PART_LETTERS = 120
/** A part without a sentence end is cut here. */
const MAX_PART_CHARS = 600
/** A letter that takes as long to say as two of an alphabet. */
const SYLLABLE = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/gu

/** Of a frame: whose sound it is. */
const READ_AHEAD = 'patchbay.read_ahead'

/**
 * How much of one answer's sound was made and not played yet. It travels with the frames, from the voice that makes them to the
 * output that plays them.
 */
export class ReadAhead {
  #madeMs = 0
  #playedMs = 0
  /** Who waits until less is left. */
  #waiting: { limitMs: number; resolve: () => void } | undefined

  /** The one whose sound the frame is. */
  static of(frame: AudioFrame): ReadAhead | undefined {
    const found = frame.userdata[READ_AHEAD]
    return found instanceof ReadAhead ? found : undefined
  }

  made(frame: AudioFrame): void {
    this.#madeMs += (frame.samplesPerChannel * 1000) / frame.sampleRate
    frame.userdata[READ_AHEAD] = this
  }

  /** So much more of it was played, or will never be. */
  played(ms: number): void {
    this.#playedMs += ms
    if (this.#waiting !== undefined && this.#leftMs < this.#waiting.limitMs) this.#waiting.resolve()
  }

  /** Resolves when less than this is left to play, or the signal ends the wait. */
  async low(limitMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#leftMs < limitMs) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = boundary('provider', () => resolve())
    this.#waiting = { limitMs, resolve }
    signal.addEventListener('abort', done, { once: true })
    await promise
    this.#waiting = undefined
    signal.removeEventListener('abort', done)
  }

  get #leftMs(): number {
    return this.#madeMs - this.#playedMs
  }
}

/**
 * Where the part of a text ends that a voice is given at once: behind a sentence, and some seconds long.
 * @param givenChars so much of it was given already
 * @returns undefined: it may all be given, and what comes next may belong to it
 */
export function endOfPart(text: string, givenChars: number, language: string): number | undefined {
  const looked = text.slice(0, MAX_PART_CHARS + 1)
  for (const end of sentenceEnds(looked, language)) {
    // What stands at the end of a text may go on with the next word.
    if (end >= looked.length || end < givenChars) continue
    const part = looked.slice(0, end)
    if (end + (part.match(SYLLABLE)?.length ?? 0) >= PART_LETTERS) return end
  }
  if (text.length <= MAX_PART_CHARS) return undefined
  const blank = text.lastIndexOf(' ', MAX_PART_CHARS - 1) + 1
  return Math.max(givenChars, blank > 0 ? blank : MAX_PART_CHARS)
}
