import type { Levels } from './bands.ts'

/** What is quietest within two blocks of this many frames is noise: speech pauses sooner. */
const BLOCK_FRAMES = 100
/** Share of a new frame in the smoothed level: that of a single one varies by several dB. */
const NEW_SHARE = 0.25
/** A voice may be there from the first frame on: each of the first frames may be the quietest. */
const FIRST_FRAMES = 15
/** Energy of noise in a single frame, against the least of its smoothed energies. */
const MOST_ABOVE = 4

const energyOf = (db: number): number => 10 ** (db / 10)

/** Learns what sounds on a line all the time, such as a fan or a street, and tells the levels of what sounds beside it. Pure. */
export class NoiseFloor {
  readonly #quietDb: number
  readonly #quiet: number
  readonly #smooth: number[] = []
  #least: number[] = []
  #leastBefore: readonly number[] = []
  #frames = 0

  /** @param quietDb level of a band in which nothing sounds, and below which noise is none */
  constructor(quietDb: number) {
    this.#quietDb = quietDb
    this.#quiet = energyOf(quietDb)
  }

  /** The levels of the next frame, without the noise. */
  without(levels: Levels): Levels {
    if (this.#frames++ % BLOCK_FRAMES === 0) {
      this.#leastBefore = this.#least
      this.#least = []
    }
    const share = this.#frames < FIRST_FRAMES ? 1 : NEW_SHARE
    return levels.map((db, band) => {
      const energy = energyOf(db)
      const smooth = this.#smooth[band] ?? energy
      this.#smooth[band] = smooth + (energy - smooth) * share
      const least = Math.min(this.#least[band] ?? Number.POSITIVE_INFINITY, this.#smooth[band]!)
      this.#least[band] = least
      const noise = Math.min(least, this.#leastBefore[band] ?? least) - this.#quiet
      if (noise <= 0) return db
      const left = energy - noise * MOST_ABOVE
      return left <= this.#quiet ? this.#quietDb : 10 * Math.log10(left)
    })
  }
}
