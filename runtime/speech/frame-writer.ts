import { randomUUID } from 'node:crypto'
import type { AsyncIterableQueue, tts, voice } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'

type AudioQueue = AsyncIterableQueue<tts.SynthesizedAudio | typeof tts.SynthesizeStream.END_OF_STREAM>

/** Cuts samples into 20 ms frames of one segment; the last one is marked final. */
export class FrameWriter {
  readonly #queue: Pick<AudioQueue, 'put' | 'closed'>
  readonly #sampleRateHz: number
  readonly #requestId: string
  readonly #buffer: Int16Array<ArrayBuffer>
  #filled = 0
  #last: AudioFrame | undefined
  /** Words whose timings go with the next frame. */
  #words: voice.TimedString[] = []

  constructor(queue: Pick<AudioQueue, 'put' | 'closed'>, sampleRateHz: number, requestId: string = randomUUID()) {
    this.#queue = queue
    this.#sampleRateHz = sampleRateHz
    this.#requestId = requestId
    this.#buffer = new Int16Array(Math.round(sampleRateHz / 50))
  }

  /** Words of the segment, with their places in the audio of all segments. */
  time(words: readonly voice.TimedString[]): void {
    this.#words.push(...words)
  }

  write(samples: Int16Array): void {
    let offset = 0
    while (offset < samples.length) {
      const part = samples.subarray(offset, offset + this.#buffer.length - this.#filled)
      this.#buffer.set(part, this.#filled)
      this.#filled += part.length
      offset += part.length
      if (this.#filled === this.#buffer.length) this.#emit()
    }
  }

  /** Writes the rest. Every frame is held back until the next is known, for only the last of a segment is final. */
  end(): void {
    if (this.#filled > 0) this.#emit()
    if (this.#last) this.#put(this.#last, true)
    this.#last = undefined
  }

  #emit(): void {
    const frame = new AudioFrame(this.#buffer.slice(0, this.#filled), this.#sampleRateHz, 1, this.#filled)
    this.#filled = 0
    if (this.#last) this.#put(this.#last, false)
    this.#last = frame
  }

  #put(frame: AudioFrame, final: boolean): void {
    if (this.#queue.closed) return
    const timed = this.#words.length > 0 ? { timedTranscripts: this.#words.splice(0) } : {}
    this.#queue.put({ requestId: this.#requestId, segmentId: this.#requestId, frame, final, ...timed })
  }
}
