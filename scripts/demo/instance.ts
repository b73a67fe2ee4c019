import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeOptionsOf } from '../../cli/node-options.ts'
import { processEnvironment } from '../../config/load.ts'
import { freePort } from './free-port.ts'

/** A Patchbay to talk to. */
export interface Instance {
  readonly url: string
  /** True when it was started for the demo alone. */
  readonly own: boolean
  /** Its process, where it was started here. */
  readonly pid?: number
  stop(): Promise<void>
}

const READY_TIMEOUT_MS = 90_000
const STOP_TIMEOUT_MS = 20_000
const ROOT = join(import.meta.dirname, '../..')

/**
 * Uses the Patchbay at `url`. Where none answers: throws if the user `named` it, else starts one on a free port
 * with a data folder of its own.
 */
export async function findInstance(url: string, named: boolean, say: (line: string) => void): Promise<Instance> {
  if (await answers(`${url}/health`)) return { url, own: false, stop: async () => {} }
  if (named) throw new Error(`No Patchbay answers at ${url}; start it with npm start, or leave --url out`)
  say(`No Patchbay answers at ${url}: starting one for this demo (a few seconds).`)
  return await startInstance()
}

/** Starts `main.ts start` on a free port. `stop` ends it and removes its data. */
export async function startInstance(environment: Record<string, string> = {}): Promise<Instance> {
  const dir = await mkdtemp(join(tmpdir(), 'patchbay-demo-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const logFile = join(dir, 'log')
  const { PATCHBAY_DEMO_URL: _url, PUBLIC_URL: _public, ...inherited } = processEnvironment()
  const child = spawn(process.execPath, [...nodeOptionsOf(['start']), join(ROOT, 'main.ts'), 'start'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...inherited,
      PORT: String(port),
      PATCHBAY_ADMIN_PORT: '0',
      PATCHBAY_HOST: '127.0.0.1',
      PATCHBAY_DATA_DIR: join(dir, 'data'),
      ...environment,
    },
  })
  const log = createWriteStream(logFile)
  child.stdout.pipe(log, { end: false })
  child.stderr.pipe(log, { end: false })
  const stop = async () => {
    await endProcess(child)
    log.end()
    await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
  try {
    await ready(url, child)
  } catch (error) {
    const output = await readFile(logFile, 'utf8').catch(() => '')
    await stop()
    throw new Error(`Patchbay did not start:\n${output.slice(-4_000)}`, { cause: error })
  }
  return { url, own: true, stop, ...(child.pid === undefined ? {} : { pid: child.pid }) }
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS
  while (!(await answers(`${url}/ready`))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('it exited')
    if (performance.now() > deadlineMs) throw new Error(`it was not ready after ${READY_TIMEOUT_MS} ms`)
    await sleep(200)
  }
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await exited
  clearTimeout(timer)
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3_000) })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}
