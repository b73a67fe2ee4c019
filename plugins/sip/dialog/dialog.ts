import { parseNameAddress, parseUri } from '../message/grammar.ts'
import type { NameAddress, OutgoingRequest, SipHeader, SipRequest, SipResponse, Uri } from '../message/message.ts'
import { addressesOf } from '../message/parser.ts'
import { formatAddress } from '../message/serializer.ts'
import { USER_AGENT } from './context.ts'

export const MAX_FORWARDS: SipHeader = { name: 'max-forwards', value: '70' }

interface DialogParts {
  callId: string
  /** From or To value of this side, with its tag, and of the other. */
  local: string
  remote: string
  localTag: string
  remoteTag: string
  target: Uri
  /** Proxies, in the order a request visits them. */
  routes: readonly NameAddress[]
  localSequence: number
  remoteSequence: number | undefined
}

/** A dialog (RFC 3261, section 12): what both sides remember of each other between two requests. */
export class Dialog {
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
  readonly #local: string
  readonly #remote: string
  #routes: readonly NameAddress[]
  #target: Uri
  #localSequence: number
  #remoteSequence: number | undefined

  private constructor(parts: DialogParts) {
    this.callId = parts.callId
    this.localTag = parts.localTag
    this.remoteTag = parts.remoteTag
    this.#local = parts.local
    this.#remote = parts.remote
    this.#routes = parts.routes
    this.#target = parts.target
    this.#localSequence = parts.localSequence
    this.#remoteSequence = parts.remoteSequence
  }

  /** The dialog that our answer to an INVITE opens. */
  static ofInvite(request: SipRequest, localTag: string): Dialog {
    const to = textOf(request, 'to')
    return new Dialog({
      callId: request.callId,
      local: request.to.params.has('tag') ? to : `${to};tag=${localTag}`,
      remote: textOf(request, 'from'),
      localTag,
      remoteTag: request.from.params.get('tag') ?? '',
      target: request.contacts[0]?.uri ?? request.from.uri,
      routes: routesOf(request),
      localSequence: 0,
      remoteSequence: request.cseq.number,
    })
  }

  /** The dialog that an answer to our INVITE opens. */
  static ofAnswer(invite: OutgoingRequest, response: SipResponse): Dialog {
    return new Dialog({
      callId: response.callId,
      local: textOf(invite, 'from'),
      remote: textOf(response, 'to'),
      localTag: response.from.params.get('tag') ?? '',
      remoteTag: response.to.params.get('tag') ?? '',
      target: response.contacts[0]?.uri ?? parseUri(invite.uri),
      routes: routesOf(response).reverse(),
      localSequence: response.cseq.number,
      remoteSequence: undefined,
    })
  }

  /** The answer that a provisional one's dialog was waiting for: target and route are those it says (section 13.2.2.4). */
  confirmed(response: SipResponse): void {
    this.#routes = routesOf(response).reverse()
    this.refreshTarget(response)
  }

  /** Takes the request's place in the order; false when it comes too late (section 12.2.2). */
  takes(request: SipRequest): boolean {
    if (this.#remoteSequence !== undefined && request.cseq.number < this.#remoteSequence) return false
    this.#remoteSequence = request.cseq.number
    return true
  }

  /** The other side moved (section 12.2: target refresh). */
  refreshTarget(message: SipRequest | SipResponse): void {
    this.#target = message.contacts[0]?.uri ?? this.#target
  }

  /** This side, as Referred-By names it (RFC 3892). */
  get localAddress(): string {
    return `<${parseNameAddress(this.#local).uri.text}>`
  }

  /** Where the next request is sent: the first proxy, or the other side itself. */
  get nextHop(): Uri {
    return this.#routes[0]?.uri ?? this.#target
  }

  /** A request of this side, next in order. */
  request(method: string, headers: readonly SipHeader[] = [], body?: Uint8Array): OutgoingRequest {
    return this.#make(method, ++this.#localSequence, headers, body)
  }

  /** The ACK of a 2xx to the INVITE of this number. */
  ack(sequence: number, headers: readonly SipHeader[] = [], body?: Uint8Array): OutgoingRequest {
    return this.#make('ACK', sequence, headers, body)
  }

  #make(method: string, sequence: number, headers: readonly SipHeader[], body?: Uint8Array): OutgoingRequest {
    const target = this.#target.text.split('?')[0] ?? ''
    const [first, ...rest] = this.#routes
    const loose = first === undefined || first.uri.params.has('lr')
    const routes = loose ? this.#routes.map(formatAddress) : [...rest.map(formatAddress), `<${target}>`]
    return {
      method,
      // A strict router of RFC 2543 wants to be the target itself (section 12.2.1.1).
      uri: loose ? target : first.uri.text,
      headers: [
        ...routes.map((value) => ({ name: 'route', value })),
        { name: 'from', value: this.#local },
        { name: 'to', value: this.#remote },
        { name: 'call-id', value: this.callId },
        { name: 'cseq', value: `${sequence} ${method}` },
        MAX_FORWARDS,
        USER_AGENT,
        ...headers,
      ],
      ...(body === undefined ? {} : { body }),
    }
  }
}

function routesOf(message: SipRequest | SipResponse): NameAddress[] {
  return addressesOf(message.headers, 'record-route')
}

function textOf(message: { readonly headers: readonly SipHeader[] }, name: string): string {
  return message.headers.find((header) => header.name === name)?.value ?? ''
}
