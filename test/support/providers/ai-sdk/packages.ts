import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * A folder whose `node_modules` has the providers of the AI SDK that package.json beside this file names, in the versions and digests
 * of its lock. Fetched from npm once a machine.
 */
export async function aiSdkPackages(): Promise<string> {
  const lock = readFileSync(join(import.meta.dirname, 'package-lock.json'))
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const folder = join(cache, 'patchbay', `ai-sdk-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`)
  if (existsSync(join(folder, 'node_modules'))) return folder
  const making = `${folder}.${process.pid}`
  mkdirSync(making, { recursive: true })
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(import.meta.dirname, file), join(making, file))
  const args = ['ci', '--ignore-scripts', '--no-bin-links', '--no-audit', '--no-fund']
  await promisify(execFile)('npm', args, { cwd: making, timeout: 300_000 })
  try {
    renameSync(making, folder)
  } catch {
    // Another test was quicker.
    rmSync(making, { recursive: true, force: true })
  }
  return folder
}
