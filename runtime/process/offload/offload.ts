import { AdmissionGate } from '../../admission/gate.ts'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import { startProcessWorker } from './process-worker.ts'
import { startThreadWorker } from './thread-worker.ts'
import type { FromWorker, OffloadWorker, TaskFault, TaskPriority, ToWorker } from './worker.ts'

/** Work of one kind, and the workers that do it. Its entry module calls `serve` of task.ts. */
export interface OffloadTask<Input = never, Output = unknown> {
  /** Of its threads and processes, in the lists of the system. */
  readonly name: string
  /** By which `patchbay_admission_refusals_total` counts what finds no room. */
  readonly kind: string
  readonly entry: URL
  /** A process of its own where the kernel has to bound its memory. Default: a thread. */
  readonly isolation?: 'thread' | 'process'
  readonly priority: TaskPriority
  /** That work at once. They stay for the next input. */
  readonly workers: number
  /** Inputs that one worker has at once. Default: 1; then one that takes too long is ended. */
  readonly atOnce?: number
  /** Workers of one workspace at once. Default: all. */
  readonly mostOfOne?: number
  readonly maxWaiting: number
  /** Of V8, where its defaults are too much. */
  readonly youngMb?: number
  readonly stackMb?: number
  /** Whether its threads see this process's environment. */
  readonly readsEnvironment?: boolean
  /** What `taskSetup` returns in its threads. */
  readonly setup?: unknown
  /** Called when a worker ended that was neither given up nor closed. */
  onLost?(error: OffloadError): void
  /** For the compiler alone. */
  readonly types?: (input: Input) => Output
}

export interface OffloadOptions {
  /** Whose work it is: workspaces take turns. */
  workspaceId: string
  /** From the time a worker is ready for it to its result. */
  deadlineMs?: number
  /** For which the worker may neither end nor ask. */
  stallMs?: number
  /** Of the processor. */
  processorMs?: number
  /** Of the worker's heap; where it is a process, again of its buffers and native code. */
  memoryMb?: number
  signal?: AbortSignal
  /** Answers what the task asks. What it throws ends the run. */
  answer?(question: unknown): unknown
}

/** Why there is no result. `failed`: the task threw `fault`; `absent`: no worker could be started. */
export class OffloadError extends Error {
  readonly reason: 'failed' | 'timeout' | 'memory' | 'ended' | 'absent'
  readonly fault: TaskFault | undefined

  constructor(reason: OffloadError['reason'], message: string, options: ErrorOptions & { fault?: TaskFault } = {}) {
    super(message, options)
    this.name = 'OffloadError'
    this.reason = reason
    this.fault = options.fault
  }

  /** The error code of what the task threw. */
  get code(): ErrorCode | undefined {
    return this.fault?.code
  }

  /** What the task threw, as an error of this process. */
  get thrown(): Error | undefined {
    if (this.fault === undefined) return undefined
    const { name, message, stack } = this.fault
    return Object.assign(new Error(message), { name, ...(stack === undefined ? {} : { stack }) })
  }
}

/** A machine without rest may take seconds to start a worker. */
const START_TIMEOUT_MS = 30_000
const LOOK_MS = 100
/** After so many runs a worker is ended: what it left behind goes with it. */
const MOST_RUNS = 1_000
/** One that holds more once its work is done is ended. */
const MOST_LEFT_BYTES = { thread: 128 << 20, process: 256 << 20 }

/**
 * Work that would hold up the loops that carry audio, in threads and processes: in turns by workspace, within a deadline. Starting a
 * worker takes longer than most of its work, so it stays for the next run.
 */
class Offload {
  readonly #pools = new Map<OffloadTask, Pool>()

  /** Throws `unavailable` when too much waits, what `answer` throws, the signal's reason, and OffloadError. */
  run<I, O>(task: OffloadTask<I, O>, input: I, options: OffloadOptions): Promise<O> {
    return this.#poolOf(task).run(input, options) as Promise<O>
  }

  /** Starts a worker ahead of the first run. */
  prepare(task: OffloadTask, memoryMb?: number): void {
    this.#poolOf(task).prepare(memoryMb)
  }

  /** Ends the task's workers; its runs reject. */
  async close(task: OffloadTask): Promise<void> {
    const pool = this.#pools.get(task)
    this.#pools.delete(task)
    await pool?.close()
  }

  #poolOf(task: OffloadTask): Pool {
    const pool = this.#pools.get(task) ?? new Pool(task)
    this.#pools.set(task, pool)
    return pool
  }
}

/** Of this process. */
export const offload = new Offload()

class Pool {
  readonly #task: OffloadTask
  readonly #gate: AdmissionGate
  readonly #workers = new Set<PoolWorker>()
  #isClosed = false

  constructor(task: OffloadTask) {
    const { kind, workers, atOnce = 1, mostOfOne, maxWaiting } = task
    this.#task = task
    const places = workers * atOnce
    this.#gate = new AdmissionGate({ kind, places, maxWaiting, ...(mostOfOne === undefined ? {} : { mostOfOne }) })
  }

  async run(input: unknown, options: OffloadOptions): Promise<unknown> {
    const leave = await this.#gate.enter(options, options.signal)
    if (this.#isClosed || options.signal?.aborted === true) {
      leave()
      options.signal?.throwIfAborted()
      throw this.#closed()
    }
    const worker = this.#take(options.memoryMb)
    try {
      return await worker.run(input, options)
    } finally {
      inBackground(
        'process',
        worker
          .rest()
          .then(() => this.#settle(worker))
          .finally(leave),
      )
    }
  }

  prepare(memoryMb: number | undefined): void {
    if (this.#workers.size === 0) this.#start(memoryMb)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#workers].map((worker) => worker.end(this.#closed())))
  }

  #closed(): OffloadError {
    return new OffloadError('ended', `The workers of "${this.#task.name}" were closed`)
  }

  #take(memoryMb: number | undefined): PoolWorker {
    const { atOnce = 1, workers } = this.#task
    const free = [...this.#workers].filter(({ isOver, load }) => !isOver && load < atOnce)
    const fit = free.find((worker) => worker.memoryMb === memoryMb)
    if (fit !== undefined) return fit
    const [other] = free
    if (other !== undefined && this.#workers.size >= workers) {
      inBackground('process', other.end(new OffloadError('ended', 'Its place was needed')))
    }
    return this.#start(memoryMb)
  }

  #start(memoryMb: number | undefined): PoolWorker {
    const worker = new PoolWorker(this.#task, memoryMb, (error) => {
      this.#workers.delete(worker)
      if (error !== undefined) this.#task.onLost?.(error)
    })
    this.#workers.add(worker)
    return worker
  }

  /** The run after one that cost its worker finds another that has started meanwhile. */
  #settle({ isOver, hasServed, memoryMb }: PoolWorker): void {
    if (isOver && hasServed && !this.#isClosed && this.#task.onLost === undefined) this.prepare(memoryMb)
  }
}

interface Run {
  readonly input: unknown
  readonly options: OffloadOptions
  resolve(result: unknown): void
  reject(error: unknown): void
  /** Once the worker is ready. */
  begin(): void
  /** The worker asks, or was answered. */
  owes(isWorking: boolean): void
}

class PoolWorker {
  readonly memoryMb: number | undefined
  readonly #task: OffloadTask
  readonly #worker: OffloadWorker
  readonly #forget: (lost: OffloadError | undefined) => void
  readonly #runs = new Map<number, Run>()
  readonly #starting: NodeJS.Timeout
  #isReady = false
  #isSpoilt = false
  #answers = 0
  #lastId = 0
  isOver = false

  constructor(task: OffloadTask, memoryMb: number | undefined, forget: (lost: OffloadError | undefined) => void) {
    this.#task = task
    this.memoryMb = memoryMb
    this.#forget = forget
    const start = task.isolation === 'process' ? startProcessWorker : startThreadWorker
    this.#worker = start(task, memoryMb, {
      message: (message) => this.#receive(message),
      over: ({ error, isOutOfMemory }) => {
        const reason = isOutOfMemory ? 'memory' : 'ended'
        this.#over(
          new OffloadError(this.#isReady ? reason : 'absent', `A worker of "${task.name}" ended`, { cause: error }),
          true,
        )
      },
    })
    const late = new OffloadError('absent', `A worker of "${task.name}" did not start within ${START_TIMEOUT_MS} ms`)
    this.#starting = setTimeout(
      boundary('process', () => this.#giveUpAll(late)),
      START_TIMEOUT_MS,
    )
    this.#starting.unref()
  }

  /** Runs it has now. */
  get load(): number {
    return this.#runs.size
  }

  get hasServed(): boolean {
    return this.#answers > 0
  }

  run(input: unknown, options: OffloadOptions): Promise<unknown> {
    const { signal, deadlineMs, stallMs, processorMs } = options
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const id = ++this.#lastId
    const answers = this.#answers
    const timers = new Set<NodeJS.Timeout>()
    let stall: NodeJS.Timeout | undefined
    const giveUp = (error: unknown, isStuck: boolean): void => {
      if (!this.#runs.delete(id)) return
      reject(error)
      // Where others were answered meanwhile it is busy, not stuck.
      const { atOnce = 1 } = this.#task
      if (atOnce > 1 && !(isStuck && this.#answers === answers)) this.#worker.post({ type: 'cancel', id })
      else inBackground('process', this.end(new OffloadError('ended', (error as Error).message), isStuck))
    }
    const tooLate = (what: string, ms: number) => () =>
      giveUp(new OffloadError('timeout', `"${this.#task.name}" ${what} ${ms} ms`), true)
    const after = (ms: number, act: () => void): NodeJS.Timeout => {
      const timer = setTimeout(boundary('process', act), ms)
      timers.add(timer)
      return timer
    }
    const onAbort = boundary('process', () => giveUp(signal?.reason, false))
    signal?.addEventListener('abort', onAbort, { once: true })
    const run: Run = {
      input,
      options,
      resolve,
      reject,
      owes: (isWorking) => {
        clearTimeout(stall)
        if (stallMs === undefined || !isWorking) return
        stall = setTimeout(boundary('process', tooLate('stood still for', stallMs)), stallMs)
      },
      begin: () => {
        run.owes(true)
        if (deadlineMs !== undefined) after(deadlineMs, tooLate('took longer than', deadlineMs))
        if (processorMs === undefined) return
        const startMs = this.#usedMs()
        const look = (): void => {
          const leftMs = startMs + processorMs - this.#usedMs()
          if (leftMs <= 0) tooLate('used more of the processor than', processorMs)()
          else after(Math.max(leftMs, LOOK_MS), look)
        }
        after(processorMs, look)
      },
    }
    this.#runs.set(id, run)
    this.#worker.ref()
    this.#worker.post({ type: 'run', id, input } satisfies ToWorker)
    if (this.#isReady) run.begin()
    return promise.finally(() => {
      clearTimeout(stall)
      for (const timer of timers) clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    })
  }

  /** After a run: ends a worker that is not worth keeping. */
  async rest(): Promise<void> {
    await this.#endWhereSpent()
    // An idle worker keeps no process from ending.
    if (!this.isOver && this.#runs.size === 0) this.#worker.unref()
  }

  async #endWhereSpent(): Promise<void> {
    if (this.isOver || this.#runs.size > 0 || this.#task.onLost !== undefined) return
    let isSpent = this.#isSpoilt || this.#answers >= MOST_RUNS
    if (!isSpent && this.memoryMb !== undefined) {
      const left = await this.#worker.memoryBytes()
      isSpent = left !== undefined && left > MOST_LEFT_BYTES[this.#task.isolation ?? 'thread']
    }
    if (isSpent && this.#runs.size === 0 && !this.isOver) await this.end(new OffloadError('ended', 'It was spent'))
  }

  /** Resolves once the worker is gone. */
  async end(error: OffloadError, isLost = false): Promise<void> {
    this.#over(error, isLost)
    await this.#worker.end()
  }

  /** Of the processor; where the system doesn't tell of threads, what it may have used at most. */
  #usedMs(): number {
    return this.#worker.usedMs() ?? performance.now()
  }

  #receive(message: FromWorker): void {
    if (message.type === 'ready') {
      this.#isReady = true
      clearTimeout(this.#starting)
      for (const run of this.#runs.values()) run.begin()
      return
    }
    const run = this.#runs.get(message.id)
    if (message.type === 'ask') {
      if (run !== undefined) inBackground('process', this.#answer(message.id, run, message.question))
      return
    }
    this.#answers++
    this.#isSpoilt ||= message.isSpoilt
    this.#runs.delete(message.id)
    if (message.type === 'done') run?.resolve(message.result)
    else run?.reject(new OffloadError('failed', message.fault.message, { fault: message.fault }))
  }

  async #answer(id: number, run: Run, question: unknown): Promise<void> {
    run.owes(false)
    try {
      const answer = await run.options.answer?.(question)
      if (!this.#runs.has(id)) return
      run.owes(true)
      this.#worker.post({ type: 'answer', id, answer })
    } catch (error) {
      if (!this.#runs.delete(id)) return
      run.reject(error)
      await this.end(new OffloadError('ended', 'What it asked could not be answered'))
    }
  }

  #giveUpAll(error: OffloadError): void {
    inBackground('process', this.end(error, true))
  }

  #over(error: OffloadError, isLost: boolean): void {
    if (this.isOver) return
    this.isOver = true
    clearTimeout(this.#starting)
    for (const run of this.#runs.values()) run.reject(error)
    this.#runs.clear()
    this.#forget(isLost ? error : undefined)
  }
}
