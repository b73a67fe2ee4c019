/** SIP messages as data (RFC 3261). Text is latin1: a byte a character, so that what was read is written back as it was. */

/** The message breaks the grammar, or its parts contradict each other. `status` is what a request deserves as answer. */
export class SipParseError extends Error {
  override readonly name = 'SipParseError'
  readonly status: number

  constructor(message: string, status = 400) {
    super(message)
    this.status = status
  }
}

/** Parameters by lowercase name; a flag has no value. Quoted values are without their quotes. */
export type Params = ReadonlyMap<string, string | undefined>

/** `sip:` and `sips:` in parts; of any other scheme only the text. */
export interface Uri {
  readonly scheme: string
  /** The whole URI as it was written. */
  readonly text: string
  /** Undone of its escapes. */
  readonly user: string | undefined
  /** A name or an address, IPv6 without brackets; empty for other schemes. */
  readonly host: string
  readonly port: number | undefined
  readonly params: Params
  /** What stands behind `?`. */
  readonly headers: string | undefined
}

/** A value of From, To, Contact, Route, …. */
export interface NameAddress {
  readonly displayName: string | undefined
  readonly uri: Uri
  readonly params: Params
}

export interface Via {
  /** UDP, TCP, TLS, …, in capitals. */
  readonly transport: string
  readonly host: string
  readonly port: number | undefined
  readonly params: Params
}

export interface CSeq {
  readonly number: number
  readonly method: string
}

/** `name` is in lowercase and never a compact form; `value` is one line. */
export interface SipHeader {
  readonly name: string
  readonly value: string
}

/** What every received message has in parts. */
interface Received {
  readonly headers: readonly SipHeader[]
  readonly body: Uint8Array
  /** Top one first. */
  readonly vias: readonly Via[]
  readonly from: NameAddress
  readonly to: NameAddress
  readonly callId: string
  readonly cseq: CSeq
  readonly contacts: readonly NameAddress[]
}

export interface SipRequest extends Received {
  readonly kind: 'request'
  readonly method: string
  readonly uri: Uri
}

export interface SipResponse extends Received {
  readonly kind: 'response'
  readonly status: number
  readonly reason: string
}

export type SipMessage = SipRequest | SipResponse

/** What is sent. Content-Length is the serializer's. */
export interface OutgoingRequest {
  readonly method: string
  readonly uri: string
  readonly headers: readonly SipHeader[]
  readonly body?: Uint8Array
}

export interface OutgoingResponse {
  readonly status: number
  readonly reason?: string
  readonly headers: readonly SipHeader[]
  readonly body?: Uint8Array
}

/** The first value of a header, or undefined. */
export function headerOf(message: { readonly headers: readonly SipHeader[] }, name: string): string | undefined {
  return message.headers.find((header) => header.name === name)?.value
}

/** Every value of a header, one line each. */
export function headersOf(message: { readonly headers: readonly SipHeader[] }, name: string): string[] {
  return message.headers.filter((header) => header.name === name).map(({ value }) => value)
}

/** The tokens of a list header (Supported, Require, Allow), lowercase. */
export function tokensOf(message: { readonly headers: readonly SipHeader[] }, name: string): string[] {
  return headersOf(message, name)
    .flatMap((value) => value.split(','))
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== '')
}
