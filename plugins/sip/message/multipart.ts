import { splitOutside, unquote } from './grammar.ts'
import { SipParseError } from './message.ts'

/** Bodies of several parts (RFC 2046, section 5.1; RFC 5621). Pure. */

const MAX_PARTS = 16

export interface Part {
  /** `application/sdp`, in lower case. */
  readonly type: string
  /** By `Content-Disposition: …;handling=required`: who doesn't understand the part must refuse the message. */
  readonly required: boolean
  readonly body: Uint8Array
}

/** The type a Content-Type names, in lower case. */
export function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';')[0]?.trim().toLowerCase()
}

/** The parts of a `multipart/…` body. Throws SipParseError. */
export function partsOf(contentType: string, body: Uint8Array): Part[] {
  const boundary = paramOf(contentType, 'boundary')
  if (boundary === undefined || boundary === '') throw new SipParseError('A body of several parts names no boundary')
  // Latin1 keeps each byte.
  const text = `\r\n${Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')}`
  const pieces = text.split(`\r\n--${boundary}`)
  const end = pieces.findIndex((piece, i) => i > 0 && piece.startsWith('--'))
  if (end < 0) throw new SipParseError('A body of several parts has no end')
  if (end > MAX_PARTS + 1) throw new SipParseError(`A body has ${end - 1} parts`)
  return pieces.slice(1, end).map(partOf)
}

function partOf(piece: string): Part {
  const start = piece.replace(/^[ \t]*\r\n/, '')
  // A part may have no headers at all: then it begins with an empty line.
  const gap = start.startsWith('\r\n') ? 0 : start.indexOf('\r\n\r\n')
  const head = gap < 0 ? start : start.slice(0, gap)
  const rest = gap < 0 ? '' : start.slice(gap === 0 ? 2 : gap + 4)
  const header = (name: string): string | undefined =>
    new RegExp(`^${name}[ \\t]*:[ \\t]*(.*)$`, 'im').exec(head.replace(/\r\n[ \t]+/g, ' '))?.[1]?.trim()
  return {
    type: mediaTypeOf(header('content-type')) ?? 'text/plain',
    required: /;\s*handling\s*=\s*"?required/i.test(header('content-disposition') ?? ''),
    body: Buffer.from(rest, 'latin1'),
  }
}

function paramOf(contentType: string, name: string): string | undefined {
  for (const param of splitOutside(contentType, ';').slice(1)) {
    const equals = param.indexOf('=')
    if (param.slice(0, Math.max(equals, 0)).trim().toLowerCase() !== name) continue
    const value = param.slice(equals + 1).trim()
    return value.startsWith('"') ? unquote(value) : value
  }
  return undefined
}
