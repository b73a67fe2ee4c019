import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { asProcess } from './plugin/scope.ts'

const TIMEOUT_MS = 300_000

/**
 * Installs a package of npm (`name@1.2.3`) into a folder of its own, outside of the checkout. None of its scripts run. Throws
 * an Error with npm's first line.
 */
export async function npmInstall(folder: string, spec: string, signal?: AbortSignal): Promise<void> {
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', spec]
  const options = { timeout: TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) }
  try {
    await asProcess(() => promisify(execFile)('npm', args, options))
  } catch (cause) {
    throw new Error(cause instanceof Error ? cause.message.split('\n')[0] : String(cause), { cause })
  }
}
