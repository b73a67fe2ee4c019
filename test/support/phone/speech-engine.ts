import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { engineFolder } from '../../../runtime/models/engine.ts'
import type { Manifest } from '../../../runtime/plugin/contract.ts'
import { npmInstall } from '../../../runtime/process/npm-install.ts'

const MANIFEST = join(import.meta.dirname, '../../../plugins/local/plugin.json')

export interface SpeechEngine {
  /** Puts it where `patchbay models engine` puts it. */
  put(dataDir: string): void
  skip: false | string
}

/**
 * What runs models on this machine, installed once from npm into the user's cache; or why tests of it can't run here. It is in no
 * package.json: it holds code under the GPL.
 */
export async function speechEngine(): Promise<SpeechEngine> {
  const { engine } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as Manifest
  if (engine === undefined) throw new Error('plugins/local names no engine')
  const spec = `${engine.package}@${engine.version}`
  const cache = process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), '.cache')
  const folder = join(cache, 'patchbay', spec)
  if (!existsSync(folder)) {
    const incoming = `${folder}.${process.pid}`
    try {
      mkdirSync(incoming, { recursive: true })
      await npmInstall(incoming, engine.package, engine.digests)
      renameSync(incoming, folder)
    } catch (error) {
      if (!existsSync(folder))
        return { put: () => {}, skip: `needs ${spec}: ${error instanceof Error ? error.message : error}` }
    } finally {
      rmSync(incoming, { recursive: true, force: true })
    }
  }
  return { put: (dataDir) => copy(folder, engineFolder(dataDir, 'local')), skip: false }
}

/** Its files as they are: a process that may read one folder alone follows no link out of it. */
function copy(from: string, to: string): void {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const place = join(to, file.slice(from.length + 1))
    mkdirSync(dirname(place), { recursive: true })
    linkOrCopy(file, place)
  }
}

function linkOrCopy(file: string, place: string): void {
  try {
    linkSync(file, place)
  } catch {
    copyFileSync(file, place)
  }
}
