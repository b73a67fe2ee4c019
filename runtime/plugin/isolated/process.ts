import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { setPriority } from 'node:os'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Failure, LlmEvent, Options, SttEvent } from '../../../packages/plugin/mod.ts'
import { PatchbayError } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { asProcess } from '../scope.ts'
import { audioFrame, FrameReader, jsonFrame } from './frames.ts'
import type { FromPlugin, ToPlugin, Use } from './messages.ts'

/**
 * A plugin's process beats. One that is silent for the first of these and was busy meanwhile is stuck in a loop; a machine
 * that is busy with others may leave it without a turn for longer.
 */
const BEAT_EVERY_MS = 500
const STUCK_AFTER_MS = 2_000
const STUCK_CPU_MS = 800
const SILENT_AFTER_MS = 15_000
const READY_TIMEOUT_MS = 60_000
/**
 * Before it is started again: where it ended by itself, and where it was ended. To start a process holds up a large role for tens
 * of milliseconds, which calls hear, so one that misbehaves gets few chances.
 */
const BACKOFF_MS = { died: { min: 100, max: 10_000 }, misbehaved: { min: 1_000, max: 60_000 } }
/** Who would wait longer for the start is told to go on without it. */
const MAX_WAIT_MS = 1_000
const STABLE_MS = 30_000
/** What it may send in a second: forty voices at 24 kHz. */
const MAX_BYTES_PER_S = 4 << 20
/** Of what it was sent and has not read, before audio is dropped. */
const MAX_WAITING_BYTES = 1 << 20
const MAX_SESSIONS = 1_000
const MAX_LOG_LINES_PER_S = 20
/** How much less important than a call's audio it is. */
const NICENESS = 10
const KERNEL_PAGE_BYTES = 4_096

export interface IsolatedOptions {
  plugin: string
  /** Absolute path of its mod.ts or mod.js. */
  module: string
  /** The program, what it is given, and all it finds in its environment. */
  program: string
  args: readonly string[]
  variables: Readonly<Record<string, string>>
  /** The descriptor it answers on: standard output, or one of its own where native code may write to that. */
  answersOn: 1 | 3
  /** Where the models that the operator downloaded for it are. */
  modelsDir?: string | undefined
  /** What `host.env.get` gives out. */
  env: Readonly<Record<string, string>>
  granted: readonly string[]
  /** Of all its memory, in bytes; more and it is ended. */
  maxMemoryBytes: number
  log: Logger
  signal: AbortSignal
}

/** What one session hears. After `done` or `failed` nothing follows. */
export interface SessionEvents {
  event?(event: SttEvent | LlmEvent): void
  audio?(samples: Int16Array): void
  result?(result: unknown): void
  done(): void
  failed(error: IsolatedFault): void
}

/** What went wrong in a session of a plugin's process. */
export class IsolatedFault extends Error {
  override readonly name = 'IsolatedFault'
  /** The plugin judged its provider's failure itself. */
  readonly failure: Failure | undefined

  constructor(message: string, failure?: Failure) {
    super(message)
    this.failure = failure
  }
}

export interface IsolatedSession {
  audio(samples: Int16Array): void
  /** There is no more audio. */
  end(): void
  cancel(): void
}

/** Where a plugin written with `@patchbay/plugin` runs. */
export interface PluginRunner {
  /** The names of its factories, once it is loaded. Throws `plugin` when it can't be. */
  ready(): Promise<readonly string[]>
  /** Begins one use. Its events may come before this returns. */
  open(use: Use, options: Options, events: SessionEvents): IsolatedSession
}

/**
 * The process in which one plugin runs, all its sessions multiplexed. Started with the first use, started again when it
 * ended or was ended: for a loop, for too much memory, for a flood on its pipe.
 */
export class IsolatedProcess implements PluginRunner {
  readonly #options: IsolatedOptions
  readonly #sessions = new Map<number, SessionEvents>()
  #nextSession = 1
  #child: ChildProcessWithoutNullStreams | undefined
  #answers: Readable | undefined
  #ready: Promise<readonly string[]> | undefined
  #isLoaded = false
  #failures = 0
  /** When it may be started again. */
  #notBeforeMs = 0
  #out: Uint8Array[] = []
  #beatAtMs = 0
  /** CPU time it had used when it last beat in time. */
  #cpuAtBeatMs = 0
  #checks: NodeJS.Timeout | undefined
  #receivedBytes = 0
  #loggedLines = 0
  /** Why it is being ended. */
  #endedFor: string | undefined

  constructor(options: IsolatedOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#child?.kill('SIGKILL'), { once: true })
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  ready(): Promise<readonly string[]> {
    this.#ready ??= this.#start().catch((error) => {
      this.#ready = undefined
      throw error
    })
    return this.#ready
  }

  open(use: Use, options: Options, events: SessionEvents): IsolatedSession {
    if (this.#child === undefined || this.#sessions.size >= MAX_SESSIONS) {
      const why = this.#child === undefined ? 'does not run' : 'has too many sessions'
      queueMicrotask(() => events.failed(new IsolatedFault(`The process of plugin "${this.#options.plugin}" ${why}`)))
      return { audio: () => undefined, end: () => undefined, cancel: () => undefined }
    }
    const session = this.#nextSession++
    this.#sessions.set(session, events)
    this.#attend()
    this.#say({ type: 'open', session, use, options })
    const live = (): boolean => this.#sessions.has(session)
    return {
      audio: (samples) => {
        const full = (this.#child?.stdin.writableLength ?? 0) > MAX_WAITING_BYTES
        if (live() && !full) this.#put(audioFrame(session, samples))
      },
      end: () => {
        if (live()) this.#say({ type: 'end', session })
      },
      cancel: () => {
        if (this.#over(session) !== undefined) this.#say({ type: 'cancel', session })
      },
    }
  }

  /** Ends it where it serves nobody; the next use starts it again. */
  close(): void {
    const child = this.#child
    if (child === undefined || this.#sessions.size > 0) return
    this.#child = undefined
    this.#ready = undefined
    clearInterval(this.#checks)
    child.stdin.end()
  }

  async #start(): Promise<readonly string[]> {
    const { plugin, module, program, args, variables, answersOn, env, granted, modelsDir, log, signal } = this.#options
    signal.throwIfAborted()
    const waitMs = this.#notBeforeMs - performance.now()
    if (waitMs > MAX_WAIT_MS) {
      const seconds = Math.ceil(waitMs / 1_000)
      const reason = `Plugin "${plugin}" does not run: ${this.#endedFor ?? 'it ended'}; it is started again in ${seconds} s at the earliest`
      throw new PatchbayError('plugin', { params: { reason } })
    }
    if (waitMs > 0) await sleep(waitMs, undefined, { signal })
    const child = asProcess(() =>
      spawn(program, args, {
        stdio: answersOn === 1 ? ['pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe', 'pipe'],
        // Nothing of the role's environment: what it was granted comes over the pipe.
        env: variables,
      }),
    ) as ChildProcessWithoutNullStreams
    const answers = child.stdio[answersOn] as Readable
    if (answersOn !== 1)
      child.stdout.setEncoding('utf8').on('data', (text: string) => this.#logLine('debug', text.trim()))
    const startedAtMs = performance.now()
    this.#child = child
    this.#isLoaded = false
    this.#endedFor = undefined
    const loaded = Promise.withResolvers<readonly string[]>()
    loaded.promise.catch(() => undefined)
    const fault = (why: string): PatchbayError =>
      new PatchbayError('plugin', { params: { reason: `Plugin "${plugin}" can't be run: ${why}` } })
    child.on('error', (error) => loaded.reject(fault(error.message)))
    child.stdin.on('error', () => undefined)
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#logLine('warn', text.trim()))
    child.once('exit', (code, killed) => {
      if (this.#child !== child) return
      clearInterval(this.#checks)
      this.#child = undefined
      this.#ready = undefined
      const why = this.#endedFor ?? (killed === null ? `it ended with code ${code}` : `it was ended by ${killed}`)
      const nowMs = performance.now()
      this.#failures = nowMs - startedAtMs > STABLE_MS ? 1 : this.#failures + 1
      const { min, max } = BACKOFF_MS[this.#endedFor === undefined ? 'died' : 'misbehaved']
      this.#notBeforeMs = nowMs + Math.min(min * 2 ** (this.#failures - 1), max)
      if (!signal.aborted) log.error({ plugin, why }, `The process of plugin "${plugin}" ended: ${why}`)
      loaded.reject(fault(why))
      const lost = [...this.#sessions.values()]
      this.#sessions.clear()
      for (const events of lost) events.failed(new IsolatedFault(`The process of plugin "${plugin}" ended: ${why}`))
    })
    if (child.pid !== undefined) lowerPriority(child.pid)
    const reader = new FrameReader()
    this.#answers = answers
    answers.on('error', () => undefined)
    answers.on('data', (bytes: Buffer) => {
      this.#receivedBytes += bytes.length
      if (this.#receivedBytes > MAX_BYTES_PER_S) {
        this.#end(child, 'it flooded its pipe')
        return
      }
      try {
        for (const frame of reader.push(bytes)) {
          if ('samples' in frame) this.#sessions.get(frame.session)?.audio?.(frame.samples)
          else this.#receive(frame.message as FromPlugin, loaded, fault)
        }
      } catch (error) {
        this.#end(child, `it wrote what is no message (${error instanceof Error ? error.message : error})`)
      }
    })
    this.#beatAtMs = performance.now()
    this.#checks = setInterval(() => this.#check(child), BEAT_EVERY_MS).unref()
    this.#say({
      type: 'init',
      plugin,
      module: pathToFileURL(module).href,
      env: { ...env },
      granted: [...granted],
      modelsDir,
    })
    const late = setTimeout(() => {
      loaded.reject(fault(`it was not loaded within ${READY_TIMEOUT_MS} ms`))
      this.#end(child, 'it was not loaded in time')
    }, READY_TIMEOUT_MS)
    try {
      return await loaded.promise
    } finally {
      clearTimeout(late)
      this.#isLoaded = true
      this.#attend()
    }
  }

  #receive(
    message: FromPlugin,
    loaded: PromiseWithResolvers<readonly string[]>,
    fault: (why: string) => PatchbayError,
  ): void {
    switch (message.type) {
      case 'ready':
        loaded.resolve(message.factories)
        break
      case 'broken':
        loaded.reject(fault(message.reason))
        break
      case 'beat':
        this.#beatAtMs = performance.now()
        break
      case 'log':
        this.#logLine(message.level, message.message)
        break
      case 'event':
        this.#sessions.get(message.session)?.event?.(message.event)
        break
      case 'result':
        this.#sessions.get(message.session)?.result?.(message.result)
        break
      case 'done':
        this.#over(message.session)?.done()
        break
      case 'failed':
        this.#over(message.session)?.failed(new IsolatedFault(String(message.message), message.failure))
        break
      default:
        throw new RangeError('a message of no type')
    }
  }

  #over(session: number): SessionEvents | undefined {
    const events = this.#sessions.get(session)
    this.#sessions.delete(session)
    this.#attend()
    return events
  }

  /** An idle process keeps its role from ending no more than an idle connection does. */
  #attend(): void {
    const child = this.#child
    const verb = this.#sessions.size > 0 || !this.#isLoaded ? 'ref' : 'unref'
    child?.[verb]()
    for (const pipe of child?.stdio ?? []) (pipe as Socket | null)?.[verb]()
  }

  #check(child: ChildProcessWithoutNullStreams): void {
    const nowMs = performance.now()
    this.#receivedBytes = Math.max(0, this.#receivedBytes - (MAX_BYTES_PER_S * BEAT_EVERY_MS) / 1000)
    this.#loggedLines = Math.max(0, this.#loggedLines - (MAX_LOG_LINES_PER_S * BEAT_EVERY_MS) / 1000)
    this.#say({ type: 'beat', at: Math.round(nowMs) })
    void usageOf(child.pid).then(({ memoryBytes, cpuMs }) => {
      if (memoryBytes > this.#options.maxMemoryBytes) {
        this.#end(child, `it took ${Math.round(memoryBytes / 2 ** 20)} MiB of memory`)
        return
      }
      const silentMs = performance.now() - this.#beatAtMs
      if (!this.#isLoaded || silentMs <= STUCK_AFTER_MS) {
        this.#cpuAtBeatMs = cpuMs
        return
      }
      const isStuck = cpuMs - this.#cpuAtBeatMs > STUCK_CPU_MS
      if (isStuck || silentMs > SILENT_AFTER_MS) this.#end(child, `it did not answer for ${Math.round(silentMs)} ms`)
    })
  }

  #end(child: ChildProcessWithoutNullStreams, why: string): void {
    if (this.#child !== child || this.#endedFor !== undefined) return
    this.#endedFor = why
    this.#answers?.destroy()
    child.kill('SIGKILL')
  }

  #logLine(level: 'debug' | 'info' | 'warn' | 'error', text: string): void {
    if (text === '' || ++this.#loggedLines > MAX_LOG_LINES_PER_S) return
    this.#options.log[level]({ plugin: this.#options.plugin }, text.slice(0, 2_000))
  }

  #say(message: ToPlugin): void {
    this.#put(jsonFrame(message))
  }

  /** Everything of one turn of the event loop, of all sessions, leaves in one write. */
  #put(frame: Uint8Array): void {
    this.#out.push(frame)
    if (this.#out.length > 1) return
    setImmediate(() => {
      const whole = Buffer.concat(this.#out)
      this.#out = []
      this.#child?.stdin.write(whole)
    })
  }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICENESS)
  } catch {
    // It has ended already.
  }
}

/** The kernel counts CPU time in hundredths of a second on every Linux. */
const TICK_MS = 10

/** The memory it holds now and the CPU time it has used; 0 where the system doesn't tell. */
async function usageOf(pid: number | undefined): Promise<{ memoryBytes: number; cpuMs: number }> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // proc(5): the name, in brackets, may hold spaces; utime is field 14, stime 15 and rss 24 of all.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [utime = 0, stime = 0, pages = 0] = [fields[11], fields[12], fields[21]].map(Number)
    return { memoryBytes: pages * KERNEL_PAGE_BYTES, cpuMs: (utime + stime) * TICK_MS }
  } catch {
    return { memoryBytes: 0, cpuMs: 0 }
  }
}
