import { Worker, type WorkerOptions } from 'node:worker_threads'
import { threadEntry } from './module-cache.ts'
import { asProcess } from './plugin/scope.ts'

/** A thread of the process itself, whoever's work it begins in; it needs no loader of its parent. */
export function startThread(entry: URL, options: WorkerOptions): Worker {
  return asProcess(() => new Worker(threadEntry(entry), { execArgv: [], ...options }))
}
