import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** What test files took when they last ran on this machine. */
export class LastTimes {
  readonly #path: string
  readonly #seconds = new Map<string, number>()

  constructor(folder: string = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')) {
    this.#path = join(folder, 'patchbay', 'test-times.json')
    try {
      const kept: Record<string, unknown> = JSON.parse(readFileSync(this.#path, 'utf8'))
      for (const [name, seconds] of Object.entries(kept)) {
        if (typeof seconds === 'number') this.#seconds.set(name, seconds)
      }
    } catch {
      // The first run, or a file that somebody broke.
    }
  }

  of(name: string): number | undefined {
    return this.#seconds.get(name)
  }

  took(name: string, seconds: number): void {
    this.#seconds.set(name, Math.round(seconds * 10) / 10)
  }

  /** For the next run; a folder that can't be written costs it its order alone. */
  keep(): void {
    try {
      mkdirSync(dirname(this.#path), { recursive: true })
      writeFileSync(this.#path, JSON.stringify(Object.fromEntries(this.#seconds)))
    } catch {}
  }
}

/**
 * Files that share a process first, for they start least beside themselves while others play and hear; then the rest. Of either those
 * that were never seen, then those that took longest, so that none is left to run alone at the end.
 */
export function inOrder<U extends { name: string; group: readonly string[] }>(
  units: readonly U[],
  times: Pick<LastTimes, 'of'>,
): U[] {
  const seconds = ({ name }: U): number => times.of(name) ?? Number.MAX_VALUE
  const isShared = ({ group }: U): number => (group.length > 1 ? 1 : 0)
  return [...units].sort((one, other) => isShared(other) - isShared(one) || seconds(other) - seconds(one))
}
