import { Worker, type WorkerOptions } from 'node:worker_threads'
import { threadEntry } from '../module-cache.ts'
import { asProcess } from '../own-act.ts'
import { raise, restore } from '../priority.ts'
import { systemIdOf, withThreadId } from './thread-id.ts'

/** A thread of the process itself, whatever work it begins in; it needs no loader of its parent. */
export function startThread(entry: URL, options: WorkerOptions): Worker {
  const start = () => new Worker(threadEntry(entry), { execArgv: [], ...options })
  return withThreadId(() => asProcess(start))
}

/** Ends a thread with whatever it is at; resolves once it is gone. */
export async function endThread(thread: Worker): Promise<void> {
  const id = systemIdOf(thread)
  // The loop stands until the thread is gone, and would wait for its turns with it.
  if (!raise(id)) restore(id)
  await thread.terminate()
}
