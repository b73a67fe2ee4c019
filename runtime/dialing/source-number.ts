/** Which of our numbers a prospect sees. Pure. */

interface SourceNumber {
  number: string
  /** Attempts within 24 hours. */
  attempts: number
  /** Undefined: not lately. */
  lastMs: number | undefined
}

/** Chooses numbers one prospect after the other; each choice counts. */
export class SourceNumberChooser {
  readonly #numbers: SourceNumber[]
  readonly #maxPerDay: number

  /** @param maxPerDay 0: unlimited */
  constructor(numbers: readonly SourceNumber[], maxPerDay: number) {
    this.#numbers = numbers.map((one) => ({ ...one }))
    this.#maxPerDay = maxPerDay
  }

  /** How many calls may still begin; undefined: any number. */
  get room(): number | undefined {
    if (this.#maxPerDay === 0) return undefined
    return this.#numbers.reduce((sum, { attempts }) => sum + Math.max(0, this.#maxPerDay - attempts), 0)
  }

  /**
   * Another number than one from which the prospect could not be reached because the call was blocked, where there is one. Of
   * these: the number the prospect saw before, else one of their area code, else the one used least lately. Undefined: all have made
   * as many attempts as they may.
   */
  choose(prospect: { phone: string; before: string | null; wasBlocked?: boolean }, nowMs: number): string | undefined {
    const all = this.#numbers.filter(({ attempts }) => this.#maxPerDay === 0 || attempts < this.#maxPerDay)
    const others = prospect.wasBlocked === true ? all.filter(({ number }) => number !== prospect.before) : all
    const free = others.length > 0 ? others : all
    const area = areaOf(prospect.phone)
    const local = area === undefined ? [] : free.filter(({ number }) => areaOf(number) === area)
    const found = free.find(({ number }) => number === prospect.before) ?? leastLately(local) ?? leastLately(free)
    if (found === undefined) return undefined
    found.attempts++
    found.lastMs = Math.max(nowMs, (found.lastMs ?? 0) + 1)
    return found.number
  }
}

function leastLately(numbers: readonly SourceNumber[]): SourceNumber | undefined {
  let best: SourceNumber | undefined
  for (const one of numbers) {
    if (best === undefined || (one.lastMs ?? 0) < (best.lastMs ?? 0)) best = one
    else if ((one.lastMs ?? 0) === (best.lastMs ?? 0) && one.attempts < best.attempts) best = one
  }
  return best
}

/** Of North American numbers. */
function areaOf(number: string): string | undefined {
  return /^\+1\d{10}$/.test(number) ? number.slice(2, 5) : undefined
}
