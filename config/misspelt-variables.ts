import { nearest } from '../runtime/lib/nearest.ts'
import type { EnvFile } from './env-file.ts'
import { SETTINGS } from './schema.ts'

/** Letters that may be wrong: more, and another program's variable is taken for ours. */
const MAX_DISTANCE = 2

/**
 * A sentence for each variable of the file that nothing reads but that looks like one that something does. `read`: those
 * that plugins read.
 */
export function misspeltVariables(file: EnvFile | undefined, read: ReadonlySet<string>): string[] {
  const known = new Set([...Object.values(SETTINGS).map(({ env }) => env), ...read])
  return [...(file?.lines ?? [])].flatMap(([name, line]) => {
    const near = known.has(name) ? undefined : nearest(name, known, MAX_DISTANCE)
    return near === undefined ? [] : [`${file?.name}, line ${line}: nothing reads ${name}; did you mean ${near}?`]
  })
}
