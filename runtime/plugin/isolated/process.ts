import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Options } from '../../../packages/plugin/mod.ts'
import { boundary } from '../../lib/async/boundary.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { cleanText } from '../../lib/text.ts'
import type { Logger } from '../../process/log.ts'
import { setNiceness } from '../../process/offload/set-niceness.ts'
import { type RunningProgram, startProgram } from '../../process/offload/spawner.ts'
import { processUsage } from '../../process/process-usage.ts'
import { PERMISSIONS, permissionDenied } from '../grants/permissions.ts'
import { reportRefusal } from '../grants/refusals.ts'
import type { PermissionQuestion, Refused } from './deno-permissions.ts'
import { failureOf } from './failure-of.ts'
import { type Frame, PIPE_FD, PipeFrameWriter, ROLE_LIMITS } from './frames.ts'
import { Intake } from './intake.ts'
import type { FromPlugin, ToPlugin, Use } from './messages.ts'
import { PIECE_BYTES } from './object-exchange.ts'
import { openPermissionBroker, type PermissionBroker } from './permission-broker.ts'
import { IsolatedFault, type IsolatedSession, type PluginRunner, type SessionEvents } from './plugin-runner.ts'
import { BEAT_EVERY_MS, LOOK_EVERY_MS, ProcessWatch } from './process-watch.ts'

const READY_TIMEOUT_MS = 60_000
/** Before it is started again: where it ended by itself, and where it was ended. One that misbehaves gets few chances. */
const BACKOFF_MS = { died: { min: 100, max: 10_000 }, misbehaved: { min: 1_000, max: 60_000 } }
/** Maximum wait for the start; afterwards callers fall back. */
const MAX_WAIT_MS = 1_000
/** Of what a plugin says about its own faults. */
const MAX_REASON_CHARS = 8_000
const MAX_LOGGED_CHARS = 2_000
const STABLE_MS = 30_000
/** Of what it was sent and has not read: with the first, audio is dropped; with the second, it gets no more to do. */
const MAX_WAITING_AUDIO_BYTES = 1 << 20
const MAX_WAITING_BYTES = 32 << 20
const MAX_SESSIONS = 1_000
const MAX_LOG_LINES_PER_S = 20
/** A process that uses more of a core than speech needs gets the lowest priority. */
const YIELDING_NICENESS = 19

export interface IsolatedOptions {
  plugin: string
  /** Absolute path of its mod.ts or mod.js. */
  module: string
  /** The program, what it is given, and all it finds in its environment. */
  program: string
  args: readonly string[]
  variables: Readonly<Record<string, string>>
  /** Decides each permission that its code is about to use, where the program asks. */
  permissions?: { refusalOf(question: PermissionQuestion): Promise<Refused | undefined> }
  /** Throws where its files are no longer those that were installed. */
  requireUnchanged?: () => Promise<void>
  /** Where the models that the operator downloaded for it are. */
  modelsDir?: string | undefined
  /** What `host.env.get` gives out. */
  env: Readonly<Record<string, string>>
  granted: readonly string[]
  /** Of all its memory, in bytes; more and it is ended. */
  maxMemoryBytes: number
  /** How much less important than a call's audio it is, of 19 steps. */
  niceness: number
  log: Logger
  signal: AbortSignal
}

/**
 * The process in which one plugin runs, all its sessions multiplexed. Started with the first use, started again when it
 * ended or was ended: for a loop, for too much memory, for a flood on its pipe.
 */
export class IsolatedProcess implements PluginRunner {
  readonly #options: IsolatedOptions
  readonly #sessions = new Map<number, SessionEvents>()
  #nextSession = 1
  #child: RunningProgram | undefined
  #ready: Promise<readonly string[]> | undefined
  #isLoaded = false
  #isRetired = false
  #failures = 0
  /** When it may be started again. */
  #notBeforeMs = 0
  readonly #out = new PipeFrameWriter(ROLE_LIMITS)
  #isFlushing = false
  #intake: Intake | undefined
  #checks: NodeJS.Timeout | undefined
  #loggedLines = 0
  /** Why it is being ended. */
  #endedFor: string | undefined

  constructor(options: IsolatedOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#child?.kill(), { once: true })
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
    const session = this.#nextSession++
    const why = this.#whyNot() ?? this.#begin({ type: 'open', session, use, options })
    if (why !== undefined) {
      queueMicrotask(
        boundary('plugin', () =>
          events.failed(new IsolatedFault(`The process of plugin "${this.#options.plugin}" ${why}`)),
        ),
      )
      const nothing = (): void => undefined
      return { audio: nothing, give: nothing, end: nothing, bytes: nothing, more: nothing, cancel: nothing }
    }
    this.#sessions.set(session, events)
    this.#attend()
    const live = (): boolean => this.#sessions.has(session)
    return {
      audio: (samples) => {
        if (!live() || this.#waitingBytes() > MAX_WAITING_AUDIO_BYTES) return
        this.#out.audio(session, samples)
        this.#flush()
      },
      give: (input) => {
        if (!live()) return
        if (this.#waitingBytes() > MAX_WAITING_BYTES)
          return this.#breakOff(session, 'it reads nothing of what it is sent')
        if (input.type !== 'tell' || input.event.type !== 'audio') return this.#say({ ...input, session })
        this.#out.audio(session, input.event.samples)
        this.#flush()
      },
      end: () => {
        if (live()) this.#say({ type: 'end', session })
      },
      bytes: (piece) => {
        if (!live()) return
        this.#out.bytes(session, piece)
        this.#flush()
      },
      more: () => {
        if (!live()) return
        this.#intake?.expect(PIECE_BYTES)
        this.#say({ type: 'more', session })
      },
      cancel: () => {
        if (this.#over(session) !== undefined) this.#say({ type: 'cancel', session })
      },
    }
  }

  dispose(sessionId: string): void {
    if (this.#child !== undefined) this.#say({ type: 'dispose', sessionId })
  }

  /** Why it can't be sent. */
  #begin(message: ToPlugin): string | undefined {
    try {
      this.#say(message)
      return undefined
    } catch (error) {
      return `is asked too much (${error instanceof Error ? error.message : error})`
    }
  }

  /** Why it can do nothing more now. */
  #whyNot(): string | undefined {
    if (this.#child === undefined) return 'does not run'
    if (this.#sessions.size >= MAX_SESSIONS) return 'has too many sessions'
    return this.#waitingBytes() > MAX_WAITING_BYTES ? 'reads nothing of what it is sent' : undefined
  }

  #waitingBytes(): number {
    return (this.#child?.pipes[PIPE_FD]?.writableLength ?? 0) + this.#out.length
  }

  /** Ends it once the sessions that it has are over. */
  retire(): void {
    this.#isRetired = true
    this.close()
  }

  /** Ends it when idle; the next use starts it again. One that is being started is waited for. */
  close(): void {
    const child = this.#child
    if (child !== undefined && this.#isLoaded && this.#sessions.size === 0) this.#letGo(child)
  }

  #letGo(child: RunningProgram): void {
    if (this.#child !== child) return
    this.#child = undefined
    this.#ready = undefined
    clearInterval(this.#checks)
    child.pipes[PIPE_FD]?.end()
  }

  #backOff(startedAtMs: number, { min, max }: { min: number; max: number }): void {
    const nowMs = performance.now()
    this.#failures = nowMs - startedAtMs > STABLE_MS ? 1 : this.#failures + 1
    this.#notBeforeMs = nowMs + Math.min(min * 2 ** (this.#failures - 1), max)
  }

  async #start(): Promise<readonly string[]> {
    const { plugin, module, program, args, variables, env, granted, modelsDir, niceness, log, signal } = this.#options
    signal.throwIfAborted()
    const waitMs = this.#notBeforeMs - performance.now()
    if (waitMs > MAX_WAIT_MS) {
      const seconds = Math.ceil(waitMs / 1_000)
      const reason = `Plugin "${plugin}" does not run: ${this.#endedFor ?? 'it ended'}; it is started again in ${seconds} s at the earliest`
      throw new PatchbayError('plugin', { params: { reason } })
    }
    if (waitMs > 0) await sleep(waitMs, undefined, { signal })
    const fault = (why: string): PatchbayError =>
      new PatchbayError('plugin', { params: { reason: `Plugin "${plugin}" can't be run: ${why}` } })
    await this.#options.requireUnchanged?.()
    const broker = await this.#openBroker().catch((error: Error) => {
      throw fault(error.message)
    })
    const asking: Record<string, string> = broker === undefined ? {} : { DENO_PERMISSION_BROKER_PATH: broker.path }
    // Nothing of the role's environment: what it was granted comes over the pipe.
    const order = { program, args, variables: { ...variables, ...asking }, pipes: 4, niceness } as const
    const child = await startProgram(order).catch((error: Error) => {
      broker?.close()
      throw fault(error.message)
    })
    const [, stdout, stderr, pipe] = child.pipes as [Socket, Socket, Socket, Socket]
    if (signal.aborted) child.kill()
    const startedAtMs = performance.now()
    this.#child = child
    this.#isLoaded = false
    this.#endedFor = undefined
    const loaded = Promise.withResolvers<readonly string[]>()
    loaded.promise.catch(() => undefined)
    child.once(
      'exit',
      boundary('plugin', (code, killed) => {
        broker?.close()
        const why = this.#endedFor ?? (killed === null ? `it ended with code ${code}` : `it was ended by ${killed}`)
        loaded.reject(fault(why))
        if (this.#child !== child) return
        clearInterval(this.#checks)
        this.#child = undefined
        this.#ready = undefined
        this.#backOff(startedAtMs, BACKOFF_MS[this.#endedFor === undefined ? 'died' : 'misbehaved'])
        if (!signal.aborted) log.error({ plugin, why }, `The process of plugin "${plugin}" ended: ${why}`)
        const lost = [...this.#sessions.values()]
        this.#sessions.clear()
        for (const events of lost) events.failed(new IsolatedFault(`The process of plugin "${plugin}" ended: ${why}`))
      }),
    )
    const others = [
      { pipe: stderr, log: (text: string) => this.#logLine('warn', text.replace(OF_BROKER, '').trim()) },
      { pipe: stdout, log: (text: string) => this.#logLine('info', text) },
    ]
    const watch = new ProcessWatch(this.#options.maxMemoryBytes, performance.now())
    this.#intake = new Intake(pipe, others, {
      frame: (frame) => this.#receive(frame, loaded, fault, watch),
      broken: (why) => this.#end(child, why),
    })
    this.#watch(child, watch)
    this.#say({
      type: 'init',
      plugin,
      module: pathToFileURL(module).href,
      env: { ...env },
      granted: [...granted],
      modelsDir,
    })
    const late = setTimeout(
      boundary('plugin', () => this.#end(child, `it was not loaded within ${READY_TIMEOUT_MS} ms`)),
      READY_TIMEOUT_MS,
    )
    try {
      return await loaded.promise
    } catch (error) {
      // Its code can't be loaded: the process is of no use.
      if (this.#child === child) {
        this.#backOff(startedAtMs, BACKOFF_MS.died)
        this.#letGo(child)
      }
      throw error
    } finally {
      clearTimeout(late)
      this.#attend()
      // Sessions that waited for the start begin first.
      if (this.#isRetired) setImmediate(boundary('plugin', () => this.close()))
    }
  }

  async #openBroker(): Promise<PermissionBroker | undefined> {
    const { permissions } = this.#options
    if (permissions === undefined) return undefined
    return openPermissionBroker(async (question) => {
      const refused = await permissions.refusalOf(question)
      return refused && this.#refuse(refused).message
    })
  }

  #refuse({ permission, target, why }: Refused): PatchbayError {
    const { plugin, log } = this.#options
    const error = permissionDenied(plugin, permission, cleanText(target, MAX_LOGGED_CHARS), why)
    reportRefusal(plugin, permission, error.message, log)
    return error
  }

  #receive(
    frame: Frame,
    loaded: PromiseWithResolvers<readonly string[]>,
    fault: (why: string) => PatchbayError,
    watch: ProcessWatch,
  ): void {
    switch (frame.type) {
      case 'audio':
        this.#give(frame.session, ({ audio }) => audio?.(frame.samples))
        break
      case 'result':
        this.#give(frame.session, ({ result }) => result?.(frame.parse()))
        break
      case 'bytes':
        this.#give(frame.session, ({ bytes }) => bytes?.(frame.bytes))
        break
      case 'invalid':
        this.#breakOff(frame.session, frame.why)
        break
      case 'message':
        this.#hear(frame.message as FromPlugin, loaded, fault, watch)
    }
  }

  #hear(
    message: FromPlugin,
    loaded: PromiseWithResolvers<readonly string[]>,
    fault: (why: string) => PatchbayError,
    watch: ProcessWatch,
  ): void {
    switch (message.type) {
      case 'ready':
        if (!Array.isArray(message.factories)) throw new TypeError('factories that are no list')
        loaded.resolve(message.factories.map(String))
        this.#isLoaded = true
        break
      case 'broken':
        if (this.#isLoaded) throw new RangeError('a start that failed after it succeeded')
        this.#endedFor ??= cleanText(String(message.reason), MAX_REASON_CHARS)
        loaded.reject(fault(this.#endedFor))
        break
      case 'beat':
        watch.beat(performance.now())
        break
      case 'log':
        this.#logLine(message.level, String(message.message))
        break
      case 'event':
        this.#give(message.session, ({ event }) => event?.(message.event))
        break
      case 'need':
        this.#give(message.session, ({ need }) => need?.(message.start, message.end))
        break
      case 'done':
        this.#give(message.session, ({ done }) => {
          this.#over(message.session)
          done()
        })
        break
      case 'failed':
        this.#over(message.session)?.failed(this.#faultOf(message))
        break
      default:
        throw new RangeError('a message of no type')
    }
  }

  #faultOf({ message, failure, refused }: Extract<FromPlugin, { type: 'failed' }>): IsolatedFault {
    const words = cleanText(String(message), MAX_REASON_CHARS)
    if (refused === undefined) return new IsolatedFault(words, failureOf(failure))
    const permission = PERMISSIONS.find((one) => one === refused.permission) ?? 'net'
    const target = cleanText(String(refused.target), MAX_LOGGED_CHARS)
    // What Deno refused itself, its role was not asked.
    const error =
      refused.isCounted === true
        ? permissionDenied(this.#options.plugin, permission, target)
        : this.#refuse({ permission, target })
    return new IsolatedFault(words, undefined, error)
  }

  /** What came for a session. Where that can't be used, this session fails, and no other. */
  #give(session: number, take: (events: SessionEvents) => void): void {
    const events = this.#sessions.get(session)
    if (events === undefined) return
    try {
      take(events)
    } catch (error) {
      this.#breakOff(session, error instanceof Error ? error.message : String(error), events)
    }
  }

  #breakOff(session: number, why: string, events = this.#sessions.get(session)): void {
    if (this.#over(session) !== undefined) this.#say({ type: 'cancel', session })
    const words = cleanText(why, MAX_REASON_CHARS)
    events?.failed(new IsolatedFault(`It gave what can't be used: ${words}`, { fault: 'bad_request' }))
  }

  #over(session: number): SessionEvents | undefined {
    const events = this.#sessions.get(session)
    this.#sessions.delete(session)
    this.#attend()
    if (this.#isRetired) this.close()
    return events
  }

  /** An idle process keeps its role from ending no more than an idle connection does. */
  #attend(): void {
    const child = this.#child
    const verb = this.#sessions.size > 0 || !this.#isLoaded ? 'ref' : 'unref'
    child?.[verb]()
  }

  #watch(child: RunningProgram, watch: ProcessWatch): void {
    let lookedMs = performance.now()
    let beatMs = lookedMs
    const look = boundary('plugin', (): void => {
      const nowMs = performance.now()
      const isIdle = this.#sessions.size === 0 && this.#isLoaded
      if (nowMs - lookedMs < (isIdle ? BEAT_EVERY_MS : LOOK_EVERY_MS / 2)) return
      this.#intake?.passed(nowMs - lookedMs)
      this.#loggedLines = Math.max(0, this.#loggedLines - (MAX_LOG_LINES_PER_S * (nowMs - lookedMs)) / 1_000)
      lookedMs = nowMs
      if (nowMs - beatMs >= BEAT_EVERY_MS) {
        beatMs = nowMs
        this.#say({ type: 'beat', at: Math.round(nowMs) })
      }
      const usage = processUsage(child.pid) ?? { memoryBytes: 0, cpuMs: 0 }
      const verdict = watch.look(nowMs, usage, this.#isLoaded)
      if (verdict === undefined) return
      if ('end' in verdict) this.#end(child, verdict.end)
      else setNiceness(child.pid, verdict.yields ? YIELDING_NICENESS : this.#options.niceness)
    })
    this.#checks = setInterval(look, LOOK_EVERY_MS).unref()
  }

  #end(child: RunningProgram, why: string): void {
    if (this.#child !== child || this.#endedFor !== undefined) return
    this.#endedFor = why
    this.#intake?.end()
    child.kill()
  }

  #logLine(level: 'debug' | 'info' | 'warn' | 'error', text: string): void {
    if (text === '' || ++this.#loggedLines > MAX_LOG_LINES_PER_S) return
    const known = LEVELS.has(level) ? level : 'info'
    this.#options.log[known]({ plugin: this.#options.plugin }, cleanText(text, MAX_LOGGED_CHARS))
  }

  #say(message: ToPlugin): void {
    this.#out.message(message)
    this.#flush()
  }

  /** Everything of one turn of the event loop, of all sessions, leaves in one write. */
  #flush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    setImmediate(
      boundary('plugin', () => {
        this.#isFlushing = false
        const whole = this.#out.take()
        this.#child?.pipes[PIPE_FD]?.write(whole)
      }),
    )
  }
}

/** What Deno prints of the way by which it asks for permissions. */
const OF_BROKER = 'Warning Permission broker is an experimental feature'
const LEVELS: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error'])
