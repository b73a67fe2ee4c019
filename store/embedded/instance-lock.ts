import { once } from 'node:events'
import { link, rename, unlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { boundary } from '../../runtime/lib/async/boundary.ts'

/** A process killed a moment ago still answers until the kernel has cleaned up after it. */
const PATIENCE_MS = 3_000
const RETRY_MS = 100
const CONNECT_TIMEOUT_MS = 2_000

interface InstanceLock {
  release(): Promise<void>
}

/**
 * Takes the lock of a data folder, or returns undefined when a living process holds it. The lock is a listening socket,
 * so the kernel frees it with its process; a stale socket file doesn't accept connections and is replaced.
 */
export async function takeInstanceLock(path: string): Promise<InstanceLock | undefined> {
  const own = `${path}.${process.pid}`
  await unlink(own).catch(ignoreMissing)
  const server = createServer(boundary('database', (socket) => socket.on('error', () => {}).end())).listen(own)
  await once(server, 'listening')
  server.unref()
  const untilMs = performance.now() + PATIENCE_MS
  while (performance.now() < untilMs) {
    try {
      await link(own, path)
      await unlink(own)
      return { release: () => release(server, path) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    if (!(await setStaleAside(path))) await sleep(RETRY_MS)
  }
  server.close()
  return undefined
}

/** Removes a stale lock; false when its holder lives. */
async function setStaleAside(path: string): Promise<boolean> {
  if (await answers(path)) return false
  const aside = `${path}.stale.${process.pid}`
  try {
    await rename(path, aside)
  } catch (error) {
    ignoreMissing(error)
    return true
  }
  // Another starter may have replaced the stale lock between the question and the renaming: give it back.
  if (await answers(aside)) {
    await link(aside, path).catch(() => {})
    await unlink(aside)
    return false
  }
  await unlink(aside)
  return true
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) })
    return true
  } catch (error) {
    // A holder too busy to accept is a holder.
    return error instanceof Error && error.name === 'AbortError'
  } finally {
    socket.on('error', () => {}).destroy()
  }
}

async function release(server: Server, path: string): Promise<void> {
  await unlink(path).catch(ignoreMissing)
  server.close()
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
