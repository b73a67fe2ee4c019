import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Clock } from '../../lib/clock.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { cutText } from '../../lib/text.ts'
import type { StoredKeys } from '../../plugin/stored-keys.ts'
import type { Logger } from '../../process/log.ts'
import type { AgentSpec } from '../types/agent-spec.ts'
import type { LinkedConversation, OpenConversation } from './linked-conversation.ts'
import { HANDED_OFF, type NodeMessage, type WorkerMessage, type WorkerState } from './messages.ts'
import { LinkPort, MAX_SENTENCE_CHARS } from './worker-port.ts'

const OPEN_TIMEOUT_MS = 10_000
const CLOSE_TIMEOUT_MS = 5_000
/** Of what keeps a conversation from opening, this is the same for every worker. */
const FAULTS_OF_AGENTS: ReadonlySet<string> = new Set(['plugin', 'configuration', 'validation'])

export interface LinksOptions {
  /** The api nodes: `ws://` or `wss://` addresses; `/link` is added where the path is empty. */
  urls: readonly string[]
  token: string
  workerId: string
  /** Sessions at once, over all api nodes; read each time. */
  readonly capacity: number
  metricsUrl: string
  /** Which calls it serves; absent: those without a pool. */
  pool?: string
  openConversation: OpenConversation
  /** A session of this agent is likely to follow for this call. */
  warm?(callId: string, agent: AgentSpec, keys?: StoredKeys): void
  /** An operator asks the worker to end once its calls are over. */
  drain?(): void
  /** An operator asks the worker to read its settings anew. */
  reload?(): void
  /** The keys of providers that an operator stored: all of them. */
  keys?(stored: StoredKeys): void
  /** `draining` and `overloaded` take no new session. */
  state(): WorkerState
  /** Audio was not sent: an api node reads too slowly, or its link is gone. */
  dropped?(bytes: number): void
  clock: Clock
  /** A number in [0, 1): spreads the reconnections of many workers. */
  random(): number
  log: Logger
  /** Aborts: everything is closed at once. */
  signal: AbortSignal
}

/** What the links of a worker share. */
export interface SessionHost {
  readonly options: LinksOptions
  readonly welcomed: PromiseWithResolvers<void>
  /** Sessions that are no announcements. */
  readonly active: number
  state(): WorkerState
  /** Takes a place for the session; false: the worker is full. */
  taken(announcement: boolean): boolean
  released(announcement: boolean): void
}

/** The link that sessions belong to. */
export interface SessionLink {
  /** The api node understands `owes`. */
  readonly takesOwed: boolean
  send(message: WorkerMessage): void
  audio(session: number, timestamp: number, bytes: Uint8Array): void
  /** The api node breaks the protocol. */
  fail(reason: string): void
}

interface RunningSession {
  port: LinkPort
  conversation: LinkedConversation | undefined
  /** Set once the session is over: what comes back from openConversation later is closed at once. */
  over: boolean
  announcement: boolean
  /** It gave its place back. */
  left: boolean
}

/** The sessions that a worker runs for one api node: each opens, gets what its caller sends, and is released once. */
export class LinkSessions {
  readonly #worker: SessionHost
  readonly #link: SessionLink
  readonly #sessions = new Map<number, RunningSession>()
  readonly #closing = new Set<Promise<void>>()
  /** Of sessions that are over and whose conversations close. */
  readonly #ports = new Set<LinkPort>()

  constructor(worker: SessionHost, link: SessionLink) {
    this.#worker = worker
    this.#link = link
  }

  port(session: number): LinkPort | undefined {
    return this.#sessions.get(session)?.port
  }

  /** Hands the running ones back and waits until their conversations are released. */
  async leave(): Promise<void> {
    for (const session of [...this.#sessions.keys()]) {
      this.#link.send({ type: 'ended', session, reason: 'worker_drained' })
      this.end(session, 'worker_drained')
    }
    await Promise.all(this.#closing)
  }

  /** The link is lost. */
  lost(): void {
    for (const session of [...this.#sessions.keys()]) this.end(session, 'link_lost')
    // Their numbers will belong to other sessions.
    for (const port of this.#ports) port.end()
    this.#ports.clear()
  }

  /** A conversation that throws ends itself alone. */
  tell(session: number, act: (conversation: LinkedConversation) => void): void {
    const running = this.#sessions.get(session)
    if (running?.conversation === undefined) return
    try {
      act(running.conversation)
    } catch (err) {
      this.#worker.options.log.error({ err, session }, 'A conversation failed')
      running.port.ended('error', new PatchbayError('internal').message)
    }
  }

  async open(open: Extract<NodeMessage, { type: 'open' }>): Promise<void> {
    const { session } = open
    const { openConversation, log } = this.#worker.options
    const reject = (reason: Extract<WorkerMessage, { type: 'rejected' }>['reason'], message: string): void =>
      this.#link.send({ type: 'rejected', session, reason, message })
    const state = this.#worker.state()
    const announcement = open.announcement === true
    const takes = state === 'ready' || (state === 'overloaded' && (open.reserved === true || announcement))
    if (!takes) return reject(state, `The worker is ${state}`)
    if (this.#sessions.has(session)) return this.#link.fail(`session ${session} twice`)
    if (!this.#worker.taken(announcement)) return reject('full', 'The worker is full')

    const port = new LinkPort(session, this.#link, () => this.end(session, 'ended'))
    const running: RunningSession = { port, conversation: undefined, over: false, announcement, left: false }
    this.#sessions.set(session, running)
    let giveUp: NodeJS.Timeout | undefined
    const opening = (async () => openConversation(open, port))()
    try {
      const conversation = await Promise.race([
        opening,
        new Promise<never>((_, reject) => {
          giveUp = setTimeout(
            boundary('link', () => {
              const params = { action: 'Opening the conversation', timeoutMs: OPEN_TIMEOUT_MS }
              reject(new PatchbayError('timeout', { params }))
            }),
            OPEN_TIMEOUT_MS,
          )
        }),
      ])
      if (running.over) {
        this.#release(session, conversation, running, 'closed')
        return
      }
      running.conversation = conversation
      this.#link.send({ type: 'accepted', session })
      port.start()
    } catch (err) {
      log.warn({ err, callId: open.callId }, 'A conversation could not be opened')
      const known = err instanceof PatchbayError
      if (known && err.code === 'timeout') {
        opening.then(
          (late) => late.close('timeout').catch(() => undefined),
          () => undefined,
        )
      }
      if (!running.over) {
        this.#sessions.delete(session)
        const bad = known && FAULTS_OF_AGENTS.has(err.code)
        const sentence = known ? err.message : new PatchbayError('internal').message
        reject(bad ? 'bad_agent' : 'failed', cutText(sentence, MAX_SENTENCE_CHARS))
      }
      this.#closed(session, port)
      this.#leave(running)
    } finally {
      clearTimeout(giveUp)
    }
  }

  /** The session is over on this side; its conversation is released in the background. */
  end(session: number, reason: string): void {
    const running = this.#sessions.get(session)
    if (running === undefined) return
    this.#sessions.delete(session)
    running.over = true
    running.port.close()
    this.#ports.add(running.port)
    if (reason === HANDED_OFF) this.#leave(running)
    if (running.conversation !== undefined) this.#release(session, running.conversation, running, reason)
  }

  /** Closes the conversation, which tells what it used to the end, and says that this was all. */
  #release(session: number, conversation: LinkedConversation, running: RunningSession, reason: string): void {
    const closing = (async () => {
      let timer: NodeJS.Timeout | undefined
      try {
        await Promise.race([
          conversation.close(reason),
          new Promise<never>((_, reject) => {
            const params = { action: 'Closing the conversation', timeoutMs: CLOSE_TIMEOUT_MS }
            timer = setTimeout(() => reject(new PatchbayError('timeout', { params })), CLOSE_TIMEOUT_MS)
          }),
        ])
      } catch (err) {
        this.#worker.options.log.error({ err, session }, 'Could not close a conversation')
      } finally {
        clearTimeout(timer)
        this.#closed(session, running.port)
        this.#leave(running)
      }
    })()
    this.#closing.add(closing)
    inBackground(
      'link',
      closing.finally(() => this.#closing.delete(closing)),
    )
  }

  /** Gives the place of the session back, once. */
  #leave(running: RunningSession): void {
    if (running.left) return
    running.left = true
    this.#worker.released(running.announcement)
  }

  /** Tells the api node that nothing more comes of the session, unless the link to it is another one by now. */
  #closed(session: number, port: LinkPort): void {
    if (this.#ports.delete(port)) this.#link.send({ type: 'closed', session })
    port.end()
  }
}
