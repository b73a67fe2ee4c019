import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { boundary } from '../lib/async/boundary.ts'
import { signalWithin } from '../lib/async/signal-within.ts'
import type { Logger } from './log.ts'
import { asProcess } from './own-act.ts'
import { RestartBackoff } from './restart-backoff.ts'

/** A child process that is started again whenever it dies. */
export interface SupervisedOptions {
  name: string
  log: Logger
  /** Runs before each start: clears what a dead predecessor left. */
  prepare?(): Promise<void>
  spawn(): ChildProcess
  /** Resolves once the child serves; rejects, or throws through `signal`, when it doesn't. */
  ready?(child: ChildProcess, signal: AbortSignal): Promise<void>
  /** Asks the child to finish. */
  stopSignal: NodeJS.Signals
  /** Starts that may fail in a row before `supervise` gives up; later failures are retried for ever. */
  firstStartAttempts?: number
  readyTimeoutMs?: number
}

export interface Supervised {
  /** Process id of the running child; undefined between two lives. */
  readonly pid: number | undefined
  /** Says something to the running child over its channel; between two lives, and without a channel, nobody hears it. */
  send(message: object): void
  /** Ends the child: `stopSignal`, then SIGKILL after `graceMs`. Resolves when it is gone. */
  stop(graceMs: number): Promise<void>
}

const FIRST_RETRY_MS = 100
const READY_TIMEOUT_MS = 60_000
const KEPT_OUTPUT_LINES = 20
const ENDED_WELL = 'exited with code 0'

/**
 * Starts a child, waits until it is ready and keeps it running. Throws an Error with the child's last words when the
 * first start fails.
 */
export async function supervise(options: SupervisedOptions): Promise<Supervised> {
  const supervisor = new Supervisor(options)
  await supervisor.firstStart()
  return supervisor
}

class Supervisor implements Supervised {
  readonly #options: SupervisedOptions
  readonly #stopping = new AbortController()
  #child: ChildProcess | undefined
  #exited: Promise<string> = Promise.resolve('')
  #loop: Promise<void> = Promise.resolve()

  constructor(options: SupervisedOptions) {
    this.#options = options
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  send(message: object): void {
    const { name, log } = this.#options
    if (this.#child?.connected !== true) return
    this.#child.send(message, (err) => {
      if (err !== null) log.warn({ err, child: name }, `${name} could not be told`)
    })
  }

  async firstStart(): Promise<void> {
    const attempts = this.#options.firstStartAttempts ?? 3
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#start()
        break
      } catch (error) {
        await this.#kill(0)
        if (attempt >= attempts || this.#stopping.signal.aborted) throw error
        await sleep(FIRST_RETRY_MS * 2 ** attempt)
      }
    }
    this.#loop = this.#keepRunning()
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    await this.#kill(graceMs)
    await this.#loop
  }

  async #start(): Promise<void> {
    const { name, log, prepare, spawn, ready, readyTimeoutMs = READY_TIMEOUT_MS } = this.#options
    await prepare?.()
    if (this.#stopping.signal.aborted) return
    const child = asProcess(spawn)
    this.#child = child
    const lastLines = followOutput(child, name, log)
    this.#exited = exitOf(child)
    const exited = this.#exited.then((how) => {
      this.#child = undefined
      throw new Error(`${name} ${how}${lastLines.length > 0 ? `: ${lastLines.join(' | ')}` : ''}`)
    })
    exited.catch(() => {})
    if (ready === undefined) return
    const giveUp = new AbortController()
    const signal = signalWithin(readyTimeoutMs, giveUp.signal, this.#stopping.signal)
    try {
      await Promise.race([ready(child, signal), exited])
    } catch (error) {
      // A child that could not be run says why better than the code that waited for it.
      if (child.pid === undefined) await exited
      throw error
    } finally {
      giveUp.abort()
    }
  }

  async #keepRunning(): Promise<void> {
    const { name, log } = this.#options
    const backoff = new RestartBackoff()
    while (!this.#stopping.signal.aborted) {
      const readyAtMs = performance.now()
      const how = await this.#exited
      if (this.#stopping.signal.aborted) return
      const delayMs = backoff.next(performance.now() - readyAtMs)
      // A child that was asked to end did so, and a new one is wanted.
      const level = how === ENDED_WELL ? 'info' : 'error'
      log[level]({ child: name, delayMs }, `${name} ${how}; starting it again`)
      await sleep(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
      if (this.#stopping.signal.aborted) return
      try {
        await this.#start()
        log.info({ child: name, pid: this.pid }, `${name} runs again`)
      } catch (err) {
        log.error({ child: name, err }, `${name} could not be started`)
        await this.#kill(0)
      }
    }
  }

  async #kill(graceMs: number): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    if (graceMs > 0) {
      child.kill(this.#options.stopSignal)
      const timer = new AbortController()
      await Promise.race([this.#exited, sleep(graceMs, undefined, { signal: timer.signal }).catch(() => {})])
      timer.abort()
    }
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await this.#exited
    this.#child = undefined
  }
}

async function exitOf(child: ChildProcess): Promise<string> {
  if (child.pid === undefined) {
    const [error] = await once(child, 'error').catch((cause: unknown) => [cause])
    return `could not be run (${error instanceof Error ? error.message : String(error)})`
  }
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`
}

/** Logs what the child prints and keeps its last lines for an error message. */
function followOutput(child: ChildProcess, name: string, log: Logger): string[] {
  const lastLines: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on(
      'line',
      boundary('process', (line) => {
        if (line.trim() === '') return
        lastLines.push(line)
        if (lastLines.length > KEPT_OUTPUT_LINES) lastLines.shift()
        log.debug({ child: name }, line)
      }),
    )
  }
  return lastLines
}
