import type { Worker } from 'node:worker_threads'
import { lowerThreadLater, restoreThread } from './low-priority.ts'
import { endThread } from './thread.ts'

/**
 * Threads that read what tenants upload, one piece of work at a time. Starting one takes longer than most of their work, and the
 * loop that ends one stands until it is gone, so a thread that did its work as it should does the next, too. Each begins as any
 * other thread (`beginAsEverybody`) and gives way once its work has taken long.
 */

/** Told of what becomes of the work a thread is held for. */
export interface ThreadListener<M> {
  message(message: M): void
  error(error: NodeJS.ErrnoException): void
  exit(): void
}

/** A thread while it works for its holder alone. */
export interface HeldThread {
  readonly worker: Worker
  /** Once: gives the thread back for other work where this was done as it should; else it is ended. Resolves with either. */
  release(wasDone: boolean): Promise<void>
}

export interface WarmThreadsOptions {
  start: () => Worker
  /** That wait for work; what each takes for itself is some ten megabytes. */
  mostWarm: number
}

/** One whose work left more in memory is ended: it would be kept for nothing. */
const MOST_LEFT_BYTES = 128 * 1024 * 1024
/** After so much work a thread is ended: what it left behind goes with it. */
const MOST_WORK = 200

interface Thread<M> {
  readonly worker: Worker
  works: number
  ended: boolean
  listener: ThreadListener<M> | undefined
}

/** Threads whose messages are of the type M. */
export class WarmThreads<M> {
  readonly #options: WarmThreadsOptions
  /** In the order in which they began to wait: the first has had most time to load what it runs. */
  readonly #warm: Thread<M>[] = []
  #held = 0

  constructor(options: WarmThreadsOptions) {
    this.#options = options
  }

  /** A thread that waits, or a new one. While several work one more is made ready: whoever comes beside them waits for no start. */
  hold(listener: ThreadListener<M>): HeldThread {
    const thread = this.#warm.shift() ?? this.#start()
    this.#held++
    const isSpare = this.#warm.length === 0 && this.#held > 1 && this.#held < this.#options.mostWarm
    if (isSpare) this.#keepWarm(this.#start())
    const { worker } = thread
    thread.listener = listener
    thread.works++
    worker.ref()
    lowerThreadLater(worker)
    return { worker, release: (wasDone) => this.#release(thread, wasDone) }
  }

  async #release(thread: Thread<M>, wasDone: boolean): Promise<void> {
    thread.listener = undefined
    const mayGoOn = restoreThread(thread.worker) && wasDone && thread.works < MOST_WORK
    const again = mayGoOn && (await leavesLittle(thread.worker))
    this.#held--
    if (again && !thread.ended) return this.#keepWarm(thread)
    // Whoever has a thread ended with each piece of work leaves one to the next all the same, which by then has begun.
    do this.#keepWarm(this.#start())
    while (this.#held + this.#warm.length < this.#options.mostWarm)
    await endThread(thread.worker)
  }

  #keepWarm(thread: Thread<M>): void {
    thread.worker.unref()
    this.#warm.push(thread)
    if (this.#warm.length > this.#options.mostWarm) void endThread(this.#warm.shift()!.worker)
  }

  #start(): Thread<M> {
    const worker = this.#options.start()
    const thread: Thread<M> = { worker, works: 0, ended: false, listener: undefined }
    const forget = () => {
      thread.ended = true
      const at = this.#warm.indexOf(thread)
      if (at !== -1) this.#warm.splice(at, 1)
    }
    worker.on('message', (message: M) => thread.listener?.message(message))
    worker.on('error', (error) => {
      forget()
      thread.listener?.error(error)
    })
    worker.on('exit', () => {
      forget()
      thread.listener?.exit()
    })
    return thread
  }
}

async function leavesLittle(worker: Worker): Promise<boolean> {
  // It ended meanwhile.
  const heap = await worker.getHeapStatistics().catch(() => undefined)
  return heap !== undefined && heap.used_heap_size + heap.external_memory <= MOST_LEFT_BYTES
}
