import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * A folder whose `node_modules` has what the package.json of a folder beside this file names, in the versions and digests of its lock.
 * Fetched from npm once a machine.
 */
export async function npmPackages(name: 'ai-sdk' | 'livekit'): Promise<string> {
  const from = join(import.meta.dirname, name)
  const lock = readFileSync(join(from, 'package-lock.json'))
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const digest = createHash('sha256').update(lock).digest('hex').slice(0, 12)
  const folder = join(cache, 'patchbay', `${name}-${digest}`)
  if (existsSync(join(folder, 'node_modules'))) return folder
  const making = `${folder}.${process.pid}`
  mkdirSync(making, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(from, file), join(making, file))
  const args = [
    'ci',
    '--ignore-scripts',
    '--no-bin-links',
    '--no-audit',
    '--no-fund',
    '--legacy-peer-deps',
    '--omit=optional',
  ]
  await promisify(execFile)('npm', args, { cwd: making, timeout: 300_000 })
  try {
    renameSync(making, folder)
  } catch {
    // Another test was quicker.
    rmSync(making, { recursive: true, force: true })
  }
  return folder
}
