/**
 * The small process that starts programs for a role: to start one, the kernel copies the tables of all memory its maker has, which
 * would hold up a role's calls for tens of milliseconds. It hands the pipes over, and ends what it started when the role is gone.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { boundary } from '../../lib/async/boundary.ts'
import { setNiceness } from './set-niceness.ts'
import type { FromSpawner, SpawnOrder } from './spawner-messages.ts'

const running = new Set<ChildProcess>()

function say(message: FromSpawner, pipe?: Socket): void {
  // Where it can't be said the role is gone, and with it this process.
  process.send?.(message, pipe, undefined, () => undefined)
}

function start({ id, program, args, variables, pipes, niceness, ownSession }: SpawnOrder): void {
  const stdio = Array.from({ length: pipes }, () => 'pipe' as const)
  const child = spawn(program, args, { stdio, env: variables, detached: ownSession === true })
  child.on(
    'error',
    boundary('process', (error) => say({ type: 'failed', id, message: error.message })),
  )
  const { pid } = child
  if (pid === undefined) return
  setNiceness(pid, niceness)
  running.add(child)
  child.once(
    'exit',
    boundary('process', (code, signal) => {
      running.delete(child)
      say({ type: 'exit', id, code, signal })
    }),
  )
  for (const [n, pipe] of (child.stdio as unknown as Handed[]).entries()) {
    pipe.on('error', () => undefined)
    // What comes is the role's to read.
    pipe._handle.readStop()
    say({ type: 'pipe', id, pid, isLast: n === pipes - 1 }, pipe)
  }
}

/** Node hands a socket over with what it has read, which is then lost. */
type Handed = Socket & { _handle: { readStop(): void } }

// It ends with its role, and not before.
for (const asked of ['SIGINT', 'SIGTERM'] as const) process.on(asked, () => undefined)
process.on(
  'message',
  boundary('process', start, ({ id }) => say({ type: 'failed', id, message: 'it could not be started' })),
)
// The role holds the other end. Node reports no end of the channel while a pipe is being received.
process.stdin.on('error', boundary('process', end)).on('close', boundary('process', end)).resume()

function end(): void {
  for (const child of running) child.kill('SIGKILL')
  // At once: what listens for an orderly end, such as a loader that a role's environment brings, may wait for what is gone.
  process.kill(process.pid, 'SIGKILL')
}
