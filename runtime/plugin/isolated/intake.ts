import type { Readable } from 'node:stream'
import { boundary } from '../../lib/async/boundary.ts'
import { type Frame, PipeFrameReader, PLUGIN_LIMITS } from './frames.ts'

/** What a plugin may send in a second: forty voices at 48 kHz; and a token of each of two hundred answers every ten milliseconds. */
const MAX_BYTES_PER_S = 4 << 20
const MAX_FRAMES_PER_S = 20_000
/** What it takes of one turn of the event loop; the rest waits for the next, and others get their turn. */
const MAX_TURN_MS = 2
/** The clock is asked after so many. */
const FRAMES_A_LOOK = 16

interface IntakeHandler {
  frame(frame: Frame): void
  /** What came is no frame, or too much. It is not read any more. */
  broken(why: string): void
}

/** Reads what a plugin's process writes, so that it takes no more of the role's time than its calls can spare. */
export class Intake {
  readonly #pipe: Readable
  readonly #handler: IntakeHandler
  readonly #reader = new PipeFrameReader(PLUGIN_LIMITS)
  #bytes = 0
  #frames = 0
  /** Bytes that were asked for. */
  #expected = 0
  #isOver = false

  /** `others`: what it writes besides, to be logged. */
  constructor(pipe: Readable, others: readonly { pipe: Readable; log(text: string): void }[], handler: IntakeHandler) {
    this.#pipe = pipe
    this.#handler = handler
    pipe
      .on('error', () => undefined)
      .on(
        'data',
        boundary('plugin', (bytes: Buffer) => {
          if (!this.#counts(bytes)) return
          this.#reader.push(bytes)
          this.#take()
        }),
      )
    for (const { pipe: other, log } of others) {
      other
        .on('error', () => undefined)
        .on(
          'data',
          boundary('plugin', (bytes: Buffer) => {
            if (this.#counts(bytes)) log(bytes.toString('utf8', 0, MAX_LOGGED_BYTES).trim())
          }),
        )
    }
  }

  /** So many milliseconds have passed. */
  passed(ms: number): void {
    this.#bytes = Math.max(0, this.#bytes - (MAX_BYTES_PER_S * ms) / 1_000)
    this.#frames = Math.max(0, this.#frames - (MAX_FRAMES_PER_S * ms) / 1_000)
  }

  /** So many bytes were asked for: they are no flood. */
  expect(bytes: number): void {
    this.#expected += bytes
  }

  end(): void {
    this.#isOver = true
    this.#pipe.destroy()
  }

  #counts({ length }: Buffer): boolean {
    const expected = Math.min(length, this.#expected)
    this.#expected -= expected
    this.#bytes += length - expected
    if (this.#bytes > MAX_BYTES_PER_S) this.#break('it flooded its pipe')
    return !this.#isOver
  }

  #take(): void {
    const untilMs = performance.now() + MAX_TURN_MS
    try {
      for (let taken = 1; !this.#isOver; taken++) {
        const frame = this.#reader.next()
        if (frame === undefined) {
          this.#pipe.resume()
          return
        }
        if (++this.#frames > MAX_FRAMES_PER_S) {
          this.#break('it flooded its pipe with messages')
          return
        }
        this.#handler.frame(frame)
        if (taken % FRAMES_A_LOOK !== 0 || performance.now() < untilMs) continue
        this.#pipe.pause()
        setImmediate(boundary('plugin', () => this.#take()))
        return
      }
    } catch (error) {
      this.#break(`it wrote what is no message (${error instanceof Error ? error.message : error})`)
    }
  }

  #break(why: string): void {
    if (this.#isOver) return
    this.end()
    this.#handler.broken(why)
  }
}

/** Of what comes at once beside the messages. */
const MAX_LOGGED_BYTES = 8_000
