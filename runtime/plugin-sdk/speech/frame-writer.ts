import { randomUUID } from 'node:crypto'
import type { AsyncIterableQueue, tts, voice } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { concatSamples } from '../../media/frame.ts'

type AudioQueue = AsyncIterableQueue<tts.SynthesizedAudio | typeof tts.SynthesizeStream.END_OF_STREAM>

/** What is held back, at least: only the last frame of a segment is final, and whether one is the last is known with the next. */
const HELD_MS = 20
/** Sending costs the same for any frame length, but a frame that takes too long to make would delay others. */
const MOST_MS = 100

/** Cuts samples of one segment into frames as they come; the last one is marked final. */
export class FrameWriter {
  readonly #queue: Pick<AudioQueue, 'put' | 'closed'>
  readonly #sampleRateHz: number
  readonly #requestId: string
  readonly #heldSamples: number
  readonly #mostSamples: number
  #rest: Int16Array = new Int16Array(0)
  /** Words whose timings go with the next frame. */
  #words: voice.TimedString[] = []

  constructor(queue: Pick<AudioQueue, 'put' | 'closed'>, sampleRateHz: number, requestId: string = randomUUID()) {
    this.#queue = queue
    this.#sampleRateHz = sampleRateHz
    this.#requestId = requestId
    this.#heldSamples = Math.round((sampleRateHz * HELD_MS) / 1_000)
    this.#mostSamples = Math.round((sampleRateHz * MOST_MS) / 1_000)
  }

  /** Words of the segment, with their places in the audio of all segments. */
  time(words: readonly voice.TimedString[]): void {
    this.#words.push(...words)
  }

  /** Writes all but the last 20 ms to 40 ms, which wait for more. */
  write(samples: Int16Array): void {
    const all = concatSamples(this.#rest, samples)
    const units = Math.floor(all.length / this.#heldSamples) - 1
    const ready = Math.max(0, units) * this.#heldSamples
    for (let at = 0; at < ready; at += this.#mostSamples) {
      this.#put(all.slice(at, Math.min(ready, at + this.#mostSamples)), false)
    }
    this.#rest = all.slice(ready)
  }

  /** Writes the rest. */
  end(): void {
    if (this.#rest.length > 0) this.#put(this.#rest, true)
    this.#rest = new Int16Array(0)
  }

  #put(samples: Int16Array, final: boolean): void {
    if (this.#queue.closed) return
    const frame = new AudioFrame(samples, this.#sampleRateHz, 1, samples.length)
    const timed = this.#words.length > 0 ? { timedTranscripts: this.#words.splice(0) } : {}
    this.#queue.put({ requestId: this.#requestId, segmentId: this.#requestId, frame, final, ...timed })
  }
}
