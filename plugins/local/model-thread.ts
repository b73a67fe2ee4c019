import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ProviderError, type SttEvent } from '../../packages/plugin/mod.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { Mailbox } from './mailbox.ts'
import type { SpeakRequest, ThreadOptions } from './model.ts'
import type { FromThread, ToThread } from './thread-messages.ts'

/** A thread whose native code doesn't come back can't be ended, its process can: the role starts another. */
const PING_EVERY_MS = 5_000
const STUCK_AFTER_MS = 30_000

interface Hearing {
  push(samples: Int16Array): void
  /** There is no more audio. */
  end(): void
  readonly events: AsyncIterable<SttEvent>
}

const threads = new Map<string, ModelThread>()

/** The thread that runs a model, started with its first use. */
export function threadOf(options: ThreadOptions): ModelThread {
  const { id } = options.model
  const known = threads.get(id)
  if (known !== undefined) return known
  const made = new ModelThread(options, () => threads.delete(id))
  threads.set(id, made)
  return made
}

/** A model in a thread of its own, all sessions in it. */
export class ModelThread {
  readonly #worker: Worker
  readonly #title: string
  readonly #sessions = new Map<number, Mailbox<SttEvent | Int16Array>>()
  #nextSession = 1
  #isLoaded = false
  #heardAtMs = performance.now()

  constructor(options: ThreadOptions, onEnd: () => void) {
    this.#title = options.model.id
    this.#worker = new Worker(join(import.meta.dirname, 'thread.ts'), { workerData: options, stdout: false })
    this.#worker.on(
      'message',
      boundary('provider', (message: FromThread) => this.#receive(message)),
    )
    this.#worker.on(
      'error',
      boundary('provider', (error) => this.#lose(error.message)),
    )
    this.#worker.on(
      'exit',
      boundary('provider', (code) => this.#lose(`its thread ended (${code})`)),
    )
    const watch = setInterval(
      boundary('provider', () => this.#watch()),
      PING_EVERY_MS,
    ).unref()
    this.#worker.once(
      'exit',
      boundary('provider', () => {
        clearInterval(watch)
        onEnd()
      }),
    )
  }

  /** Recognises one caller: 16 kHz. */
  hear(signal: AbortSignal): Hearing {
    const { session, events } = this.#open({ type: 'hear', session: 0 }, signal)
    return {
      push: (samples) => {
        const copy = Int16Array.from(samples)
        if (this.#sessions.has(session)) this.#say({ type: 'audio', session, samples: copy }, [copy.buffer])
      },
      end: () => this.#say({ type: 'end', session }),
      events: events as AsyncIterable<SttEvent>,
    }
  }

  /** Speaks one sentence. */
  speak(request: SpeakRequest, signal: AbortSignal): AsyncIterable<Int16Array> {
    return this.#open({ type: 'speak', session: 0, request }, signal).events as AsyncIterable<Int16Array>
  }

  #open(
    message: Extract<ToThread, { type: 'hear' | 'speak' }>,
    signal: AbortSignal,
  ): { session: number; events: AsyncIterable<SttEvent | Int16Array> } {
    const session = this.#nextSession++
    const mailbox = new Mailbox<SttEvent | Int16Array>()
    this.#sessions.set(session, mailbox)
    this.#say({ ...message, session })
    const cancel = boundary('provider', (): void => {
      if (this.#sessions.delete(session)) this.#say({ type: 'cancel', session })
      mailbox.end()
    })
    const events = (async function* () {
      signal.addEventListener('abort', cancel, { once: true })
      if (signal.aborted) cancel()
      try {
        yield* mailbox
      } finally {
        signal.removeEventListener('abort', cancel)
        cancel()
      }
    })()
    return { session, events }
  }

  #say(message: ToThread, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer)
  }

  #receive(message: FromThread): void {
    this.#heardAtMs = performance.now()
    switch (message.type) {
      case 'ready':
        this.#isLoaded = true
        return
      case 'broken':
        this.#lose(message.reason)
        return
      case 'heard':
        this.#sessions.get(message.session)?.put(message.event)
        return
      case 'sound':
        this.#sessions.get(message.session)?.put(message.samples)
        return
      case 'done':
        this.#over(message.session)?.end()
        return
      case 'failed': {
        const fault = message.isBusy ? 'rate_limit' : 'transient'
        this.#over(message.session)?.fail(new ProviderError(`Model "${this.#title}": ${message.reason}`, { fault }))
        return
      }
      case 'pong':
    }
  }

  #over(session: number): Mailbox<SttEvent | Int16Array> | undefined {
    const mailbox = this.#sessions.get(session)
    this.#sessions.delete(session)
    return mailbox
  }

  #lose(reason: string): void {
    const lost = [...this.#sessions.values()]
    this.#sessions.clear()
    for (const mailbox of lost) {
      mailbox.fail(new ProviderError(`Model "${this.#title}": ${reason}`, { fault: 'transient' }))
    }
  }

  #watch(): void {
    if (!this.#isLoaded || this.#sessions.size === 0) {
      this.#heardAtMs = performance.now()
      return
    }
    if (performance.now() - this.#heardAtMs > STUCK_AFTER_MS) {
      console.error(`Model "${this.#title}" did not answer for ${STUCK_AFTER_MS} ms; its process ends`)
      process.exit(1)
    }
    this.#say({ type: 'ping' })
  }
}
