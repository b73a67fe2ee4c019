/**
 * Counts how many different integers (0 to 2^53 - 1) there were, exactly. A million phone numbers take 4 MiB and a tenth of a
 * second: they are put aside in order of arrival and sorted once at the end, which no table with its scattered reads beats.
 */
interface DistinctCounter {
  add(value: number): void
  /** How many were added. */
  readonly total: number
  distinct(): number
}

const FIRST_CAPACITY = 16
const TWO_TO_32 = 0x1_0000_0000

export function createDistinctCounter(): DistinctCounter {
  /** By their upper bits, which the numbers of a country share: only the lower 32 are kept of each. */
  const lists = new Map<number, LowerBits>()
  let total = 0
  let lastUpper = -1
  let last: LowerBits | undefined
  return {
    add(value) {
      const upper = Math.floor(value / TWO_TO_32)
      if (upper !== lastUpper || last === undefined) {
        last = lists.get(upper)
        if (last === undefined) {
          last = new LowerBits()
          lists.set(upper, last)
        }
        lastUpper = upper
      }
      last.push(value >>> 0)
      total++
    },
    get total() {
      return total
    },
    distinct: () => [...lists.values()].reduce((sum, list) => sum + list.distinct(), 0),
  }
}

class LowerBits {
  #values = new Uint32Array(FIRST_CAPACITY)
  #length = 0

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Uint32Array(this.#length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#length++] = value
  }

  distinct(): number {
    const sorted = this.#values.subarray(0, this.#length).sort()
    let count = 0
    for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) count++
    return count
  }
}
