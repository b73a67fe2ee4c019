/** One line of the report: what became of a part of the export. */
export interface ReportLine {
  /** `model.messages.0.content`. */
  path: string
  /** The field of the agent's file that has it. */
  to?: string
  /** Why it isn't taken, or what is to be done. */
  why?: string
}

type Path = readonly (string | number)[]

/** Reads an export and knows what was read: what nobody asked for is in the report, too, so that nothing is lost unseen. */
export class ExportReader {
  readonly #value: unknown
  readonly #lines: ReportLine[]
  /** By path: whether it was read whole, or something in it. */
  readonly #read: Map<string, 'whole' | 'part'>
  readonly #path: Path

  constructor(value: unknown, path: Path = [], lines: ReportLine[] = [], read = new Map<string, 'whole' | 'part'>()) {
    this.#value = value
    this.#path = path
    this.#lines = lines
    this.#read = read
  }

  get value(): unknown {
    return this.#value
  }

  /** The report so far, of the whole export. */
  get lines(): readonly ReportLine[] {
    return this.#lines
  }

  /** Whether anything of it went into a file. */
  get isMapped(): boolean {
    return this.#lines.some(({ to }) => to !== undefined)
  }

  get isThere(): boolean {
    return this.#value !== undefined && this.#value !== null
  }

  at(...path: Path): ExportReader {
    let value = this.#value
    for (const part of path) {
      value =
        typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>)[part] : undefined
    }
    return new ExportReader(value, [...this.#path, ...path], this.#lines, this.#read)
  }

  /** The items of a list, or the values of an object. */
  items(): ExportReader[] {
    const value = this.#value
    if (typeof value !== 'object' || value === null) return []
    return Array.isArray(value) ? value.map((_, i) => this.at(i)) : Object.keys(value).map((key) => this.at(key))
  }

  get key(): string {
    return String(this.#path.at(-1) ?? '')
  }

  text(): string | undefined {
    return typeof this.#value === 'string' && this.#value !== '' ? this.#value : undefined
  }

  number(): number | undefined {
    return typeof this.#value === 'number' && Number.isFinite(this.#value) ? this.#value : undefined
  }

  boolean(): boolean | undefined {
    return typeof this.#value === 'boolean' ? this.#value : undefined
  }

  record(): Record<string, unknown> | undefined {
    return typeof this.#value === 'object' && this.#value !== null && !Array.isArray(this.#value)
      ? (this.#value as Record<string, unknown>)
      : undefined
  }

  /** It is in that field of the file now. `why`: what is to be known about it. */
  mapped(to: string, why?: string): void {
    this.#write({ to, ...(why === undefined ? {} : { why }) })
  }

  /** It is not taken. */
  dropped(why: string): void {
    this.#write({ why })
  }

  /** Says nothing about the file: an id, a time, the text of a list that is reported item by item. */
  ignored(): void {
    this.#cover()
  }

  #write(line: Omit<ReportLine, 'path'>): void {
    if (!this.isThere) return
    this.#cover()
    this.#lines.push({ path: this.#path.join('.'), ...line })
  }

  #cover(): void {
    this.#read.set(JSON.stringify(this.#path), 'whole')
    for (let depth = this.#path.length - 1; depth >= 0; depth--) {
      const above = JSON.stringify(this.#path.slice(0, depth))
      if (this.#read.has(above)) return
      this.#read.set(above, 'part')
    }
  }

  /** Reports what was neither mapped nor dropped, each at its highest place; call it last. */
  rest(why: string): void {
    const read = this.#read.get(JSON.stringify(this.#path))
    if (!this.isThere || read === 'whole' || isEmpty(this.#value)) return
    const items = this.items()
    if (read === 'part' && items.length > 0) for (const item of items) item.rest(why)
    else this.dropped(why)
  }
}

/** Says nothing: null, an empty text, list or object. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.values(value).every(isEmpty)
}
