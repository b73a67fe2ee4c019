/**
 * Redacts secrets from traces: digest responses, media keys, DTMF, and who callers are that withhold their number. Any peer may send such a
 * message, and it is read beside audio: it is cut first, and then looked at line by line. Pure.
 */

const MAX_HEAD_CHARS = 16_384
const MAX_BODY_CHARS = 8_192
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'authentication-info',
  'proxy-authentication-info',
  'identity',
])
/** What a network asserts of a caller who withholds the number (RFC 3325, RFC 3323). */
const ASSERTED_HEADERS: ReadonlySet<string> = new Set([
  'p-asserted-identity',
  'p-preferred-identity',
  'remote-party-id',
])
const ASKS_FOR_PRIVACY =
  /^(?:privacy[ \t]{0,8}:[^\n]{0,200}\b(?:id|user|header)\b|remote-party-id[^\n]{0,1000};[ \t]*privacy=(?:full|uri|name,uri))/im
const SECRET_ATTRIBUTES = ['a=ice-pwd:', 'a=key-mgmt:']
const HIDDEN = '[redacted]'

/** A message as text that may be kept. */
export function redact(bytes: Uint8Array): string {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const gap = message.indexOf('\r\n\r\n')
  const headEnd = gap < 0 ? message.length : gap
  const bodyStart = gap < 0 ? message.length : gap + 4
  const head = message.toString('latin1', 0, Math.min(headEnd, MAX_HEAD_CHARS))
  const body = message.toString('latin1', bodyStart, Math.min(message.length, bodyStart + MAX_BODY_CHARS))
  return `${redactHead(head)}\r\n\r\n${redactBody(head, body, message.length - bodyStart)}`
}

function redactHead(head: string): string {
  const kept: string[] = []
  const isPrivate = ASKS_FOR_PRIVACY.test(head)
  let isHidden = false
  for (const line of head.split('\n')) {
    // A header goes on in the lines that begin with a space.
    if (/^[ \t]/.test(line)) {
      if (!isHidden) kept.push(line)
      continue
    }
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase()
    isHidden = SECRET_HEADERS.has(name) || (isPrivate && ASSERTED_HEADERS.has(name))
    kept.push(isHidden ? hiddenHeader(name, line, colon) : line)
  }
  return kept.join('\n')
}

/** `Authorization: Digest [redacted]` */
function hiddenHeader(name: string, line: string, colon: number): string {
  const scheme =
    name === 'identity' || ASSERTED_HEADERS.has(name)
      ? ''
      : (/^[ \t]{0,8}(\w{1,40})/.exec(line.slice(colon + 1))?.[1] ?? '')
  const end = line.endsWith('\r') ? '\r' : ''
  return `${line.slice(0, colon)}: ${scheme === '' ? '' : `${scheme} `}${HIDDEN}${end}`
}

function redactBody(head: string, body: string, bytes: number): string {
  if (body === '') return ''
  const type = contentTypeOf(head)
  if (type === 'application/dtmf-relay' || type === 'application/dtmf') return '[a key]'
  const isText = type === 'application/sdp' || type.startsWith('message/') || type.startsWith('multipart/')
  if (!isText) return `[${bytes} bytes of ${type || 'no type'}]`
  return body
    .split('\n')
    .map(redactLine)
    .join('\n')
    .replace(/[^\x20-\x7e\r\n\t\xa0-\xff]/g, '·')
    .slice(0, MAX_BODY_CHARS)
}

function contentTypeOf(head: string): string {
  for (const line of head.split('\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase()
    if (name !== 'content-type' && name !== 'c') continue
    const value = line.slice(colon + 1)
    const parameters = value.indexOf(';')
    return value
      .slice(0, parameters < 0 ? undefined : parameters)
      .trim()
      .toLowerCase()
  }
  return ''
}

function redactLine(line: string): string {
  const plain = line.trimStart().toLowerCase()
  const attribute = SECRET_ATTRIBUTES.find((name) => plain.startsWith(name))
  if (attribute !== undefined) return `${attribute}${HIDDEN}${line.endsWith('\r') ? '\r' : ''}`
  return line.replace(/inline:[^\s|;]+/gi, `inline:${HIDDEN}`)
}
