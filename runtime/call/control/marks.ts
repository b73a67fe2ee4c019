const MAX_MARKS = 1_000

/**
 * Numbers the marks of a call. Each worker counts its own marks from the start; the leg sees one number once, and a mark
 * of a worker that died is not played back to the next.
 */
export class Marks {
  readonly #workerMarks = new Map<number, number>()
  #next = 1

  /** The leg's number for a mark of the worker. */
  issue(workerMark: number): number {
    const mark = this.#next++
    this.#workerMarks.set(mark, workerMark)
    if (this.#workerMarks.size > MAX_MARKS) {
      const [oldest] = this.#workerMarks.keys()
      this.#workerMarks.delete(oldest!)
    }
    return mark
  }

  /** The worker's number of a mark that was played; undefined for one never issued, played before or of another worker. */
  take(mark: number): number | undefined {
    const workerMark = this.#workerMarks.get(mark)
    this.#workerMarks.delete(mark)
    return workerMark
  }

  forget(): void {
    this.#workerMarks.clear()
  }
}
