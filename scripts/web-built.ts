import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { builtFolder } from '../web/console/build-key.ts'

/** Of packages/web, as build-web.ts makes them. */
const CLIENT_OUTPUTS = ['worklet.js', 'mod.js', 'react.js', 'widget.js', 'widget-module.js', 'more-words.js']
const CLIENT = join(import.meta.dirname, '../packages/web')

const changedAtMs = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Whether the client for pages is there and newer than its sources. */
export function isClientBuilt(): boolean {
  const sources = globSync('src/**/*.ts', { cwd: CLIENT }).map((path) => join(CLIENT, path))
  const newestMs = Math.max(...[...sources, join(import.meta.dirname, 'build-web.ts')].map(changedAtMs))
  return CLIENT_OUTPUTS.every((file) => changedAtMs(join(CLIENT, 'dist', file)) > newestMs)
}

/** Whether neither the client nor the console has to be built. */
export const isWebBuilt = (): boolean => isClientBuilt() && existsSync(builtFolder())
