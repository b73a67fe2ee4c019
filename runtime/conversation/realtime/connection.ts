import type { llm } from '@livekit/agents'
import type { WebSocket } from 'ws'
import type {
  RealtimeCapabilities,
  RealtimeClientEvent,
  RealtimeConfig,
  RealtimeFault,
  RealtimeServerEvent,
  RealtimeUsage,
} from '../../../packages/plugin/realtime.ts'
import { boundary } from '../../lib/async/boundary.ts'
import {
  explainFailure,
  ProviderError,
  type ProviderFailure,
  type ProviderIdentity,
} from '../../plugin-sdk/provider-error.ts'
import type { RealtimeCodec, RealtimeProvider } from '../../plugin-sdk/realtime/realtime-provider.ts'
import { closeNow, openSocket } from '../../plugin-sdk/speech/socket.ts'
import { AnswerAudio } from './answer.ts'
import type { SoundSink } from './caller-voice.ts'
import { HeldSound } from './held-sound.ts'
import { SessionLedger, type TranscribedMessage } from './ledger.ts'
import { RealtimeAnswer } from './realtime-answer.ts'
import { ResponseSequencer } from './sequencer.ts'

const CONNECT_TIMEOUT_MS = 3_000
/** From the open connection until the session takes what it is told. */
const READY_TIMEOUT_MS = 3_000
const MAX_MALFORMED = 20
/** Of an answer whose sound is complete. */
const LAST_WORDS_MS = 200
/** A session that another one took the place of may say so long what it used. */
const RETIRED_MS = 60_000
/** Calls of a tool in answers that may call none, after which the answer is given up. */
const MAX_FORBIDDEN_CALLS = 3
const FORBIDDEN_CALL = 'No tool may be called now. Answer the caller.'

type TranscriptionUsage = Extract<RealtimeServerEvent, { type: 'transcribed' }>['usage']

interface ConnectionEvents {
  /** No response runs. */
  idle(): void
  /** What an answer used that is over. */
  used(usage: RealtimeUsage): void
  /** It wrote what the caller said; `usage`: by another model, which is billed apart. */
  transcribed(words: TranscribedMessage | undefined, usage: TranscriptionUsage): void
  /** Another session has to take its place: it ends soon, or holds what can't be taken back. */
  goingAway(): void
  closed(connection: RealtimeConnection, failure: ProviderFailure): void
}

/** One open session with a speech-to-speech model: the messages of its socket, and what the session holds. */
export class RealtimeConnection implements SoundSink {
  readonly #identity: ProviderIdentity
  readonly #can: RealtimeCapabilities
  readonly #socket: WebSocket
  readonly #codec: RealtimeCodec
  readonly #events: ConnectionEvents
  readonly #ledger: SessionLedger
  readonly #sequencer = new ResponseSequencer<RealtimeAnswer>()
  readonly #answers = new Set<RealtimeAnswer>()
  /** Made whole, and not over: the provider counts it until it could have been heard. */
  readonly #whole = new Set<RealtimeAnswer>()
  readonly #sound: HeldSound
  readonly #ready = Promise.withResolvers<void>()
  #configured: string
  #failure: ProviderFailure | undefined
  #malformed = 0
  #isStale = false
  #isRetired = false
  #wasAsked = false
  /** It gave an answer. */
  hasAnswered = false

  private constructor(
    identity: ProviderIdentity,
    can: RealtimeCapabilities,
    socket: WebSocket,
    codec: RealtimeCodec,
    config: RealtimeConfig,
    events: ConnectionEvents,
  ) {
    this.#identity = identity
    this.#can = can
    this.#socket = socket
    this.#codec = codec
    this.#ledger = new SessionLedger(can.edits)
    this.#configured = JSON.stringify(config)
    this.#events = events
    this.#sound = new HeldSound((samples) => this.#send({ type: 'audio', samples }))
    this.#ready.promise.catch(() => undefined)
    codec.follow({
      send: (message) => socket.send(message),
      happened: (event) => this.#happened(event),
      malformed: () => {
        if (++this.#malformed > MAX_MALFORMED) this.#broke({ message: 'it sent messages that make no sense' })
      },
      closed: (fault) => this.#broke(fault),
      failed: (error) => this.#fail(explainFailure(identity, error)),
    })
    socket.on(
      'message',
      boundary('provider', (data) => codec.receive(String(data))),
    )
    socket.on(
      'close',
      boundary('provider', (code, reason) => codec.closed(code, String(reason))),
    )
    for (const message of codec.hello) socket.send(message)
  }

  /** Resolves when the session takes what it is told. Throws what `openSocket` throws, and ProviderError. */
  static async open(
    identity: ProviderIdentity,
    provider: RealtimeProvider,
    config: RealtimeConfig,
    events: ConnectionEvents,
    signal: AbortSignal,
  ): Promise<RealtimeConnection> {
    const codec = await provider.open(config)
    let connection: RealtimeConnection
    try {
      const opening = { timeoutMs: CONNECT_TIMEOUT_MS, signal }
      const socket = await provider.connecting(() => openSocket(identity, codec, opening))
      connection = new RealtimeConnection(identity, provider.capabilities, socket, codec, config, events)
    } catch (error) {
      codec.end()
      throw error
    }
    await connection.#becomeReady(signal)
    return connection
  }

  get isOpen(): boolean {
    return this.#failure === undefined
  }

  get isBusy(): boolean {
    return this.#answers.size > 0
  }

  /** It holds what the caller did not hear or did not say, and can't be made to forget it. */
  get isStale(): boolean {
    return this.#isStale
  }

  sound(samples: Int16Array): void {
    // A session that can't be corrected is told nothing that may turn out to be nobody's turn.
    const mustWait =
      !this.#can.edits && (!this.#wasAsked || this.isBusy || this.#whole.size > 0 || this.#ledger.hasOpenCalls)
    this.#sound.take(samples, mustWait)
  }

  forget(): void {
    const wasSent = this.#sound.drop()
    if (this.#can.edits) this.#send({ type: 'clear' })
    else if (wasSent) this.#becomeStale()
  }

  forgetTurn(): void {
    this.#ledger.forgetTurn()
  }

  /**
   * Brings the session up to the conversation and asks for an answer.
   *
   * @param spoke sound of the caller was sent that no item has
   * @param committed called when that sound becomes an item
   * @returns undefined where the session can't be brought up: another one has to be asked
   */
  answer(
    items: readonly llm.ChatItem[],
    config: RealtimeConfig,
    { spoke, committed, mayCallTools }: { spoke: () => boolean; committed: () => void; mayCallTools: boolean },
  ): RealtimeAnswer | undefined {
    const answer = new RealtimeAnswer(items, mayCallTools)
    if (this.#failure !== undefined) {
      answer.end(this.#failure)
      return answer
    }
    const mayAsk = !this.#isStale && (this.#can.edits || !this.isBusy)
    const events = mayAsk ? this.#ledger.bringUp(items, spoke()) : undefined
    if (events === undefined) {
      this.#becomeStale()
      return undefined
    }
    this.#wasAsked = true
    const wanted = JSON.stringify(config)
    if (wanted !== this.#configured) {
      this.#configured = wanted
      this.#send({ type: 'configure', config })
    }
    for (const event of events) {
      if (event.type === 'commit') {
        this.#sound.commit()
        committed()
      }
      this.#send(event)
    }
    this.#answers.add(answer)
    this.#follow(this.#sequencer.request(answer))
    return answer
  }

  /** Nobody wants the answer any more. */
  cancel(answer: RealtimeAnswer): void {
    answer.end()
    const wasWanted = this.#answers.delete(answer)
    if (this.#can.edits) this.#follow(this.#sequencer.cancel(answer))
    else if (wasWanted) this.#becomeStale()
    this.#closeIfRetired()
  }

  /** Another session serves from now on: it closes when nobody waits for an answer of it. */
  retire(): void {
    if (this.#isRetired) return
    this.#isRetired = true
    setTimeout(
      boundary('provider', () => this.close()),
      RETIRED_MS,
    ).unref()
    this.#closeIfRetired()
  }

  /** The caller cut off what was said. */
  cut(): void {
    if (!this.#can.edits && this.#whole.size > 0) this.#becomeStale()
  }

  close(): void {
    this.#fail(explainFailure(this.#identity, { message: 'the session was closed' }), false)
  }

  async #becomeReady(signal: AbortSignal): Promise<void> {
    const late = boundary('provider', (): void =>
      this.#broke({ code: 'ETIMEDOUT', message: 'it did not begin in time' }),
    )
    const timer = setTimeout(late, READY_TIMEOUT_MS)
    const abandon = boundary('provider', (): void => this.close())
    signal.addEventListener('abort', abandon, { once: true })
    if (signal.aborted) abandon()
    try {
      await this.#ready.promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abandon)
    }
  }

  #closeIfRetired(): void {
    if (this.#isRetired && !this.isBusy && this.#whole.size === 0) this.close()
  }

  #becomeStale(): void {
    if (this.#isStale) return
    this.#isStale = true
    this.#events.goingAway()
  }

  #send(event: RealtimeClientEvent): void {
    if (this.#failure === undefined) this.#codec.tell(event)
  }

  #follow(orders: ReturnType<ResponseSequencer<RealtimeAnswer>['request']>): void {
    for (const order of orders) {
      if (order.type === 'respond') this.#ask(order.of)
      else if (this.#can.edits) this.#send(order)
      else this.#becomeStale()
    }
  }

  #ask(answer: RealtimeAnswer): void {
    // Of an answer before it, for which it had to wait, more may have come than anybody heard.
    for (const event of this.#ledger.bringUp(answer.items, false) ?? []) this.#send(event)
    this.#send({ type: 'respond', mayCallTools: answer.mayCallTools })
  }

  #happened(event: RealtimeServerEvent) {
    switch (event.type) {
      case 'ready':
        return this.#ready.resolve()
      case 'committed':
        return this.#ledger.committed(event.itemId)
      case 'transcribed':
        return this.#events.transcribed(this.#ledger.transcribed(event.itemId, event.text.trim()), event.usage)
      case 'response_started':
        return this.#follow(this.#sequencer.started(event.responseId))
      case 'audio': {
        const answer = this.#sequencer.ownerOf(event.responseId)
        if (answer === undefined) return this.#ledger.unwanted(event.itemId)
        return this.#ledger.answered(event.itemId, answer.sound(event.bytes, this.#can.outputRateHz))
      }
      case 'audio_done':
        return this.#made(event.responseId)
      case 'text': {
        const { text, itemId } = event
        const answer = this.#sequencer.ownerOf(event.responseId)
        if (answer === undefined) return this.#ledger.unwanted(itemId)
        if (this.#can.speaks) answer.audio ??= new AnswerAudio(this.#can.outputRateHz)
        this.#ledger.answered(itemId, answer.audio)
        if (!answer.parts.closed) answer.parts.put({ type: 'text', text, itemId, audio: answer.audio })
        return
      }
      case 'tool_call': {
        const { callId, name } = event
        const answer = this.#sequencer.ownerOf(event.responseId)
        if (answer === undefined) return this.#ledger.unwanted(event.itemId)
        this.#ledger.called(event.itemId, callId)
        if (answer.parts.closed) return
        if (answer.mayCallTools) answer.parts.put({ type: 'tool_call', callId, name, arguments: event.arguments })
        else answer.forbidden.push({ callId, name })
        return
      }
      case 'response_done':
        return this.#done(event)
      case 'response_refused': {
        const orders = this.#sequencer.refused()
        if (orders === undefined) this.#broke({ message: 'another response never ends' })
        else this.#follow(orders)
        return
      }
      case 'failed':
        return this.#broke(event.fault)
      case 'going_away':
        return this.#events.goingAway()
    }
  }

  /** All of an answer's sound is there; its last words may come behind it. */
  #made(responseId: string): void {
    const answer = this.#sequencer.ownerOf(responseId)
    answer?.audio?.end()
    if (answer === undefined) return
    const whole = boundary('provider', (): void => {
      if (!this.#answers.delete(answer)) return
      this.hasAnswered = true
      this.#whole.add(answer)
      answer.parts.put({ type: 'usage_later' })
      answer.end()
      if (!this.isBusy) this.#events.idle()
    })
    setTimeout(whole, LAST_WORDS_MS).unref()
  }

  #done({ responseId, fault, usage }: Extract<RealtimeServerEvent, { type: 'response_done' }>): void {
    const answer = this.#sequencer.ownerOf(responseId)
    if (answer !== undefined) {
      const failure = fault && explainFailure(this.#identity, fault)
      const isWhole = this.#whole.delete(answer)
      if (usage !== undefined && isWhole) this.#events.used(usage)
      else if (usage !== undefined && !answer.parts.closed) answer.parts.put({ type: 'usage', usage })
      if (failure === undefined && this.#refuseCalls(answer)) {
        this.#follow(this.#sequencer.done(responseId))
        this.#follow(this.#sequencer.request(answer))
        return
      }
      this.hasAnswered ||= failure === undefined
      answer.end(failure)
      this.#answers.delete(answer)
    }
    for (const event of this.#ledger.responseOver()) this.#send(event)
    this.#follow(this.#sequencer.done(responseId))
    this.#closeIfRetired()
    if (this.#answers.size === 0) this.#events.idle()
  }

  /** A model that calls tools where it may not is told so, and asked again. False: it called none, or too often. */
  #refuseCalls(answer: RealtimeAnswer): boolean {
    const calls = answer.forbidden.splice(0)
    if (calls.length === 0 || ++answer.forbiddenCalls > MAX_FORBIDDEN_CALLS) return false
    for (const { callId, name } of calls) {
      for (const event of this.#ledger.refuse(callId, name, FORBIDDEN_CALL)) this.#send(event)
    }
    return true
  }

  #broke(fault: RealtimeFault): void {
    this.#fail(explainFailure(this.#identity, fault))
  }

  #fail(failure: ProviderFailure, isNews = true): void {
    if (this.#failure !== undefined) return
    this.#failure = failure
    this.#ready.reject(new ProviderError(failure))
    for (const answer of this.#answers) answer.end(failure)
    this.#answers.clear()
    this.#whole.clear()
    this.#socket.removeAllListeners('message').removeAllListeners('close')
    closeNow(this.#socket)
    this.#codec.end()
    if (isNews) this.#events.closed(this, failure)
  }
}
