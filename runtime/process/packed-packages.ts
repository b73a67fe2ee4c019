import fs from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// As they are before plugins are held to their grants.
const { readFileSync, statSync } = fs

/** Where scripts/pack-packages.ts puts them; gone with the packages when those are installed anew. */
export const PACKED_FOLDER = join(import.meta.dirname, '../node_modules/.packed')
/** The files there, by what is imported. */
export const PACKED_LIST = 'packed.json'

/** Whether packages were packed, and none was installed since. */
export function isPackedCurrent(folder = PACKED_FOLDER): boolean {
  const changedAtMs = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return changedAtMs(join(folder, PACKED_LIST)) > changedAtMs(join(folder, '../.package-lock.json'))
}

/**
 * Has this thread import packages of thousands of small modules from the few files they were packed into. Whoever imports them gets
 * the same; where they were not packed, or others are installed by now, they are what they were.
 */
export function importPacked(folder = PACKED_FOLDER): void {
  if (!isPackedCurrent(folder)) return
  const list = JSON.parse(readFileSync(join(folder, PACKED_LIST), 'utf8')) as Record<string, string>
  const urls = new Map(Object.entries(list).map(([name, file]) => [name, pathToFileURL(join(folder, file)).href]))
  module.registerHooks({
    resolve(specifier, context, next) {
      const url = context.conditions.includes('import') ? urls.get(specifier) : undefined
      return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true }
    },
  })
}
