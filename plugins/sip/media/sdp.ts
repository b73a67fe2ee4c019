import { isIP } from 'node:net'
import { shorten } from '../message/grammar.ts'

/** Session descriptions (RFC 8866), as far as a telephone call has use for them. Pure. */

/** The description can't be read. */
export class SdpError extends Error {
  override readonly name = 'SdpError'
}

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

export interface MediaDescription {
  /** `audio`, `video`, … */
  readonly media: string
  readonly port: number
  /** `RTP/AVP`, … */
  readonly protocol: string
  readonly formats: readonly string[]
  /** The address the media go to, or the name of its host; empty when none was named. */
  readonly address: string
  /** By payload type: `PCMU/8000`, in capitals. */
  readonly encodings: ReadonlyMap<number, string>
  readonly direction: Direction
  /** How much one packet of ours is to hold, by `a=ptime` and `a=maxptime`; undefined: nothing was said. */
  readonly ptimeMs: number | undefined
  /** Keys that SRTP is offered with (RFC 4568), most wanted first. */
  readonly crypto: readonly CryptoLine[]
  /** Parameters of keys that we lack, for which their lines were left out: `KDR`. */
  readonly lackingCrypto: readonly string[]
  /** Where `a=rtcp` puts RTCP; undefined: the port after. */
  readonly rtcpPort: number | undefined
}

/** One `a=crypto` line: one master key, used from the beginning. */
export interface CryptoLine {
  readonly tag: string
  readonly suite: string
  /** Master key and salt. */
  readonly key: Buffer
  /** Bytes of the key's identifier in each packet (RFC 3711, section 3.1); 0: packets have none. */
  readonly mkiBytes: number
}

export interface SessionDescription {
  readonly media: readonly MediaDescription[]
}

const MAX_LINES = 500
/** Of speech, where nothing is said (RFC 3551). */
const DEFAULT_PTIME_MS = 20
/** A name that could not be a mistyped address. */
const HOST_NAME = /^(?=.{1,255}$)(?=.*[a-z])[a-z0-9_-]+(?:\.[a-z0-9_-]+)+\.?$/i
const DIRECTIONS: ReadonlySet<string> = new Set(['sendrecv', 'sendonly', 'recvonly', 'inactive'])
/** Payload types that need no rtpmap (RFC 3551). */
const STATIC: Readonly<Record<number, string>> = { 0: 'PCMU/8000', 8: 'PCMA/8000', 9: 'G722/8000' }

interface Draft {
  line: string
  address: string | undefined
  direction: Direction | undefined
  encodings: Map<number, string>
  rtcpPort: number | undefined
  crypto: CryptoLine[]
  lackingCrypto: string[]
  ptimeMs: number | undefined
  maxPtimeMs: number | undefined
}

/** Reads a description. Throws SdpError. */
export function parseSdp(body: Uint8Array): SessionDescription {
  const lines = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8').trimStart().split(/\r?\n/)
  if (lines.length > MAX_LINES) throw new SdpError(`The description has ${lines.length} lines`)
  if (lines[0]?.trim() !== 'v=0') throw new SdpError('The description does not begin with v=0')
  const session = emptyDraft('')
  const media: Draft[] = []
  for (const line of lines.slice(1)) {
    // A line that cannot be read says nothing of the audio (RFC 8866, section 5: what is unknown is ignored).
    if (line[1] !== '=') continue
    const value = line.slice(2).trim()
    if (line[0] === 'm') media.push(emptyDraft(value))
    else readLine(media.at(-1) ?? session, line[0] ?? '', value)
  }
  return { media: media.map((draft) => finish(draft, session)) }
}

function emptyDraft(line: string): Draft {
  return {
    line,
    address: undefined,
    direction: undefined,
    encodings: new Map(),
    rtcpPort: undefined,
    crypto: [],
    lackingCrypto: [],
    ptimeMs: undefined,
    maxPtimeMs: undefined,
  }
}

function readLine(draft: Draft, type: string, value: string): void {
  if (type === 'c') {
    const [network, family, address = ''] = value.split(/ +/)
    if (network !== 'IN' || (family !== 'IP4' && family !== 'IP6')) throw new SdpError(`c=${shorten(value)}`)
    draft.address = address.split('/')[0] ?? ''
  }
  if (type !== 'a') return
  const colon = value.indexOf(':')
  const name = colon < 0 ? value : value.slice(0, colon)
  const text = value.slice(colon + 1)
  if (DIRECTIONS.has(name)) draft.direction = name as Direction
  else if (name === 'rtcp') draft.rtcpPort = readPort(text.split(' ')[0] ?? '')
  else if (name === 'crypto') readCrypto(draft, text)
  else if (name === 'ptime') draft.ptimeMs = Number.parseFloat(text) || undefined
  else if (name === 'maxptime') draft.maxPtimeMs = Number.parseFloat(text) || undefined
  else if (name === 'rtpmap') {
    const match = /^(\d{1,3}) +([^\s/]+\/\d+(?:\/\d+)?)/.exec(text)
    if (match) draft.encodings.set(Number(match[1]), (match[2] ?? '').toUpperCase().replace(/(\/\d+)\/1$/, '$1'))
  }
}

/** Undefined: the text is no port. */
function readPort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  return port <= 65535 ? port : undefined
}

function portOf(text: string): number {
  const port = readPort(text)
  if (port === undefined) throw new SdpError(`"${shorten(text)}" is no port`)
  return port
}

function finish(draft: Draft, session: Draft): MediaDescription {
  const [media = '', port = '', protocol = '', ...formats] = draft.line.split(/ +/)
  if (media === '' || protocol === '' || formats.length === 0) throw new SdpError(`m=${shorten(draft.line)}`)
  const address = draft.address ?? session.address ?? ''
  if (address !== '' && isIP(address) === 0 && !HOST_NAME.test(address)) {
    throw new SdpError(`"${shorten(address)}" is no address`)
  }
  const encodings = new Map(draft.encodings)
  for (const format of formats) {
    const known = STATIC[Number(format)]
    if (known !== undefined && !encodings.has(Number(format))) encodings.set(Number(format), known)
  }
  return {
    media,
    port: portOf(port.split('/')[0] ?? ''),
    protocol,
    formats,
    address,
    encodings,
    direction: draft.direction ?? session.direction ?? 'sendrecv',
    rtcpPort: draft.rtcpPort,
    crypto: draft.crypto,
    lackingCrypto: draft.lackingCrypto,
    ptimeMs: ptimeOf(draft.ptimeMs ?? session.ptimeMs, draft.maxPtimeMs ?? session.maxPtimeMs),
  }
}

/** The wish, but not more than the most. */
function ptimeOf(wishMs: number | undefined, mostMs: number | undefined): number | undefined {
  if (wishMs === undefined && mostMs === undefined) return undefined
  return Math.min(wishMs ?? DEFAULT_PTIME_MS, mostMs ?? Number.POSITIVE_INFINITY)
}

/** What a key may have besides that changes nothing for us; `-…` may be ignored (RFC 4568, section 6.3.7). */
const HARMLESS = /^(?:-.*|WSH=\d{1,9}|FEC_ORDER=(?:FEC_SRTP|SRTP_FEC)|KDR=0)$/
const MAX_MKI_BYTES = 128

/** Reads a key. One with parameters that we lack (a rate of derivation, several keys, no encryption) is left out and named. */
function readCrypto(draft: Draft, text: string): void {
  const [tag = '', suite = '', inline = '', ...parameters] = text.trim().split(/ +/)
  if (!/^\d{1,9}$/.test(tag) || !/^\w{1,60}$/.test(suite)) return
  const lacking = parameters.filter((one) => !HARMLESS.test(one)).map((one) => shorten(one.split('=')[0] ?? ''))
  const key = /^inline:([A-Za-z0-9+/]+={0,2})(?:\|(?:2\^)?\d{1,20})?(?:\|\d{1,20}:(\d{1,3}))?$/.exec(inline)
  const mkiBytes = Number(key?.[2] ?? 0)
  if (key === null || mkiBytes > MAX_MKI_BYTES)
    lacking.push(inline.includes(';') ? 'several keys' : 'another form of key')
  if (lacking.length > 0) draft.lackingCrypto.push(...lacking)
  else draft.crypto.push({ tag, suite, key: Buffer.from(key?.[1] ?? '', 'base64'), mkiBytes })
}
