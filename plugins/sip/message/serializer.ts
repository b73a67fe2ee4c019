import type { NameAddress, OutgoingRequest, OutgoingResponse, SipHeader, Uri } from './message.ts'

/** From messages to bytes. Header names are written as people know them; a value never breaks its line. */

const WRITTEN: Readonly<Record<string, string>> = {
  'call-id': 'Call-ID',
  cseq: 'CSeq',
  'www-authenticate': 'WWW-Authenticate',
  rseq: 'RSeq',
  rack: 'RAck',
  'min-se': 'Min-SE',
}

/** RFC 3261, section 21, and RFC 3262, 3265, 4028. */
const REASONS: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  183: 'Session Progress',
  200: 'OK',
  202: 'Accepted',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  415: 'Unsupported Media Type',
  416: 'Unsupported URI Scheme',
  420: 'Bad Extension',
  422: 'Session Interval Too Small',
  480: 'Temporarily Unavailable',
  481: 'Call/Transaction Does Not Exist',
  482: 'Loop Detected',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  489: 'Bad Event',
  491: 'Request Pending',
  500: 'Server Internal Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  504: 'Server Time-out',
  505: 'Version Not Supported',
  513: 'Message Too Large',
  603: 'Decline',
}

export function reasonOf(status: number): string {
  return REASONS[status] ?? 'Unknown'
}

export function serializeRequest(request: OutgoingRequest): Buffer {
  return serialize(`${request.method} ${request.uri} SIP/2.0`, request.headers, request.body)
}

export function serializeResponse(response: OutgoingResponse): Buffer {
  const reason = response.reason ?? reasonOf(response.status)
  return serialize(`SIP/2.0 ${response.status} ${reason}`, response.headers, response.body)
}

function serialize(startLine: string, headers: readonly SipHeader[], body: Uint8Array | undefined): Buffer {
  const lines = [startLine]
  for (const { name, value } of headers) if (name !== 'content-length') lines.push(`${written(name)}: ${value}`)
  lines.push(`Content-Length: ${body?.length ?? 0}`)
  // A line break in a value would begin a header of its own.
  const head = lines.map((line) => line.replace(/[\r\n]+/g, ' ')).join('\r\n')
  const start = Buffer.from(`${head}\r\n\r\n`, 'latin1')
  return body === undefined ? start : Buffer.concat([start, body])
}

function written(name: string): string {
  return WRITTEN[name] ?? name.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase())
}

/** An address in brackets with its parameters. */
export function formatAddress(address: Pick<NameAddress, 'params'> & { uri: Uri | string }): string {
  const uri = typeof address.uri === 'string' ? address.uri : address.uri.text
  const params = [...address.params].map(([name, value]) => (value === undefined ? `;${name}` : `;${name}=${value}`))
  return `<${uri}>${params.join('')}`
}

/** A host as URIs and Via write it: IPv6 in brackets. */
export function formatHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
