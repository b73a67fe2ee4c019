/**
 * Messages of Azure's speech sockets: headers as in HTTP, an empty line and the body; of binary ones the length of the
 * headers goes before, in two bytes.
 */
const LINE = '\r\n'

export function textMessage(path: string, requestId: string, body: object): string {
  return `${headersOf(path, requestId, 'application/json')}${LINE}${JSON.stringify(body)}`
}

/** `bytes`: none means that there is no more. */
export function audioMessage(requestId: string, bytes: Uint8Array): Uint8Array {
  const head = Buffer.from(headersOf('audio', requestId, 'audio/x-wav'))
  const length = Buffer.alloc(2)
  length.writeUInt16BE(head.length)
  return Buffer.concat([length, head, bytes])
}

function headersOf(path: string, requestId: string, type: string): string {
  return [
    `Path: ${path}`,
    `X-RequestId: ${requestId}`,
    `X-Timestamp: ${new Date().toISOString()}`,
    `Content-Type: ${type}`,
    '',
  ].join(LINE)
}

/** The path of a text message, small letters aside, and its body. */
export function readMessage(text: string): { path: string; body: string } {
  const end = text.indexOf(`${LINE}${LINE}`)
  const head = end === -1 ? text : text.slice(0, end)
  const path = /^path:\s*(\S+)/im.exec(head)?.[1]
  if (path === undefined) throw new Error('a message without a path')
  return { path, body: end === -1 ? '' : text.slice(end + 2 * LINE.length) }
}

const HEADER_BYTES = 44

/** The header of a wave file of unknown length: 16-bit mono. */
export function wavHeader(rateHz: number): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('RIFF', 0)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rateHz, 24)
  header.writeUInt32LE(rateHz * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  return header
}
