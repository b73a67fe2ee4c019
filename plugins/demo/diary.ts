const MAX_BOOKINGS = 200
const MAX_ANSWERS = 200

/** What a workspace has booked, and what it was answered by key: the oldest goes where there is no more room. */
export class Diary {
  readonly #bookings = new Map<string, number>()
  readonly #answers = new Map<string, string>()

  booked(what: string): number {
    return this.#bookings.get(what) ?? 0
  }

  book(what: string): void {
    put(this.#bookings, what, this.booked(what) + 1, MAX_BOOKINGS)
  }

  answered(key: string): string | undefined {
    return this.#answers.get(key)
  }

  keepAnswer(key: string, answer: string): void {
    put(this.#answers, key, answer, MAX_ANSWERS)
  }
}

function put<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}
