import { AsyncIterableQueue, type llm } from '@livekit/agents'
import type { WebSocket } from 'ws'
import { boundary } from '../../lib/async/boundary.ts'
import {
  explainFailure,
  ProviderError,
  type ProviderFailure,
  type ProviderIdentity,
} from '../../plugin-sdk/provider-error.ts'
import type {
  ClientEvent,
  RealtimeConfig,
  RealtimeProvider,
  RealtimeSession,
  RealtimeUsage,
  ServerEvent,
} from '../../plugin-sdk/realtime/realtime-provider.ts'
import { SampleReader } from '../../plugin-sdk/speech/pcm.ts'
import { closeNow, openSocket } from '../../plugin-sdk/speech/socket.ts'
import { AnswerAudio } from './answer.ts'
import type { SoundSink } from './caller-voice.ts'
import { SessionLedger } from './ledger.ts'
import { ResponseSequencer } from './sequencer.ts'

const CONNECT_TIMEOUT_MS = 3_000
const MAX_MALFORMED = 20

/** What an answer brings, in order. */
export type AnswerPart =
  | { type: 'text'; text: string; itemId: string; audio: AnswerAudio | undefined }
  | { type: 'tool_call'; callId: string; name: string; arguments: string }
  | { type: 'usage'; usage: RealtimeUsage }

/** One answer that was asked for. */
export class RealtimeAnswer {
  readonly parts = new AsyncIterableQueue<AnswerPart>()
  readonly #samples = new SampleReader()
  audio: AnswerAudio | undefined
  failure: ProviderFailure | undefined

  sound(bytes: Uint8Array, rateHz: number): AnswerAudio {
    this.audio ??= new AnswerAudio(rateHz)
    this.audio.push(this.#samples.push(bytes))
    return this.audio
  }

  end(failure?: ProviderFailure): void {
    if (this.parts.closed) return
    this.failure = failure
    this.audio?.fail(failure === undefined ? undefined : new ProviderError(failure))
    this.parts.close()
  }
}

interface ConnectionEvents {
  /** No response runs. */
  idle(): void
  /** The session says that it ends soon. */
  goingAway(): void
  closed(connection: RealtimeConnection, failure: ProviderFailure): void
}

/** One open session with a speech-to-speech model: the messages of its socket, and what the session holds. */
export class RealtimeConnection implements SoundSink {
  readonly #identity: ProviderIdentity
  readonly #provider: RealtimeProvider
  readonly #socket: WebSocket
  readonly #session: RealtimeSession
  readonly #events: ConnectionEvents
  readonly #ledger = new SessionLedger()
  readonly #sequencer = new ResponseSequencer<RealtimeAnswer>()
  readonly #answers = new Set<RealtimeAnswer>()
  /** Whether tools may be called in the answer that is asked for next. */
  #mayCallTools = true
  #configured: string
  #failure: ProviderFailure | undefined
  #malformed = 0
  /** It gave an answer. */
  hasAnswered = false

  private constructor(
    identity: ProviderIdentity,
    provider: RealtimeProvider,
    socket: WebSocket,
    session: RealtimeSession,
    config: RealtimeConfig,
    events: ConnectionEvents,
  ) {
    this.#identity = identity
    this.#provider = provider
    this.#socket = socket
    this.#session = session
    this.#configured = JSON.stringify(config)
    this.#events = events
    socket.on(
      'message',
      boundary('provider', (data) => this.#take(String(data))),
    )
    socket.on(
      'close',
      boundary('provider', (code) => {
        this.#fail(explainFailure(identity, { message: `the connection closed with ${code}` }))
      }),
    )
    for (const message of session.hello) socket.send(message)
  }

  /** Throws what `openSocket` throws. */
  static async open(
    identity: ProviderIdentity,
    provider: RealtimeProvider,
    config: RealtimeConfig,
    events: ConnectionEvents,
    signal: AbortSignal,
  ): Promise<RealtimeConnection> {
    const session = provider.session(config)
    const socket = await openSocket(identity, session, { timeoutMs: CONNECT_TIMEOUT_MS, signal })
    return new RealtimeConnection(identity, provider, socket, session, config, events)
  }

  get isOpen(): boolean {
    return this.#failure === undefined
  }

  get isBusy(): boolean {
    return this.#answers.size > 0
  }

  sound(samples: Int16Array): void {
    this.#send({ type: 'audio', samples })
  }

  forget(): void {
    this.#send({ type: 'clear' })
  }

  /**
   * Brings the session up to the conversation and asks for an answer.
   *
   * @param spoke sound of the caller was sent that no item has
   * @param committed called when that sound becomes an item
   */
  answer(
    items: readonly llm.ChatItem[],
    config: RealtimeConfig,
    { spoke, committed, mayCallTools }: { spoke: boolean; committed: () => void; mayCallTools: boolean },
  ): RealtimeAnswer {
    const answer = new RealtimeAnswer()
    if (this.#failure !== undefined) {
      answer.end(this.#failure)
      return answer
    }
    const wanted = JSON.stringify(config)
    if (wanted !== this.#configured) {
      this.#configured = wanted
      this.#send({ type: 'configure', config })
    }
    for (const event of this.#ledger.bringUp(items, spoke)) {
      if (event.type === 'commit') committed()
      this.#send(event)
    }
    this.#mayCallTools = mayCallTools
    this.#answers.add(answer)
    this.#follow(this.#sequencer.request(answer))
    return answer
  }

  /** Nobody wants the answer any more. */
  cancel(answer: RealtimeAnswer): void {
    answer.end()
    this.#answers.delete(answer)
    this.#follow(this.#sequencer.cancel(answer))
  }

  close(): void {
    this.#fail(explainFailure(this.#identity, { message: 'the session was closed' }), false)
  }

  #send(event: ClientEvent): void {
    if (this.#failure !== undefined) return
    for (const message of this.#session.serialise(event)) this.#socket.send(message)
  }

  #follow(orders: ReturnType<ResponseSequencer<RealtimeAnswer>['request']>): void {
    for (const order of orders) {
      this.#send(order.type === 'respond' ? { ...order, mayCallTools: this.#mayCallTools } : order)
    }
  }

  #take(raw: string): void {
    let events: readonly ServerEvent[]
    try {
      events = this.#session.parse(raw)
    } catch {
      if (++this.#malformed > MAX_MALFORMED) {
        this.#fail(explainFailure(this.#identity, { message: 'it sent messages that make no sense' }))
      }
      return
    }
    for (const event of events) this.#happened(event)
  }

  #happened(event: ServerEvent) {
    switch (event.type) {
      case 'committed':
        return this.#ledger.committed(event.itemId)
      case 'response_started':
        return this.#follow(this.#sequencer.started(event.responseId))
      case 'audio': {
        const answer = this.#sequencer.ownerOf(event.responseId)
        const audio = answer?.sound(event.bytes, this.#provider.capabilities.sampleRateHz)
        // An answer that nobody wants is deleted before the next one.
        return this.#ledger.answered(event.itemId, audio)
      }
      case 'text': {
        const { text, itemId } = event
        const answer = this.#sequencer.ownerOf(event.responseId)
        if (answer !== undefined && this.#provider.capabilities.speaks) {
          answer.audio ??= new AnswerAudio(this.#provider.capabilities.sampleRateHz)
        }
        this.#ledger.answered(itemId, answer?.audio)
        if (answer?.parts.closed === false) answer.parts.put({ type: 'text', text, itemId, audio: answer.audio })
        return
      }
      case 'tool_call': {
        const { callId, name } = event
        this.#ledger.called(event.itemId, callId)
        const answer = this.#sequencer.ownerOf(event.responseId)
        if (answer?.parts.closed === false)
          answer.parts.put({ type: 'tool_call', callId, name, arguments: event.arguments })
        return
      }
      case 'response_done':
        return this.#done(event)
      case 'response_refused': {
        const orders = this.#sequencer.refused()
        if (orders === undefined) this.#fail(explainFailure(this.#identity, { message: 'another response never ends' }))
        else this.#follow(orders)
        return
      }
      case 'failed':
        return this.#fail(event.failure)
      case 'going_away':
        return this.#events.goingAway()
    }
  }

  #done({ responseId, failure, usage }: Extract<ServerEvent, { type: 'response_done' }>): void {
    const answer = this.#sequencer.ownerOf(responseId)
    if (answer !== undefined) {
      this.hasAnswered ||= failure === undefined
      if (usage !== undefined && !answer.parts.closed) answer.parts.put({ type: 'usage', usage })
      answer.end(failure)
      this.#answers.delete(answer)
    }
    this.#follow(this.#sequencer.done(responseId))
    if (this.#answers.size === 0) this.#events.idle()
  }

  #fail(failure: ProviderFailure, isNews = true): void {
    if (this.#failure !== undefined) return
    this.#failure = failure
    for (const answer of this.#answers) answer.end(failure)
    this.#answers.clear()
    this.#socket.removeAllListeners('message').removeAllListeners('close')
    closeNow(this.#socket)
    if (isNews) this.#events.closed(this, failure)
  }
}
