import type { Worker } from 'node:worker_threads'
import { boundary } from '../../lib/async/boundary.ts'
import { lower, restore } from '../priority.ts'
import { processUsage } from '../process-usage.ts'
import { endThread } from './thread.ts'
import { systemIdOf } from './thread-id.ts'
import type { Helper, HelperListener } from './warm-helpers.ts'

/** One whose work left more in memory is ended: it would be kept for nothing. */
const MOST_LEFT_BYTES = 128 * 1024 * 1024

/** A thread, which begins with `restore`, as one of `WarmHelpers`. */
export class ThreadHelper<M> implements Helper {
  readonly worker: Worker

  constructor(worker: Worker, { message, error, exit }: HelperListener<M>) {
    this.worker = worker
    worker.on('message', boundary('process', message))
    worker.on('error', boundary('process', error))
    worker.on('exit', boundary('process', exit))
  }

  ref(): void {
    this.worker.ref()
  }

  unref(): void {
    this.worker.unref()
  }

  usedMs(): number | undefined {
    const id = systemIdOf(this.worker)
    return id === undefined ? undefined : processUsage('self', id)?.cpuMs
  }

  lower(): boolean {
    return lower(systemIdOf(this.worker))
  }

  raise(): boolean {
    return restore(systemIdOf(this.worker))
  }

  async leavesLittle(): Promise<boolean> {
    // It ended meanwhile.
    const heap = await this.worker.getHeapStatistics().catch(() => undefined)
    return heap !== undefined && heap.used_heap_size + heap.external_memory <= MOST_LEFT_BYTES
  }

  end(): Promise<void> {
    return endThread(this.worker)
  }
}
