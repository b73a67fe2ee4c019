/**
 * Sound that is the same each time, made frame by frame when it is first asked for: the loop that sends it never waits for more than
 * the frames it sends. Made in order, for an encoder keeps the state of one stream.
 */
export class LazyFrames {
  readonly #count: number
  readonly #make: (index: number) => Uint8Array
  readonly #made: Uint8Array[] = []

  /** @param count frames until it begins again @param make encodes one; called once for each, from the first up */
  constructor(count: number, make: (index: number) => Uint8Array) {
    this.#count = count
    this.#make = make
  }

  at(index: number): Uint8Array {
    const wanted = index % this.#count
    while (this.#made.length <= wanted) this.#made.push(this.#make(this.#made.length))
    return this.#made[wanted]!
  }
}
