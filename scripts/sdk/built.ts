import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
export const SDK_DIST = join(ROOT, 'packages/sdk/dist')

/** What the packages are made of: the document comes from the api's routes and the errors. */
const SOURCES = [
  'api/**/*.ts',
  'runtime/lib/errors.ts',
  'runtime/call/log/*.ts',
  'packages/sdk/{typescript,python}/*',
  'packages/web/{README.md,package.json,dist/*}',
  'scripts/sdk/*.ts',
  'package.json',
]

/** Whether the SDKs are there and newer than what they are made of. */
export function isSdkBuilt(): boolean {
  const changedAtMs = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const built = globSync('*.{tgz,whl,zip}', { cwd: SDK_DIST }).map((file) => changedAtMs(join(SDK_DIST, file)))
  const newestMs = Math.max(
    ...SOURCES.flatMap((of) => globSync(of, { cwd: ROOT })).map((file) => changedAtMs(join(ROOT, file))),
  )
  return built.length === 4 && Math.min(...built) > newestMs
}
