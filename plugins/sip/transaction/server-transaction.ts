import type { OutgoingResponse, SipHeader, SipRequest } from '../message/message.ts'
import { serializeResponse } from '../message/serializer.ts'
import { type Flow, isReliable } from '../transport/flow.ts'
import { GIVE_UP_MS, repeat, T2_MS, T4_MS, type Timers } from './timers.ts'

type State = 'proceeding' | 'accepted' | 'completed' | 'confirmed' | 'terminated'

/** What is put into a response besides what the request gives it. */
interface Reply {
  headers?: readonly SipHeader[]
  body?: Uint8Array
}

/** The server transactions of RFC 3261, sections 17.2.1 (INVITE, with RFC 6026) and 17.2.2 (all other methods). */
export class ServerTransaction {
  readonly request: SipRequest
  readonly flow: Flow
  /** Ours, in every answer to a request that has none: the CANCEL's too (section 9.2). */
  readonly toTag: string
  readonly #timers: Timers
  readonly #ended: () => void
  readonly #answered = Promise.withResolvers<void>()
  #state: State = 'proceeding'
  #last: Buffer | undefined
  #stopRepeating: () => void = () => undefined
  #stopWaiting: () => void = () => undefined

  /** @param ended called once, when the transaction can be forgotten */
  constructor(request: SipRequest, flow: Flow, timers: Timers, toTag: string, ended: () => void) {
    this.request = request
    this.flow = flow
    this.toTag = toTag
    this.#timers = timers
    this.#ended = ended
  }

  get #isInvite(): boolean {
    return this.request.method === 'INVITE'
  }

  /** Was a final answer given? */
  get isAnswered(): boolean {
    return this.#state !== 'proceeding'
  }

  /** Resolves once a final answer was given, or none ever will be. */
  get answered(): Promise<void> {
    return this.#answered.promise
  }

  /** Answers. After a final answer this does nothing. A 2xx to an INVITE is repeated by who gave it, until its ACK. */
  respond(status: number, reply: Reply = {}): void {
    if (this.#state !== 'proceeding') return
    this.#last = serializeResponse(responseTo(this.request, this.flow, status, this.toTag, reply))
    this.flow.send(this.#last)
    if (status < 200) return
    if (!this.#isInvite) this.#settle('completed', isReliable(this.flow) ? 0 : GIVE_UP_MS)
    else if (status < 300) this.#settle('accepted', GIVE_UP_MS)
    else {
      this.#settle('completed', GIVE_UP_MS)
      if (!isReliable(this.flow)) this.#stopRepeating = repeat(this.#timers, T2_MS, () => this.#resend())
    }
  }

  /** The last answer once more. */
  #resend(): void {
    if (this.#last !== undefined) this.flow.send(this.#last)
  }

  /** Retransmits the 2xx to an INVITE, over any transport: the user agent owns it until the ACK (section 13.3.1.4). */
  resendAccepted(): void {
    if (this.#state === 'accepted') this.#resend()
  }

  /** The request came again. */
  repeated(): void {
    // An INVITE's 2xx is repeated by its own timer (RFC 6026, section 7.1).
    if (this.#state !== 'accepted' && this.#state !== 'confirmed') this.#resend()
  }

  /** An ACK with the request's branch. True when it belonged to a refusal and is dealt with. */
  acknowledged(): boolean {
    if (this.#state === 'confirmed') return true
    if (this.#state !== 'completed') return false
    this.#settle('confirmed', isReliable(this.flow) ? 0 : T4_MS)
    return true
  }

  /** Forgets everything at once. */
  abandon(): void {
    this.#terminate()
  }

  #settle(state: State, lingerMs: number): void {
    this.#state = state
    this.#answered.resolve()
    this.#stopRepeating()
    this.#stopWaiting()
    if (lingerMs === 0) this.#terminate()
    else this.#stopWaiting = this.#timers.after(lingerMs, () => this.#terminate())
  }

  #terminate(): void {
    if (this.#state === 'terminated') return
    this.#state = 'terminated'
    this.#answered.resolve()
    this.#stopRepeating()
    this.#stopWaiting()
    this.#ended()
  }
}

const COPIED = ['call-id', 'cseq', 'timestamp'] as const

/** A response with what section 8.2.6 has it take from the request. */
export function responseTo(
  request: SipRequest,
  flow: Flow,
  status: number,
  toTag: string,
  reply: Reply = {},
): OutgoingResponse {
  const copied = (name: string): SipHeader[] => request.headers.filter((header) => header.name === name)
  const to = copied('to').map(({ name, value }) => ({
    name,
    value: status > 100 && !request.to.params.has('tag') ? `${value};tag=${toTag}` : value,
  }))
  // The dialog follows the proxies on the way (section 12.1.1).
  const routed = status > 100 && status < 300 ? copied('record-route') : []
  const headers = [
    ...viasOf(request, flow),
    ...routed,
    ...copied('from'),
    ...to,
    ...COPIED.flatMap(copied),
    ...(reply.headers ?? []),
  ]
  return { status, headers, ...(reply.body === undefined ? {} : { body: reply.body }) }
}

/** The Via headers; the top one says where the request really came from (section 18.2.1, RFC 3581). */
function viasOf(request: SipRequest, flow: Flow): SipHeader[] {
  const [top, ...rest] = request.headers.filter(({ name }) => name === 'via')
  const via = request.vias[0]
  if (top === undefined || via === undefined) return rest
  const [first = '', ...below] = splitTop(top.value)
  let value = first.replace(/;\s*(rport(\s*=\s*\d+)?|received\s*=[^;]*)(?=\s*(;|$))/gi, '')
  if (via.params.has('rport')) value += `;rport=${flow.port}`
  if (via.params.has('rport') || via.host !== flow.address) value += `;received=${flow.address}`
  return [{ name: 'via', value: [value, ...below].join(',') }, ...rest]
}

/** The first value of a Via line, and the rest. */
function splitTop(line: string): string[] {
  const comma = line.indexOf(',')
  return comma < 0 ? [line] : [line.slice(0, comma), line.slice(comma + 1)]
}
