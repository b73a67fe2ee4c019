/**
 * A bounded line in which workspaces take turns, and within a workspace its units. Weighted fair queueing with start tags:
 * each turn moves its workspace back by 1 / weight, and one that comes new, or comes back, stands where the line is now: it
 * waits for one turn of each other workspace at most, however much they have queued. Pure.
 */
export interface QueuePlace {
  workspaceId: string
  /** Default: the workspace has one. */
  unit?: string
  /** Turns compared with a workspace of weight 1. */
  weight?: number
}

interface Line<T> {
  readonly workspaceId: string
  weight: number
  startTag: number
  size: number
  /** In turn order. */
  readonly units: Map<string, Set<T>>
}

export class FairQueue<T> {
  readonly #capacity: number
  readonly #lines = new Map<string, Line<T>>()
  readonly #placeOf = new Map<T, { line: Line<T>; unit: string }>()
  #virtualTime = 0

  /** @param capacity items that wait at once, of all workspaces */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#placeOf.size
  }

  /** The workspaces that wait. */
  get workspaceIds(): string[] {
    return [...this.#lines.keys()]
  }

  sizeOf(workspaceId: string): number {
    return this.#lines.get(workspaceId)?.size ?? 0
  }

  /**
   * Puts the item in. When that is one too many, returns who has to leave: the newest of the workspace that has most in line,
   * which may be the item itself.
   */
  add(item: T, { workspaceId, unit = '', weight = 1 }: QueuePlace): T | undefined {
    let line = this.#lines.get(workspaceId)
    if (line === undefined) {
      line = { workspaceId, weight, startTag: this.#virtualTime, size: 0, units: new Map() }
      this.#lines.set(workspaceId, line)
    }
    line.weight = weight
    const items = line.units.get(unit) ?? new Set()
    line.units.set(unit, items)
    items.add(item)
    line.size++
    this.#placeOf.set(item, { line, unit })
    if (this.size <= this.#capacity) return undefined
    const leaving = this.#newestOfLongest(line, item)
    this.remove(leaving)
    return leaving
  }

  /** False when it isn't in line. */
  remove(item: T): boolean {
    const place = this.#placeOf.get(item)
    if (place === undefined) return false
    this.#placeOf.delete(item)
    const { line, unit } = place
    const items = line.units.get(unit)
    items?.delete(item)
    if (items?.size === 0) line.units.delete(unit)
    if (--line.size === 0) this.#lines.delete(line.workspaceId)
    return true
  }

  /**
   * Takes who is next out of the line.
   * @param mayGo workspaces for which this is false are passed over
   */
  next(mayGo?: (workspaceId: string) => boolean): T | undefined {
    let first: Line<T> | undefined
    for (const line of this.#lines.values()) {
      if (first !== undefined && line.startTag >= first.startTag) continue
      if (mayGo === undefined || mayGo(line.workspaceId)) first = line
    }
    return first && this.#takeFrom(first)
  }

  /** Takes the workspace's next entry, where the caller decides which workspace is next. */
  nextOf(workspaceId: string): T | undefined {
    const line = this.#lines.get(workspaceId)
    return line && this.#takeFrom(line)
  }

  /** Who `nextOf` would take; stays in line. */
  peekOf(workspaceId: string): T | undefined {
    const [items] = this.#lines.get(workspaceId)?.units.values() ?? []
    const [item] = items ?? []
    return item
  }

  #takeFrom(line: Line<T>): T | undefined {
    const [first] = line.units
    if (first === undefined) return undefined
    const [unit, items] = first
    const [item] = items
    // The unit's next turn comes after the others'.
    line.units.delete(unit)
    line.units.set(unit, items)
    this.#virtualTime = Math.max(this.#virtualTime, line.startTag)
    line.startTag = Math.max(line.startTag, this.#virtualTime) + 1 / line.weight
    if (item === undefined) return undefined
    this.remove(item)
    return item
  }

  /** Of lines equally long the newcomer's is taken for the longest: who waits already stays. */
  #newestOfLongest(own: Line<T>, item: T): T {
    let longest = own
    for (const line of this.#lines.values()) if (line.size > longest.size) longest = line
    if (longest === own) return item
    let newest = item
    for (const items of longest.units.values()) for (const one of items) newest = one
    return newest
  }
}
