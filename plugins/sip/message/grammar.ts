import { isIPv4, isIPv6 } from 'node:net'
import { type CSeq, type NameAddress, type Params, SipParseError, type Uri, type Via } from './message.ts'

/** The values of SIP headers (RFC 3261, section 25). Each function throws SipParseError on what the grammar doesn't know. */

const TOKEN = /^[\w\-.!%*+`'~]+$/
const SCHEME = /^[a-z][a-z0-9+.-]*$/i
/** With `#` and `@`, which must be escaped (RFC 3261, section 25.1) and often are not. */
const USER = /^(?:[\w\-.!~*'()&=+$,;?/#@]|%[0-9a-f]{2})+$/i
const PASSWORD = /^(?:[\w\-.!~*'()&=+$,]|%[0-9a-f]{2})*$/i
const URI_PARAM = /^(?:[\w\-.!~*'()[\]/:&+$]|%[0-9a-f]{2})+$/i
const URI_HEADERS = /^(?:[\w\-.!~*'()[\]/?:+$=&]|%[0-9a-f]{2})+$/i
/** What any URI may be made of; no spaces, quotes or angle brackets. */
const URI_TEXT = /^[\w\-.!~*'()%;/?:@&=+$,[\]#]+$/
const HOST_NAME = /^(?=.{1,255}$)(?!-)[a-z0-9_-]+(?<!-)(?:\.(?!-)[a-z0-9_-]+(?<!-))*\.?$/i
/** More than section 25.1 allows: it is compared and repeated, never read. */
const CALL_ID = /^[\x21-\x7e\x80-\xff]{1,255}$/
const MAX_SEQUENCE = 2 ** 31

export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

/** The unsigned number of a header, at most `max`. */
export function parseNumber(text: string, max: number, what: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(value <= max)) throw new SipParseError(`${what} is "${shorten(text)}", not a number up to ${max}`)
  return value
}

/** Splits at a character outside of quoted strings and angle brackets. */
export function splitOutside(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = []
  let start = 0
  let quoted = false
  let angle = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (quoted) {
      if (char === '\\') i++
      else if (char === '"') quoted = false
    } else if (char === '"' && !angle) quoted = true
    else if (char === '<' && !angle) angle = true
    else if (char === '>') angle = false
    else if (char === separator && !angle) {
      parts.push(text.slice(start, i))
      start = i + 1
    }
  }
  if (quoted || angle) throw new SipParseError(`"${shorten(text)}" ends within a quoted string or a bracket`)
  parts.push(text.slice(start))
  return parts
}

/** Parameters behind a value: what follows each `;`. */
function parseParams(parts: readonly string[]): Params {
  const params = new Map<string, string | undefined>()
  for (const part of parts) {
    const equals = part.indexOf('=')
    const name = (equals < 0 ? part : part.slice(0, equals)).trim()
    if (!isToken(name)) throw new SipParseError(`"${shorten(part)}" is no parameter`)
    const key = name.toLowerCase()
    if (key === 'tag' && params.has(key)) throw new SipParseError('A header has two tags')
    params.set(key, equals < 0 ? undefined : parseParamValue(part.slice(equals + 1).trim()))
  }
  return params
}

function parseParamValue(text: string): string {
  if (text.startsWith('"')) return unquote(text)
  // A host is a value too, and an IPv6 address has brackets and colons.
  if (!isToken(text) && !/^\[?[0-9a-f:.]+\]?$/i.test(text)) throw new SipParseError(`"${shorten(text)}" is no value`)
  return text
}

/** The text of a quoted string, undone of its backslashes. */
export function unquote(text: string): string {
  if (!/^"(?:[^"\\]|\\[^\r\n])*"$/s.test(text)) throw new SipParseError(`${shorten(text)} is no quoted string`)
  return text.slice(1, -1).replace(/\\(.)/gs, '$1')
}

export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

export function parseUri(text: string): Uri {
  const colon = text.indexOf(':')
  const scheme = text.slice(0, Math.max(colon, 0)).toLowerCase()
  if (!SCHEME.test(scheme) || !URI_TEXT.test(text)) throw new SipParseError(`"${shorten(text)}" is no URI`)
  const rest = text.slice(colon + 1)
  if (scheme !== 'sip' && scheme !== 'sips') {
    if (rest === '') throw new SipParseError(`"${shorten(text)}" is no URI`)
    const user = scheme === 'tel' ? rest.split(';')[0] : undefined
    return { scheme, text, user, host: '', port: undefined, params: new Map(), headers: undefined }
  }
  const at = atOf(rest)
  const userInfo = at < 0 ? undefined : rest.slice(0, at)
  const question = rest.indexOf('?', at + 1)
  const headers = question < 0 ? undefined : rest.slice(question + 1)
  if (headers !== undefined && !URI_HEADERS.test(headers)) throw new SipParseError('A URI has malformed headers')
  const [hostPort = '', ...parts] = rest.slice(at + 1, question < 0 ? undefined : question).split(';')
  return {
    scheme,
    text,
    user: userInfo === undefined ? undefined : parseUser(userInfo),
    ...parseHostPort(hostPort),
    params: parseUriParams(parts),
    headers,
  }
}

/** The `@` between user and host: the last one before what may follow a host. */
function atOf(rest: string): number {
  let at = rest.indexOf('@')
  for (let next = at; next >= 0; next = rest.indexOf('@', next + 1)) {
    if (/[;?]/.test(rest.slice(at, next))) break
    at = next
  }
  return at
}

function parseUser(userInfo: string): string {
  const colon = userInfo.indexOf(':')
  const user = colon < 0 ? userInfo : userInfo.slice(0, colon)
  if (!USER.test(user) || (colon >= 0 && !PASSWORD.test(userInfo.slice(colon + 1)))) {
    throw new SipParseError(`"${shorten(userInfo)}" is no user of a URI`)
  }
  return undoEscapes(user)
}

/** `%41` to `A`: escapes are bytes, as is all text here. */
function undoEscapes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function parseUriParams(parts: readonly string[]): Params {
  const params = new Map<string, string | undefined>()
  for (const part of parts) {
    const equals = part.indexOf('=')
    const name = equals < 0 ? part : part.slice(0, equals)
    const value = equals < 0 ? undefined : part.slice(equals + 1)
    if (!URI_PARAM.test(name) || (value !== undefined && !URI_PARAM.test(value))) {
      throw new SipParseError(`"${shorten(part)}" is no parameter of a URI`)
    }
    params.set(undoEscapes(name).toLowerCase(), value === undefined ? undefined : undoEscapes(value))
  }
  return params
}

/** `host`, `host:port`, `[::1]:port`; spaces around the colon as Via allows them. */
export function parseHostPort(text: string): { host: string; port: number | undefined } {
  const match = /^(\[[0-9a-f:.]+\]|[^:\s]+)(?:\s*:\s*(\d+))?$/i.exec(text)
  const host = (match?.[1] ?? '').replace(/^\[|\]$/g, '')
  const bracketed = match?.[1]?.startsWith('[') === true
  if (bracketed ? !isIPv6(host) : !isIPv4(host) && !HOST_NAME.test(host)) {
    throw new SipParseError(`"${shorten(text)}" is no host`)
  }
  return { host, port: match?.[2] === undefined ? undefined : parseNumber(match[2], 65535, 'A port') }
}

/** One value of From, To, Contact, Route, Refer-To, …. */
export function parseNameAddress(text: string): NameAddress {
  const [address = '', ...params] = splitOutside(text, ';')
  const value = address.trim()
  const open = value.startsWith('"') ? value.indexOf('<', endOfQuoted(value)) : value.indexOf('<')
  if (open < 0) {
    // Without brackets, the parameters are the header's, and a URI with headers is not allowed (section 20).
    const uri = parseUri(value)
    if (/[?,]/.test(value)) throw new SipParseError(`"${shorten(value)}" must stand in angle brackets`)
    return { displayName: undefined, uri, params: parseParams(params) }
  }
  if (!value.endsWith('>')) throw new SipParseError(`"${shorten(value)}" has something behind its bracket`)
  const uri = parseUri(value.slice(open + 1, -1))
  return { displayName: parseDisplayName(value.slice(0, open).trim()), uri, params: parseParams(params) }
}

function endOfQuoted(text: string): number {
  for (let i = 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i
  }
  return text.length
}

function parseDisplayName(text: string): string | undefined {
  if (text === '') return undefined
  if (text.startsWith('"')) return unquote(text)
  // Many write names with commas, brackets and other letters without quoting them; nothing hangs on them.
  if (text.includes('"')) throw new SipParseError(`"${shorten(text)}" is no display name`)
  return text
}

export function parseVia(text: string): Via {
  const [sent = '', ...params] = splitOutside(text, ';')
  const match = /^SIP\s*\/\s*2\.0\s*\/\s*(\S+)\s+(\S.*)$/i.exec(sent.trim())
  const transport = match?.[1] ?? ''
  if (!isToken(transport)) throw new SipParseError(`"${shorten(text)}" is no Via`)
  return {
    transport: transport.toUpperCase(),
    ...parseHostPort((match?.[2] ?? '').trim()),
    params: parseParams(params),
  }
}

export function parseCSeq(text: string): CSeq {
  const [number = '', method = '', ...rest] = text.split(/[ \t]+/)
  if (rest.length > 0 || !isToken(method)) throw new SipParseError(`CSeq is "${shorten(text)}"`)
  return { number: parseNumber(number, MAX_SEQUENCE - 1, 'CSeq'), method }
}

export function parseCallId(text: string): string {
  if (!CALL_ID.test(text)) throw new SipParseError(`Call-ID is "${shorten(text)}"`)
  return text
}

/** A text from outside, fit for a message. */
export function shorten(text: string): string {
  const shown = text.length > 60 ? `${text.slice(0, 57)}…` : text
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a log
  return shown.replace(/[\u0000-\u001f\u007f]/g, '·')
}
