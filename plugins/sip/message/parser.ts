import {
  isToken,
  parseCallId,
  parseCSeq,
  parseNameAddress,
  parseNumber,
  parseUri,
  parseVia,
  shorten,
  splitOutside,
} from './grammar.ts'
import { type NameAddress, type SipHeader, type SipMessage, SipParseError, type Via } from './message.ts'

/**
 * From bytes to a message (RFC 3261, section 7 and 25). Strict where a mistake could mislead who reads on; what nothing
 * here reads, and how people write names, is let pass.
 */

/** Largest start line and headers of a message. */
export const MAX_HEAD_BYTES = 32 * 1024
const MAX_BODY_BYTES = 64 * 1024
const MAX_HEADERS = 256
const MAX_32_BITS = 2 ** 32 - 1

/** Section 20's compact forms, and those of RFC 3515, 3892, 4028 and 6665. */
const COMPACT: Readonly<Record<string, string>> = {
  b: 'referred-by',
  c: 'content-type',
  e: 'content-encoding',
  f: 'from',
  i: 'call-id',
  k: 'supported',
  l: 'content-length',
  m: 'contact',
  o: 'event',
  r: 'refer-to',
  s: 'subject',
  t: 'to',
  u: 'allow-events',
  v: 'via',
  x: 'session-expires',
}

/** Headers that occur once; the first five are mandatory. */
const REQUIRED = ['from', 'to', 'call-id', 'cseq'] as const
const AT_MOST_ONCE = [...REQUIRED, 'max-forwards', 'content-length', 'content-type', 'expires', 'date'] as const

/** The head of a message, and how long its body is said to be. */
export interface Head {
  readonly startLine: string
  readonly headers: readonly SipHeader[]
  /** Bytes up to and with the empty line. */
  readonly headBytes: number
  readonly contentLength: number | undefined
}

/** One datagram. Throws SipParseError and nothing else. */
export function parseMessage(bytes: Uint8Array): SipMessage {
  const buffer = withLineBreaks(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  let start = 0
  // Empty lines before the start line are keep-alives that got glued on (section 7.5).
  while (buffer[start] === 13 && buffer[start + 1] === 10) start += 2
  const end = buffer.indexOf('\r\n\r\n', start, 'latin1')
  if (end < 0) throw new SipParseError('The message has no end of headers')
  const head = parseHead(buffer.subarray(start, end + 4))
  const rest = buffer.subarray(end + 4)
  const length = head.contentLength ?? rest.length
  if (length > rest.length) {
    throw new SipParseError(`Content-Length is ${length}, but ${rest.length} bytes follow the headers`)
  }
  return assemble(head, rest.subarray(0, length))
}

/** Some end their lines with a line feed alone; where any line ends as it should, all must. */
function withLineBreaks(bytes: Buffer): Buffer {
  const end = bytes.indexOf('\n\n', 0, 'latin1')
  if (end < 0 || end > MAX_HEAD_BYTES || bytes.subarray(0, end).includes(13)) return bytes
  const head = bytes.subarray(0, end).toString('latin1').replaceAll('\n', '\r\n')
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), bytes.subarray(end + 2)])
}

/** The head of a message, given with its empty line. */
export function parseHead(bytes: Uint8Array): Head {
  if (bytes.length > MAX_HEAD_BYTES) throw new SipParseError(`The headers have ${bytes.length} bytes`, 513)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength - 4).toString('latin1')
  const [startLine = '', ...lines] = unfold(text)
  if (lines.length > MAX_HEADERS) throw new SipParseError(`The message has ${lines.length} headers`, 513)
  const headers = lines.map(parseHeader)
  const lengths = headers.filter(({ name }) => name === 'content-length')
  if (lengths.length > 1) throw new SipParseError('Content-Length stands there twice')
  const contentLength =
    lengths[0] === undefined ? undefined : parseNumber(lengths[0].value, MAX_BODY_BYTES, 'Content-Length')
  return { startLine, headers, headBytes: bytes.length, contentLength }
}

/** Lines, with those that begin with white space put behind the one before (section 7.3.1). */
function unfold(text: string): string[] {
  const lines: string[] = []
  for (const line of text.split('\r\n')) {
    // A backslash takes away the meaning of any byte but these two (section 25.1).
    if (/[\r\n]/.test(line)) throw new SipParseError('A line ends with half a line break')
    if (/^[ \t]/.test(line) && lines.length > 1) lines[lines.length - 1] += ` ${line.trim()}`
    else lines.push(line)
  }
  return lines
}

function parseHeader(line: string): SipHeader {
  const colon = line.indexOf(':')
  const written = /^(\S+)[ \t]*$/.exec(line.slice(0, Math.max(colon, 0)))?.[1] ?? ''
  if (!isToken(written)) throw new SipParseError(`"${shorten(line)}" is no header`)
  const name = written.toLowerCase()
  return { name: COMPACT[name] ?? name, value: line.slice(colon + 1).trim() }
}

/** A message from its head and exactly its body. */
export function assemble(head: Head, body: Uint8Array): SipMessage {
  const { startLine, headers } = head
  // Checked first: another version can't be parsed, and gets a 505.
  const version = /^\S+ \S+ (SIP\/\d+\.\d+)$/i.exec(startLine)?.[1]
  if (version !== undefined && version.toUpperCase() !== 'SIP/2.0') {
    throw new SipParseError(`The version is ${shorten(version)}`, 505)
  }
  const values = (name: string): string[] => headers.filter((header) => header.name === name).map(({ value }) => value)
  for (const name of AT_MOST_ONCE) if (values(name).length > 1) throw new SipParseError(`${name} stands there twice`)
  const [from, to, callId, cseqText] = REQUIRED.map((name) => {
    const [value] = values(name)
    if (value === undefined) throw new SipParseError(`${name} is missing`)
    return value
  }) as [string, string, string, string]
  const vias: Via[] = values('via').flatMap((value) => splitOutside(value, ',').map(parseVia))
  if (vias.length === 0) throw new SipParseError('via is missing')
  for (const value of values('max-forwards')) parseNumber(value, 255, 'Max-Forwards')
  for (const value of values('expires')) parseNumber(value, MAX_32_BITS, 'Expires')
  for (const value of values('retry-after')) {
    parseNumber(/^\d*/.exec(value)?.[0] ?? '', MAX_32_BITS, 'Retry-After')
  }
  for (const value of [...values('route'), ...values('record-route')]) addresses(value)
  const cseq = parseCSeq(cseqText)
  const common = {
    headers,
    body,
    vias,
    from: parseNameAddress(from),
    to: parseNameAddress(to),
    callId: parseCallId(callId),
    cseq,
    contacts: values('contact').flatMap((value) => (value === '*' ? [] : addresses(value))),
  }
  const status = /^SIP\/2\.0 (\d+)(?: (.*))?$/is.exec(startLine)
  if (status !== null) {
    const code = status[1] ?? ''
    if (!/^[1-6]\d\d$/.test(code)) throw new SipParseError(`The status is "${shorten(code)}"`)
    return { kind: 'response', status: Number(code), reason: status[2] ?? '', ...common }
  }
  return { kind: 'request', ...parseRequestLine(startLine, cseq.method), ...common }
}

function parseRequestLine(line: string, method: string) {
  const parts = line.split(' ')
  const [verb = '', target = '', version = ''] = parts
  if (parts.length !== 3 || !isToken(verb)) throw new SipParseError(`"${shorten(line)}" is no request line`)
  if (!/^SIP\/\d+\.\d+$/i.test(version)) throw new SipParseError(`"${shorten(version)}" is no SIP version`)
  if (verb !== method) throw new SipParseError(`The method is ${shorten(verb)}, but CSeq says ${shorten(method)}`)
  const uri = parseUri(target)
  if (uri.headers !== undefined) throw new SipParseError('The request URI has headers')
  return { method: verb, uri }
}

function addresses(value: string): NameAddress[] {
  return splitOutside(value, ',').map(parseNameAddress)
}

/** The addresses of a header in order: Route, Record-Route, …. */
export function addressesOf(headers: readonly SipHeader[], name: string): NameAddress[] {
  return headers.filter((header) => header.name === name).flatMap(({ value }) => addresses(value))
}
