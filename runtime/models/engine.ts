import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PatchbayError } from '../lib/errors.ts'
import type { Engine } from '../plugin/contract.ts'
import { npmInstall } from '../process/npm-install.ts'
import { modelsFolder } from './lock.ts'

/** Where what runs a plugin's models is installed: beside them, never in the checkout. */
export const engineFolder = (dataDir: string, plugin: string): string => join(modelsFolder(dataDir, plugin), '.engine')

export function isEngineHere(dataDir: string, plugin: string, engine: Engine): boolean {
  return existsSync(join(engineFolder(dataDir, plugin), 'node_modules', engine.package, 'package.json'))
}

/** What it is, and under which licence. */
export function describeEngine({ package: name, version, license, megabytes }: Engine): string {
  return `${name} ${version} from npm, ${megabytes} MB. Licence: ${license}`
}

/** Installs what runs a plugin's models. Throws `plugin`. */
export async function installEngine(
  dataDir: string,
  plugin: string,
  engine: Engine,
  signal: AbortSignal,
): Promise<void> {
  const spec = `${engine.package}@${engine.version}`
  try {
    await npmInstall(engineFolder(dataDir, plugin), engine.package, engine.digests, signal)
  } catch (cause) {
    const reason = `${spec} could not be installed: ${cause instanceof Error ? cause.message : cause}`
    throw new PatchbayError('plugin', { params: { reason }, cause })
  }
}
