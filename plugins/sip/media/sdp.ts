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
  /** Where `a=rtcp` puts RTCP; undefined: the port after. */
  readonly rtcpPort: number | undefined
}

/** One `a=crypto` line: one master key, used from the beginning. */
export interface CryptoLine {
  readonly tag: string
  readonly suite: string
  /** Master key and salt. */
  readonly key: Buffer
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
  ptimeMs: number | undefined
  maxPtimeMs: number | undefined
}

/** Reads a description. Throws SdpError. */
export function parseSdp(body: Uint8Array): SessionDescription {
  const lines = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8').split(/\r?\n/)
  if (lines.length > MAX_LINES) throw new SdpError(`The description has ${lines.length} lines`)
  if (lines[0] !== 'v=0') throw new SdpError('The description does not begin with v=0')
  const session = emptyDraft('')
  const media: Draft[] = []
  for (const line of lines.slice(1)) {
    if (line === '') continue
    if (line[1] !== '=') throw new SdpError(`"${shorten(line)}" is no line of a description`)
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
    ptimeMs: undefined,
    maxPtimeMs: undefined,
  }
}

function readLine(draft: Draft, type: string, value: string): void {
  if (type === 'c') {
    const [network, family, address = ''] = value.split(' ')
    if (network !== 'IN' || (family !== 'IP4' && family !== 'IP6')) throw new SdpError(`c=${shorten(value)}`)
    draft.address = address.split('/')[0] ?? ''
  }
  if (type !== 'a') return
  const colon = value.indexOf(':')
  const name = colon < 0 ? value : value.slice(0, colon)
  const text = value.slice(colon + 1)
  if (DIRECTIONS.has(name)) draft.direction = name as Direction
  else if (name === 'rtcp') draft.rtcpPort = portOf(text.split(' ')[0] ?? '')
  else if (name === 'crypto') draft.crypto.push(...cryptoOf(text))
  else if (name === 'ptime') draft.ptimeMs = Number.parseFloat(text) || undefined
  else if (name === 'maxptime') draft.maxPtimeMs = Number.parseFloat(text) || undefined
  else if (name === 'rtpmap') {
    const match = /^(\d{1,3}) +([^\s/]+\/\d+(?:\/\d+)?)/.exec(text)
    if (match) draft.encodings.set(Number(match[1]), (match[2] ?? '').toUpperCase().replace(/(\/\d+)\/1$/, '$1'))
  }
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65535)) throw new SdpError(`"${shorten(text)}" is no port`)
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
    ptimeMs: ptimeOf(draft.ptimeMs ?? session.ptimeMs, draft.maxPtimeMs ?? session.maxPtimeMs),
  }
}

/** The wish, but not more than the most. */
function ptimeOf(wishMs: number | undefined, mostMs: number | undefined): number | undefined {
  if (wishMs === undefined && mostMs === undefined) return undefined
  return Math.min(wishMs ?? DEFAULT_PTIME_MS, mostMs ?? Number.POSITIVE_INFINITY)
}

/** None where the key has parameters that we don't have (another rate, several keys, no encryption). */
function cryptoOf(text: string): CryptoLine[] {
  const match = /^(\d{1,9}) +([A-Za-z0-9_]+) +inline:([A-Za-z0-9+/]+={0,2})(?:\|(?:2\^)?\d+)?(?: +WSH=\d+)?$/.exec(
    text.trim(),
  )
  if (match === null) return []
  const [, tag = '', suite = '', key = ''] = match
  return [{ tag, suite, key: Buffer.from(key, 'base64') }]
}
