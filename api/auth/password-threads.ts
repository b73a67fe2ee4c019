import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { endThread, startThread } from '../../runtime/process/offload/thread.ts'
import type { PasswordResult, PasswordWork } from './password-thread.ts'

/**
 * Threads that compute hashes of passwords and give way to the loops that carry audio. libuv's threads would not: two of them
 * at work for a flood of logins have the share of two such loops.
 */

/** Under the load of everything else. */
const TIMEOUT_MS = 30_000

/** Threads that wait for work; who needs one more starts it. */
const idle: Worker[] = []

/** Computes or verifies a hash. Callers limit the concurrency. Throws `unavailable` when no thread can be started. */
export async function computePassword(work: PasswordWork): Promise<string | boolean> {
  const thread = idle.pop() ?? start()
  thread.ref()
  try {
    const answered = once(thread, 'message', { signal: AbortSignal.timeout(TIMEOUT_MS) })
    thread.postMessage(work)
    const [answer] = (await answered) as [PasswordResult]
    if ('fault' in answer) throw new Error(answer.fault)
    thread.unref()
    idle.push(thread)
    return answer.result
  } catch (cause) {
    inBackground('http', endThread(thread))
    throw new PatchbayError('unavailable', { cause })
  }
}

function start(): Worker {
  const thread = startThread(new URL('./password-thread.ts', import.meta.url), { name: 'password', env: {} })
  thread.once(
    'error',
    boundary('http', () => forget(thread)),
  )
  thread.once(
    'exit',
    boundary('http', () => forget(thread)),
  )
  return thread
}

function forget(thread: Worker): void {
  const at = idle.indexOf(thread)
  if (at !== -1) idle.splice(at, 1)
}
