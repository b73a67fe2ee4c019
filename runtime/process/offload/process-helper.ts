import type { Socket } from 'node:net'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import { processEntry } from '../module-cache.ts'
import { lower, restore } from '../priority.ts'
import { processUsage } from '../process-usage.ts'
import { type RunningProgram, startProgram } from './spawner.ts'
import type { Helper, HelperListener } from './warm-helpers.ts'
import { frameOf, headerOfBytes, messagesFrom, READY } from './work-channel.ts'

/** One that holds more is ended: it would be kept for nothing. Node itself holds a fifth of it. */
const MOST_LEFT_BYTES = 256 * 1024 * 1024

export interface ProcessHelperOptions {
  /** A module that opens `openWorkPort`. */
  entry: URL
  /** Of V8, such as its bounds of memory. */
  flags: readonly string[]
}

/**
 * A process of this program as one of `WarmHelpers`: it shares no memory with the loop that carries calls, which would wait for it where
 * the kernel or V8 lock what they share. M is what it tells.
 */
export class ProcessHelper<M> implements Helper {
  readonly #starting: Promise<RunningProgram>
  readonly #listener: HelperListener<M>
  #program: RunningProgram | undefined
  /** What is said before it runs. */
  #said: Uint8Array[] = []
  #isReady = false
  #isOver = false
  #isAwaited = true

  constructor({ entry, flags }: ProcessHelperOptions, listener: HelperListener<M>) {
    this.#listener = listener
    this.#starting = startProgram({
      program: process.execPath,
      args: [...flags, ...processEntry(entry)],
      variables: Object.fromEntries(Object.entries(process.env).filter(isGiven)),
      pipes: 4,
      niceness: 0,
      ownSession: true,
    })
    this.#starting.then(
      (program) => this.#begin(program),
      (error: Error) => this.#over(error),
    )
  }

  post(message: unknown): void {
    const frame = frameOf(message)
    if (this.#program === undefined) this.#said.push(frame)
    else this.#pipe.write(frame)
  }

  /** Resolves once the bytes are on their way, or nobody is there to read them: their memory may be used again. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#starting
    const pipe = this.#pipe
    pipe.write(headerOfBytes(bytes.length))
    await new Promise<void>((resolve) => pipe.write(bytes, () => resolve()))
  }

  ref(): void {
    this.#isAwaited = true
    this.#program?.ref()
  }

  unref(): void {
    this.#isAwaited = false
    this.#program?.unref()
  }

  usedMs(): number | undefined {
    return this.#isReady ? processUsage(this.#program?.pid)?.cpuMs : undefined
  }

  lower(): boolean {
    return lower(this.#program?.pid)
  }

  raise(): boolean {
    return restore(this.#program?.pid)
  }

  async leavesLittle(): Promise<boolean> {
    const usage = processUsage(this.#program?.pid)
    return !this.#isOver && (usage === undefined || usage.memoryBytes <= MOST_LEFT_BYTES)
  }

  async end(): Promise<void> {
    const program = await this.#starting.catch(() => undefined)
    if (program === undefined || this.#isOver) return
    const exited = new Promise((resolve) => program.once('exit', resolve))
    program.kill()
    await exited
  }

  get #pipe(): Socket {
    return this.#program!.pipes[3]!
  }

  #begin(program: RunningProgram): void {
    this.#program = program
    if (!this.#isAwaited) program.unref()
    const [stdin, stdout, stderr, pipe] = program.pipes
    stdin?.end()
    stdout?.resume()
    stderr?.on(
      'data',
      boundary('process', (bytes: Uint8Array) => process.stderr.write(bytes)),
    )
    // Its end is told by itself.
    for (const one of program.pipes) one.on('error', () => {})
    program.once(
      'exit',
      boundary('process', () => this.#over()),
    )
    for (const frame of this.#said) pipe!.write(frame)
    this.#said = []
    inBackground('process', this.#listen(pipe!))
  }

  async #listen(pipe: Socket): Promise<void> {
    try {
      for await (const message of messagesFrom(pipe)) {
        if (message === READY) this.#isReady = true
        else this.#listener.message(message as M)
      }
    } catch (error) {
      this.#over(error as Error)
    }
  }

  #over(error?: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    if (error !== undefined) this.#listener.error(error)
    this.#listener.exit()
  }
}

const isGiven = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined
