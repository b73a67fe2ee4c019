import type { SipHeader } from './message.ts'
import { serializeResponse } from './serializer.ts'

const MAX_HEAD_BYTES = 8_192
/** Headers a response takes from its request, by their names and compact forms. */
const TAKEN: Readonly<Record<string, string>> = {
  ...{ via: 'via', from: 'from', to: 'to', 'call-id': 'call-id', cseq: 'cseq' },
  ...{ v: 'via', f: 'from', t: 'to', i: 'call-id' },
}
const NEEDED = ['via', 'from', 'to', 'call-id', 'cseq'] as const

/**
 * The response to a malformed request, if its sender can be determined (RFC 3261, section 21.4.1); undefined for a
 * response, an ACK, and what is no message at all.
 */
export function answerToMalformed(bytes: Uint8Array, status: number): Buffer | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, MAX_HEAD_BYTES)).toString(
    'latin1',
  )
  const [head = ''] = text.split('\r\n\r\n')
  const [startLine = '', ...lines] = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  const method = /^([A-Z]+) /.exec(startLine)?.[1]
  if (method === undefined || method === 'ACK') return undefined
  const headers = lines.flatMap((line): SipHeader[] => {
    const colon = line.indexOf(':')
    const name = TAKEN[line.slice(0, Math.max(colon, 0)).trim().toLowerCase()]
    return name === undefined ? [] : [{ name, value: line.slice(colon + 1).trim() }]
  })
  const has = (name: string): boolean => headers.some((header) => header.name === name)
  if (!NEEDED.every(has)) return undefined
  const tagged = headers.map(({ name, value }) =>
    name === 'to' && !/;\s*tag\s*=/i.test(value) ? { name, value: `${value};tag=malformed` } : { name, value },
  )
  return serializeResponse({ status, headers: tagged })
}
