import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openRealtime, type RealtimeSession } from '../demo/realtime.ts'
import type { RestClient, SessionToken } from '../demo/rest.ts'

const TALK_EVERY_MS = 4_000
const ANSWER_LIMIT_MS = 10_000
const END_LIMIT_MS = 15_000
const REST_MS = 500
/** Calls that begin at the same time. */
const BEGINNING_AT_ONCE = 5

interface Options {
  /** One for each api node, with the same user. */
  clients: readonly RestClient[]
  agentId: string
  /** How many run at a time. */
  calls: number
  random: () => number
  /** How long a call lasts. */
  lastsMs: { least: number; most: number }
}

/** Web calls in which somebody talks, as many at a time as are wanted; each that ends is followed by another. */
export class LiveCalls {
  /** What callers noticed that they should not have. */
  readonly broken: string[] = []
  /** Calls that began, by id. */
  readonly begun: string[] = []
  readonly #options: Options
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  #open = 0
  #beginning = 0
  /** Calls that could not begin, as while a store is away. */
  refused = 0

  constructor(options: Options) {
    this.#options = options
  }

  get open(): number {
    return this.#open
  }

  /** Keeps calls open until it is stopped. */
  async keep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      if (this.#open + this.#beginning < this.#options.calls && this.#beginning < BEGINNING_AT_ONCE) {
        const call = this.#call().finally(() => this.#running.delete(call))
        this.#running.add(call)
      } else await sleep(50)
    }
  }

  /** Has all callers hang up, and waits for the ends of their calls. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running)
  }

  /** Whether a call may begin at a node now; it ends at once. */
  async canBegin(node: number): Promise<boolean> {
    const { clients, agentId } = this.#options
    const rest = clients[node % clients.length]
    try {
      if (rest === undefined) return false
      const call = await beginCall(rest, agentId)
      this.begun.push(call.callId)
      call.session.send({ type: 'end' })
      return true
    } catch {
      return false
    }
  }

  async #call(): Promise<void> {
    const { clients, agentId, random, lastsMs } = this.#options
    this.#beginning++
    let call: Awaited<ReturnType<typeof beginCall>> | undefined
    try {
      const rest = clients[Math.floor(random() * clients.length)]
      call = rest && (await beginCall(rest, agentId))
    } catch {
      this.refused++
      await sleep(REST_MS)
    } finally {
      this.#beginning--
    }
    if (call === undefined) return
    this.begun.push(call.callId)
    this.#open++
    await this.#talk(call, lastsMs.least + random() * (lastsMs.most - lastsMs.least)).finally(() => this.#open--)
  }

  async #talk({ session, told, callId }: Awaited<ReturnType<typeof beginCall>>, forMs: number): Promise<void> {
    const over = new AbortController()
    for (const name of ['session.ended', 'closed']) {
      told.once(name, (why: { reason?: string } | number) => {
        if (over.signal.aborted) return
        over.abort()
        this.broken.push(
          `call ${callId} ended by itself: ${typeof why === 'number' ? `closed with ${why}` : why.reason}`,
        )
      })
    }
    const signal = AbortSignal.any([over.signal, this.#stopping.signal])
    const endMs = performance.now() + forMs
    for (let turn = 1; performance.now() < endMs && !signal.aborted; turn++) {
      const word = `word-${turn}-`
      const heard = new Promise<boolean>((resolve) => {
        const listen = (message: { text?: string }): void => {
          if (message.text?.includes(word)) resolve(true)
        }
        told.on('transcript', listen)
        setTimeout(() => {
          told.off('transcript', listen)
          resolve(false)
        }, ANSWER_LIMIT_MS).unref()
      })
      session.send({ type: 'text', text: word })
      const isAnswered = await heard
      if (!isAnswered && !over.signal.aborted) this.broken.push(`call ${callId} had no answer to its turn ${turn}`)
      await sleep(TALK_EVERY_MS, undefined, { signal }).catch(() => {})
    }
    if (over.signal.aborted) return
    over.abort()
    const ended = once(told, 'closed', { signal: AbortSignal.timeout(END_LIMIT_MS) }).catch(() => {
      this.broken.push(`call ${callId} did not end when its caller hung up`)
    })
    session.send({ type: 'end' })
    await ended
  }
}

async function beginCall(rest: RestClient, agentId: string) {
  const token = await rest.send<SessionToken>('GET', `/calls/generate-token?agent_id=${agentId}`)
  const told = new EventEmitter()
  const started = once(told, 'session.started').then(() => undefined)
  const ended = once(told, 'session.ended').then(([{ reason }]) => String(reason))
  const closed = once(told, 'closed').then(([code]) => `closed with ${code}`)
  const address = new URL(token.realtime_url)
  address.host = new URL(rest.url).host
  const session: RealtimeSession = await openRealtime(address.href, {
    message: (message) => void told.emit(message.type, message),
    audio: () => {},
    closed: (code) => void told.emit('closed', code),
  })
  const fault = await Promise.race([started, ended, closed])
  if (fault !== undefined) throw new Error(`The session ended before it started: ${fault}`)
  return { session, told, callId: token.call_log_id }
}
