import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { boundary } from '../../lib/async/boundary.ts'
import { asProcess } from '../own-act.ts'
import type { FromSpawner, SpawnOrder } from './spawner-messages.ts'

const START_TIMEOUT_MS = 30_000
const END_TIMEOUT_MS = 2_000

/** A program that runs, as its role sees it. */
export class RunningProgram extends EventEmitter<{
  exit: [code: number | null, signal: NodeJS.Signals | null]
  attention: []
}> {
  readonly pid: number
  /** Standard input, output and error, and the fourth where it was asked for. */
  readonly pipes: readonly Socket[]
  #isOver = false
  #isAwaited = true

  constructor(pid: number, pipes: readonly Socket[]) {
    super()
    this.pid = pid
    this.pipes = pipes
  }

  /** Whether this process stays for its end. */
  get isAwaited(): boolean {
    return this.#isAwaited && !this.#isOver
  }

  /** This process ends no sooner than it. So it is from the start. */
  ref(): void {
    this.#attend(true)
  }

  unref(): void {
    this.#attend(false)
  }

  kill(): void {
    if (this.#isOver) return
    try {
      process.kill(this.pid, 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }

  /** It has ended. */
  over(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.emit('exit', code, signal)
    this.emit('attention')
  }

  #attend(isAwaited: boolean): void {
    if (isAwaited === this.#isAwaited) return
    this.#isAwaited = isAwaited
    for (const pipe of this.pipes) pipe[isAwaited ? 'ref' : 'unref']()
    this.emit('attention')
  }
}

interface Starting {
  pipes: Socket[]
  started: PromiseWithResolvers<RunningProgram>
}

/** Starts programs by a small process of its own, so that a large role is not held up. */
class Spawner {
  readonly #process: ChildProcess
  readonly #starting = new Map<number, Starting>()
  readonly #running = new Map<number, RunningProgram>()
  #nextId = 1
  isOver = false

  constructor() {
    const options = {
      execArgv: [],
      // What a terminal tells its role is the role's to act on: calls end before their plugins do.
      detached: true,
      env: {},
      // Its input ends with this process, however that does.
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'] as ['pipe', 'ignore', 'ignore', 'ipc'],
    }
    this.#process = asProcess(() => fork(join(import.meta.dirname, 'spawner-main.ts'), [], options))
    this.#process.unref()
    const input = this.#process.stdin as Socket | null
    input?.unref()
    this.#process.channel?.unref()
    this.#process.on(
      'message',
      boundary('process', (message, pipe) => this.#receive(message as FromSpawner, pipe as Socket | undefined)),
    )
    this.#process.on(
      'error',
      boundary('process', (error) => this.#end(error.message)),
    )
    this.#process.once(
      'exit',
      boundary('process', (code, signal) => this.#end(`it ended (${signal ?? code})`)),
    )
  }

  async start(order: Omit<SpawnOrder, 'id'>): Promise<RunningProgram> {
    const id = this.#nextId++
    const started = Promise.withResolvers<RunningProgram>()
    this.#starting.set(id, { pipes: [], started })
    this.#process.channel?.ref()
    const timer = setTimeout(
      () => started.reject(new Error(`it was not started within ${START_TIMEOUT_MS} ms`)),
      START_TIMEOUT_MS,
    )
    try {
      this.#process.send({ ...order, id } satisfies SpawnOrder, (error) => error && started.reject(error))
      return await started.promise
    } finally {
      clearTimeout(timer)
      this.#starting.delete(id)
      this.#attend()
    }
  }

  /** Ends it and all it started. Resolves once it is gone. */
  async end(): Promise<void> {
    if (this.isOver) return
    const signal = AbortSignal.timeout(END_TIMEOUT_MS)
    const gone = once(this.#process, 'exit', { signal }).catch(() => this.#process.kill('SIGKILL'))
    this.#process.ref()
    this.#process.stdin?.end()
    await gone
  }

  /** It keeps this process no longer than what it starts does. */
  #attend(): void {
    const isAwaited = this.#starting.size > 0 || [...this.#running.values()].some((program) => program.isAwaited)
    this.#process.channel?.[isAwaited ? 'ref' : 'unref']()
  }

  #receive(message: FromSpawner, pipe: Socket | undefined): void {
    const starting = this.#starting.get(message.id)
    switch (message.type) {
      case 'pipe': {
        if (starting === undefined || pipe === undefined) {
          // Nobody waits any more.
          pipe?.destroy()
          return
        }
        starting.pipes.push(pipe)
        if (!message.isLast) return
        const program = new RunningProgram(message.pid, starting.pipes)
        this.#running.set(message.id, program)
        program.on(
          'attention',
          boundary('process', () => this.#attend()),
        )
        starting.started.resolve(program)
        return
      }
      case 'failed':
        starting?.started.reject(new Error(message.message))
        return
      case 'exit': {
        const program = this.#running.get(message.id)
        this.#running.delete(message.id)
        starting?.started.reject(new Error(`it ended at once (${message.signal ?? message.code})`))
        program?.over(message.code, message.signal)
      }
    }
  }

  #end(why: string): void {
    this.isOver = true
    for (const { started } of this.#starting.values()) started.reject(new Error(`what starts programs can't: ${why}`))
    for (const program of this.#running.values()) {
      program.kill()
      program.over(null, 'SIGKILL')
    }
    this.#running.clear()
  }
}

let spawner: Spawner | undefined

/** Has the process that starts programs begin while this one is small. */
export function prepareSpawner(): void {
  if (spawner === undefined || spawner.isOver) spawner = new Spawner()
}

/** Ends what starts programs, and with it all that run. Resolves once it is gone; a start that follows begins another. */
export async function endSpawner(): Promise<void> {
  await spawner?.end()
}

/** Starts a program. Throws an Error that says why it can't. */
export function startProgram(order: Omit<SpawnOrder, 'id'>): Promise<RunningProgram> {
  prepareSpawner()
  return (spawner as Spawner).start(order)
}
