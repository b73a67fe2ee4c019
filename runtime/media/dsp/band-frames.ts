import { FLOOR_DB, type Levels } from './bands.ts'

/** Frames kept: of the last 2.5 s. */
const KEPT = 128

/** The levels of the last frames by slot. */
export class BandFrames {
  readonly #levels: (Levels | undefined)[] = new Array(KEPT)
  readonly #slots = new Float64Array(KEPT).fill(-1)
  readonly #loudest = new Float32Array(KEPT)

  put(slot: number, levels: Levels): void {
    const at = slot % KEPT
    this.#levels[at] = levels
    this.#slots[at] = slot
    this.#loudest[at] = Math.max(...levels)
  }

  at(slot: number): Levels | undefined {
    return this.#slots[slot % KEPT] === slot ? this.#levels[slot % KEPT] : undefined
  }

  /** The level of the loudest band; that of silence where there is no frame. */
  loudest(slot: number): number {
    return this.#slots[slot % KEPT] === slot ? this.#loudest[slot % KEPT]! : FLOOR_DB
  }
}
