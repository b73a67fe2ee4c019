import type { ObjectSource } from '../../../packages/plugin/object-store.ts'

/** Of an object, what goes over the pipe at once. */
export const PIECE_BYTES = 256 << 10

/** What the plugin's side of one use of an object store says to the role's. */
interface ObjectOut {
  /** Asks for bytes of the object to store: answered with one piece, or with the end. */
  need(start: number, end: number): void
  bytes(piece: Uint8Array): void
}

/**
 * The bytes of one use of an object store, on the plugin's side of the pipe: each piece goes when it is asked for, so neither side
 * keeps more than one. Imports nothing of Node: it runs in Deno, too.
 */
export class ObjectExchange {
  readonly #out: ObjectOut
  #asked = Promise.withResolvers<void>()
  #piece: PromiseWithResolvers<Uint8Array> | undefined
  #reading: Promise<unknown> = Promise.resolve()

  constructor(out: ObjectOut) {
    this.#out = out
  }

  /** The role wants the next piece. */
  more(): void {
    this.#asked.resolve()
  }

  /** A piece that was needed. */
  give(piece: Uint8Array): void {
    this.#piece?.resolve(piece)
  }

  /** What was needed can't be had. */
  lack(message: string): void {
    this.#piece?.reject(new Error(message))
  }

  /** What the role has to keep, read one piece after the other. */
  source(size: number, signal: AbortSignal): ObjectSource {
    const read = async (start: number, end: number): Promise<Uint8Array> => {
      if (!(start >= 0 && start <= end && end <= size)) throw new RangeError(`${start} to ${end} of ${size} bytes`)
      const whole = new Uint8Array(end - start)
      for (let from = start; from < end; from += PIECE_BYTES) {
        signal.throwIfAborted()
        this.#piece = Promise.withResolvers()
        this.#out.need(from, Math.min(end, from + PIECE_BYTES))
        whole.set(await this.#piece.promise, from - start)
      }
      return whole
    }
    return {
      size,
      bytes: (start, end) => {
        const reading = this.#reading.then(() => read(start, end))
        this.#reading = reading.catch(() => undefined)
        return reading
      },
    }
  }

  /** Gives the role what was kept, as it asks. */
  async send(body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    for await (const part of body) {
      for (let from = 0; from < part.length; from += PIECE_BYTES) {
        await Promise.race([this.#asked.promise, over])
        if (signal.aborted) return
        this.#asked = Promise.withResolvers()
        this.#out.bytes(part.subarray(from, from + PIECE_BYTES))
      }
    }
  }
}
