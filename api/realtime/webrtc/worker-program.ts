import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asProcess } from '../../../runtime/process/own-act.ts'
import { builtFolder, MEDIASOUP, RECIPE, WORKER_NAME } from './worker-cache.ts'

const VERIFY_TIMEOUT_MS = 30_000

interface WorkerSearch {
  /** The operator's; it or none. */
  named: string | undefined
  cache: string
  signal: AbortSignal
  /** Called with each candidate that does not work. */
  unfit(path: string, why: string): void
}

/** mediasoup's worker program on this machine: the first that is there and carries a call; undefined where none does. */
export async function findWorkerProgram({ named, cache, signal, unfit }: WorkerSearch): Promise<string | undefined> {
  const usual = [join(MEDIASOUP, 'worker/out/Release', WORKER_NAME), join(builtFolder(cache), WORKER_NAME)]
  for (const path of named === undefined ? usual : [named]) {
    if (signal.aborted) return undefined
    const why = await faultOf(path, cache, signal)
    if (why === undefined) return path
    if (why !== NOT_THERE || named !== undefined) unfit(path, why)
  }
  return undefined
}

const NOT_THERE = 'it is not there, or no program'

/** What is wrong with a worker; undefined: it carries calls. One that did is known by its hash, and not tried again. */
async function faultOf(path: string, cache: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK)
  } catch {
    return NOT_THERE
  }
  const digest = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
  const known = join(cache, 'verified', digest)
  const isKnown = await access(known).then(
    () => true,
    () => false,
  )
  if (isKnown) return undefined
  const fault = await verify(path, signal)
  if (fault === undefined) await note(known, path)
  return fault
}

/** Where nothing can be written, it is tried at each start. */
async function note(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `${text}\n`)
  } catch {
    // A folder of another user, or a read-only file system, as in containers.
  }
}

/** Has a peer connection talk with it, in a process of its own: that it starts says little. */
function verify(path: string, signal: AbortSignal): Promise<string | undefined> {
  const { PATH = '', HOME = '' } = process.env
  return new Promise((resolve) => {
    asProcess(() =>
      execFile(
        process.execPath,
        [join(RECIPE, 'verify.ts'), path],
        { env: { PATH, HOME }, timeout: VERIFY_TIMEOUT_MS, signal },
        (error, _stdout, stderr) => resolve(error === null ? undefined : lastLine(stderr) || error.message),
      ),
    )
  })
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''
