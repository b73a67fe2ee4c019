import { deserialize, serialize } from 'node:v8'

/**
 * What a role and a process of its own say to one another, in frames of a length and a kind:
 *
 *     u32 length of the body · u8 kind · body                                                  (little endian)
 *     kind 0: a message as node:v8 writes it      kind 1: bytes as they are
 */

const LENGTH_BYTES = 4
const HEADER_BYTES = LENGTH_BYTES + 1
const MESSAGE = 0
const BYTES = 1
/** What a process says once it is there for work. */
export const READY = 'ready'

/** What goes before a body of so many bytes that are as they are. */
export const headerOfBytes = (length: number): Uint8Array => header(BYTES, length)

/** Anything that can be structured-cloned; no bytes alone. */
export function frameOf(message: unknown): Uint8Array {
  const body = serialize(message)
  return Buffer.concat([header(MESSAGE, body.length), body])
}

function header(kind: number, length: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES)
  new DataView(bytes.buffer).setUint32(0, length, true)
  bytes[LENGTH_BYTES] = kind
  return bytes
}

/** Messages and bytes in their order, read no further than they are asked for; ends with the other side. */
export async function* messagesFrom(stream: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  let rest: Uint8Array = new Uint8Array()
  for await (const bytes of stream) {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    for (;;) {
      if (rest.length < HEADER_BYTES) break
      const length = new DataView(rest.buffer, rest.byteOffset).getUint32(0, true)
      const end = HEADER_BYTES + length
      if (rest.length < end) break
      const body = rest.subarray(HEADER_BYTES, end)
      const message = rest[LENGTH_BYTES] === BYTES ? body : deserialize(body)
      rest = rest.subarray(end)
      yield message
    }
  }
}
