import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = import.meta.dirname
const ROOT = join(FOLDER, '../..')
/** What of the repository ends up in the console. */
const SOURCES = [
  'web/console/**/*.{ts,tsx,css,html,svg,js,json}',
  'packages/web/**/*.ts',
  'runtime/conversation/languages/**/*.ts',
  'package-lock.json',
]

/** The folder of the console as it is built from the sources of this checkout: a name of its own for each state of them. */
export function builtFolder(): string {
  const hash = createHash('sha256')
  for (const pattern of SOURCES) {
    for (const path of globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules'] }).sort()) {
      hash
        .update(`${path}\0`)
        .update(readFileSync(join(ROOT, path)))
        .update('\0')
    }
  }
  return join(ROOT, 'node_modules/.cache/patchbay-console', hash.digest('hex').slice(0, 16))
}
