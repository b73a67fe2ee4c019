import { webInstance, webModule } from '../../media/dsp/web-module.ts'
import { MAX_DIMENSIONS } from '../dense.ts'
import { DOTS_WASM } from './dots.ts'

/**
 * Rows of vectors lie in memory that dots.wat reads in place, in pages of one size, so that in whatever order indexes come and go,
 * space freed by one fits the next. A bank is the memory of one instance of the module; its pages cost nothing until used.
 */
export const PAGE_BYTES = 32 * 1024
/** Pages the module reads side by side. */
export const STREAMS = 8
const BANK_BYTES = 64 * 1024 * 1024
/** What a bank holds before its pages: the query, where the rows begin, the sums. */
const QUERY_AT = 0
const STARTS_AT = MAX_DIMENSIONS * Int16Array.BYTES_PER_ELEMENT
const SUMS_AT = STARTS_AT + STREAMS * Int32Array.BYTES_PER_ELEMENT
/** The narrowest rows have 16 bytes. */
const MAX_SUMS = (PAGE_BYTES / 16) * STREAMS
const FIRST_PAGE_AT = Math.ceil((SUMS_AT + MAX_SUMS * Int32Array.BYTES_PER_ELEMENT) / PAGE_BYTES) * PAGE_BYTES

export interface VectorPage {
  readonly bank: Bank
  /** Where it begins in the bank's memory. */
  readonly at: number
}

interface DotsModule {
  memory: { buffer: ArrayBuffer }
  dots(starts: number, count: number, width: number, query: number, sums: number): void
}

export class Bank {
  /** Sums of the rows that `dots` compared last: those of row r in the page of stream s are at r * STREAMS + s. */
  readonly sums: Int32Array
  readonly #bytes: Int8Array
  readonly #starts: Int32Array
  readonly #query: Int16Array
  readonly #module: DotsModule
  readonly #free: number[] = []

  constructor(module: object) {
    this.#module = webInstance(module) as DotsModule
    const { buffer } = this.#module.memory
    this.#bytes = new Int8Array(buffer)
    this.#query = new Int16Array(buffer, QUERY_AT, MAX_DIMENSIONS)
    this.#starts = new Int32Array(buffer, STARTS_AT, STREAMS)
    this.sums = new Int32Array(buffer, SUMS_AT, MAX_SUMS)
    for (let at = BANK_BYTES - PAGE_BYTES; at >= FIRST_PAGE_AT; at -= PAGE_BYTES) this.#free.push(at)
  }

  get isEmpty(): boolean {
    return this.#free.length === (BANK_BYTES - FIRST_PAGE_AT) / PAGE_BYTES
  }

  take(): VectorPage | undefined {
    const at = this.#free.pop()
    return at === undefined ? undefined : { bank: this, at }
  }

  give({ at }: VectorPage): void {
    this.#free.push(at)
  }

  write({ at }: VectorPage, offset: number, bytes: Int8Array): void {
    this.#bytes.set(bytes, at + offset)
  }

  setQuery(steps: Int16Array): void {
    this.#query.set(steps)
  }

  /** Multiplies the query with the first `count` rows of each page; of pages fewer than STREAMS, the last is read again. */
  dots(pages: readonly VectorPage[], count: number, width: number): void {
    for (let s = 0; s < STREAMS; s++) this.#starts[s] = pages[Math.min(s, pages.length - 1)]!.at
    this.#module.dots(STARTS_AT, count, width, QUERY_AT, SUMS_AT)
  }
}

export class Pages {
  /** Compiled on first use. */
  #module: object | undefined
  readonly #banks = new Set<Bank>()

  /** @throws RangeError when the process has no more memory. */
  take(): VectorPage {
    for (const bank of this.#banks) {
      const page = bank.take()
      if (page !== undefined) return page
    }
    this.#module ??= webModule(DOTS_WASM)
    const bank = new Bank(this.#module)
    this.#banks.add(bank)
    return bank.take()!
  }

  /** A bank without pages in use goes to the garbage collector. */
  give(pages: readonly VectorPage[]): void {
    for (const page of pages) {
      page.bank.give(page)
      if (page.bank.isEmpty) this.#banks.delete(page.bank)
    }
  }
}
