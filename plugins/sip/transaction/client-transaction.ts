import type { OutgoingRequest, SipHeader, SipResponse } from '../message/message.ts'
import { serializeRequest } from '../message/serializer.ts'
import { type Flow, isReliable } from '../transport/flow.ts'
import { GIVE_UP_MS, repeat, T2_MS, T4_MS, type Timers } from './timers.ts'

/** Timer D: how long answers to an INVITE may still be repeated over UDP. */
const ABSORB_MS = 32_000

export interface ClientEvents {
  provisional?(response: SipResponse): void
  /** Once; a 2xx to an INVITE comes again whenever the peer repeats it, or from each branch of a fork. */
  final(response: SipResponse): void
  /** Timeout, or the request could not be sent. */
  failed(why: 'timeout' | 'transport'): void
}

type State = 'calling' | 'proceeding' | 'accepted' | 'completed' | 'terminated'

/** The client transactions of RFC 3261, sections 17.1.1 (INVITE, with RFC 6026) and 17.1.2 (all other methods). */
export class ClientTransaction {
  readonly request: OutgoingRequest
  readonly #flow: Flow
  readonly #timers: Timers
  readonly #events: ClientEvents
  readonly #ended: () => void
  readonly #bytes: Buffer
  #state: State = 'calling'
  #stopRepeating: () => void
  #stopWaiting: () => void
  #stopAbandoning: () => void = () => undefined
  #ack: Buffer | undefined

  /** Sends the request. @param ended called once, when the transaction can be forgotten */
  constructor(request: OutgoingRequest, flow: Flow, timers: Timers, events: ClientEvents, ended: () => void) {
    this.request = request
    this.#flow = flow
    this.#timers = timers
    this.#events = events
    this.#ended = ended
    this.#bytes = serializeRequest(request)
    this.#stopWaiting = timers.after(GIVE_UP_MS, () => this.#fail('timeout'))
    this.#stopRepeating = isReliable(flow)
      ? () => undefined
      : repeat(timers, this.#isInvite ? Number.POSITIVE_INFINITY : T2_MS, () => flow.send(this.#bytes))
    flow.send(this.#bytes, () => this.#fail('transport'))
  }

  get #isInvite(): boolean {
    return this.request.method === 'INVITE'
  }

  /** Has the peer shown that it has the request? Only then may an INVITE be canceled (section 9.1). */
  get isProceeding(): boolean {
    return this.#state === 'proceeding'
  }

  get isOver(): boolean {
    return this.#state !== 'calling' && this.#state !== 'proceeding'
  }

  receive(response: SipResponse): void {
    if (response.status < 200) this.#provisional(response)
    else if (this.#isInvite) this.#inviteFinal(response)
    else this.#final(response)
  }

  /** Forgets everything at once. */
  abandon(): void {
    this.#terminate()
  }

  /** The INVITE was canceled: a peer that gives it no final answer in time has dropped it (section 9.1). */
  canceled(): void {
    if (this.isOver) return
    this.#stopAbandoning()
    this.#stopAbandoning = this.#timers.after(GIVE_UP_MS, () => this.#terminate())
  }

  #provisional(response: SipResponse): void {
    if (this.isOver) return
    this.#state = 'proceeding'
    // An INVITE waits as long as the caller wants from here on; others are still repeated (section 17.1.2.2).
    if (this.#isInvite) {
      this.#stopRepeating()
      this.#stopWaiting()
    }
    this.#events.provisional?.(response)
  }

  #final(response: SipResponse): void {
    if (this.isOver) return
    this.#settle('completed', isReliable(this.#flow) ? 0 : T4_MS)
    this.#events.final(response)
  }

  #inviteFinal(response: SipResponse): void {
    if (response.status < 300) {
      if (this.#state === 'completed' || this.#state === 'terminated') return
      if (this.#state !== 'accepted') this.#settle('accepted', GIVE_UP_MS)
      this.#events.final(response)
      return
    }
    if (this.#state === 'completed' && this.#ack !== undefined) this.#flow.send(this.#ack)
    if (this.isOver) return
    this.#ack = serializeRequest(ackOf(this.request, response))
    this.#flow.send(this.#ack)
    this.#settle('completed', isReliable(this.#flow) ? 0 : ABSORB_MS)
    this.#events.final(response)
  }

  #settle(state: State, lingerMs: number): void {
    this.#state = state
    this.#stopAll()
    if (lingerMs === 0) this.#terminate()
    else this.#stopWaiting = this.#timers.after(lingerMs, () => this.#terminate())
  }

  #fail(why: 'timeout' | 'transport'): void {
    if (this.isOver) return
    this.#terminate()
    this.#events.failed(why)
  }

  #terminate(): void {
    if (this.#state === 'terminated') return
    this.#state = 'terminated'
    this.#stopAll()
    this.#ended()
  }

  #stopAll(): void {
    this.#stopRepeating()
    this.#stopWaiting()
    this.#stopAbandoning()
  }
}

/** The ACK of an answer that is no 2xx (section 17.1.1.3). */
function ackOf(invite: OutgoingRequest, response: SipResponse): OutgoingRequest {
  const kept = invite.headers.filter(({ name }) => ['from', 'call-id', 'route', 'max-forwards'].includes(name))
  return {
    method: 'ACK',
    uri: invite.uri,
    headers: [topVia(invite), ...kept, ...toOf(response), { name: 'cseq', value: `${response.cseq.number} ACK` }],
  }
}

/** The CANCEL of an INVITE (section 9.1). */
export function cancelOf(invite: OutgoingRequest, more: readonly SipHeader[] = []): OutgoingRequest {
  const kept = invite.headers.filter(({ name }) => ['from', 'to', 'call-id', 'route', 'max-forwards'].includes(name))
  const number = invite.headers.find(({ name }) => name === 'cseq')?.value.split(' ')[0] ?? ''
  return {
    method: 'CANCEL',
    uri: invite.uri,
    headers: [topVia(invite), ...kept, { name: 'cseq', value: `${number} CANCEL` }, ...more],
  }
}

function topVia(request: OutgoingRequest): SipHeader {
  return request.headers.find(({ name }) => name === 'via') ?? { name: 'via', value: '' }
}

function toOf(response: SipResponse): SipHeader[] {
  return response.headers.filter(({ name }) => name === 'to')
}
