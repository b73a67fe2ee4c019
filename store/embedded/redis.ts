import { once } from 'node:events'
import { chown, mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { runInRealtimeToo, SERVICE_PRIORITY } from '../../runtime/process/realtime.ts'
import { type Supervised, supervise } from '../../runtime/process/supervisor.ts'
import { findServiceProgram, type ServiceUser, spawnService } from './service-user.ts'

const POLL_MS = 20
const ANSWER_TIMEOUT_MS = 1_000
const ORPHAN_STOP_MS = 30_000

interface RedisOptions {
  /** Its append-only file; made when missing. Undefined: nothing is kept. */
  folder: string | undefined
  socketPath: string
  program: string
  user: ServiceUser | undefined
  searchPath: string | undefined
  log: Logger
}

/** The path of redis-server; npm carries no Redis one could trust. */
export function findRedisProgram(searchPath: string | undefined): string {
  const program = findServiceProgram('redis-server', searchPath)
  if (program !== undefined) return program
  const reason =
    'redis-server is not installed; install it (Debian, Ubuntu: apt-get install redis-server; Fedora: dnf install redis; macOS: brew install redis) or set REDIS_URL.'
  throw new PatchbayError('configuration', { params: { reason } })
}

export function redisSocketUrl(socketPath: string): string {
  return `unix://${socketPath.split('/').map(encodeURIComponent).join('/')}`
}

/** Starts the private Redis on a socket, with an append-only file written before each answer. */
export async function startRedis(options: RedisOptions): Promise<Supervised> {
  const { folder, socketPath, program, user, searchPath, log } = options
  if (folder !== undefined) {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (user !== undefined) await chown(folder, user.uid, user.gid)
  }
  // Without a folder of its own it would work where Patchbay was started, with whatever another Redis left there.
  const keep = ['--appendonly', folder === undefined ? 'no' : 'yes', '--dir', folder ?? dirname(socketPath)]
  const args = ['--port', '0', '--unixsocket', socketPath, '--unixsocketperm', '700', '--save', '', ...keep]
  return supervise({
    name: 'Redis',
    log,
    prepare: () => stopOrphan(socketPath, log),
    spawn: () => {
      const child = spawnService({ program, args, user, deathSignal: 'SIGTERM', searchPath })
      // Each step of a call asks it, and it does little at a time.
      if (child.pid !== undefined) child.once('exit', boundary('redis', runInRealtimeToo(child.pid, SERVICE_PRIORITY)))
      return child
    },
    ready: (_, signal) => untilReady(socketPath, signal),
    stopSignal: 'SIGTERM',
  })
}

/** A Redis that outlived its supervisor holds the same file: it must be gone before the next one opens it. */
async function stopOrphan(socketPath: string, log: Logger): Promise<void> {
  const endMs = performance.now() + ORPHAN_STOP_MS
  while (performance.now() < endMs) {
    if ((await ask(socketPath, 'PING')) === undefined) return
    log.warn('Stopping a Redis that outlived its Patchbay')
    await ask(socketPath, 'SHUTDOWN')
    await sleep(POLL_MS * 5)
  }
  const reason = `A Redis of an earlier start still answers on "${socketPath}"; stop it and start again.`
  throw new PatchbayError('configuration', { params: { reason } })
}

async function untilReady(socketPath: string, signal: AbortSignal): Promise<void> {
  while ((await ask(socketPath, 'PING')) !== '+PONG') await sleep(POLL_MS, undefined, { signal })
}

/** The first line of the answer to an inline command; '' after a timeout, undefined when the connection is refused. */
async function ask(socketPath: string, command: string): Promise<string | undefined> {
  const socket = connect(socketPath)
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
  try {
    await once(socket, 'connect', { signal })
  } catch {
    socket.on('error', () => {}).destroy()
    return undefined
  }
  try {
    socket.on('error', () => {})
    socket.write(`${command}\r\n`)
    const [answer] = (await once(socket, 'data', { signal })) as [Buffer]
    return answer.toString('latin1').split('\r\n')[0]
  } catch {
    return ''
  } finally {
    socket.destroy()
  }
}
