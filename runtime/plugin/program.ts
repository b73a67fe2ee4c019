import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Grants } from './grants/permissions.ts'

/** Finds what the shell would run for `program`, links resolved, or undefined. A path with a slash must be absolute. */
function findProgram(program: string, searchPath: string): string | undefined {
  const candidates = program.includes('/')
    ? [program].filter(isAbsolute)
    : searchPath
        .split(delimiter)
        .filter(isAbsolute)
        .map((dir) => join(dir, program))
  for (const candidate of candidates) {
    try {
      accessSync(candidate, constants.X_OK)
      if (statSync(candidate).isFile()) return realpathSync(candidate)
    } catch {
      // Not here: the next folder may have it.
    }
  }
  return undefined
}

/**
 * The absolute path to run when `program` is granted by name or path, else undefined. The operator's `searchPath` alone
 * decides what a name means, so a plugin can't point a granted name at a program of its own. A granted program that is
 * not installed comes back as it was named, so that starting it fails with ENOENT.
 */
export function grantedProgram(grants: Grants, program: string, searchPath: string): string | undefined {
  if (grants.run.has(program)) return isAbsolute(program) ? program : (pathOf(program, searchPath) ?? program)
  const real = findProgram(program, searchPath)
  if (real === undefined) return undefined
  const granted = [...grants.run].some((name) => findProgram(name, searchPath) === real)
  // The named path, not the real one: programs such as busybox look at the name they were started by.
  return granted ? pathOf(program, searchPath) : undefined
}

function pathOf(program: string, searchPath: string): string | undefined {
  if (program.includes('/')) return program
  return searchPath
    .split(delimiter)
    .filter(isAbsolute)
    .map((dir) => join(dir, program))
    .find((path) => findProgram(path, searchPath) !== undefined)
}

/** All that a started program sees of the environment, and all of it that a caller may set: keys stay here. */
export const PROGRAM_ENV = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'] as const
