import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { builtFolder } from './build-key.ts'

const BUILD = join(import.meta.dirname, 'build.ts')
const VITE = join(import.meta.dirname, '../../node_modules/vite/package.json')
const BUILD_TIMEOUT_MS = 120_000
const KEPT_CHARACTERS = 2_000

/**
 * The folder of the built console; builds it in a process of its own where this checkout's isn't yet. Rejects with the
 * cure where it can't.
 */
export async function ensureBuilt(signal: AbortSignal, building: () => void = () => {}): Promise<string> {
  const folder = builtFolder()
  if (existsSync(folder)) return folder
  if (!existsSync(VITE))
    throw new Error('the packages it is built with are missing: run npm ci, with the workspace web/console')
  building()
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production' }
  const child = spawn(process.execPath, [BUILD], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env,
    signal: AbortSignal.any([signal, AbortSignal.timeout(BUILD_TIMEOUT_MS)]),
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-KEPT_CHARACTERS)
  })
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`building it failed: ${said.trim()}`))))
  })
  return folder
}
