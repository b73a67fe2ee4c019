import { type SipMessage, SipParseError } from './message.ts'
import { assemble, type Head, MAX_HEAD_BYTES, parseHead } from './parser.ts'

const PING = Buffer.from('\r\n\r\n', 'latin1')
const EMPTY = Buffer.alloc(0)
const LEAST_ROOM_BYTES = 2_048

/** Cuts a TCP or TLS stream into messages by Content-Length (RFC 3261, section 18.3). Holds one message at most. */
export class MessageFraming {
  /** A view of what is held; behind it there is room, which doubles: bytes that come one by one are not copied each time. */
  #held: Buffer = EMPTY
  #room: Buffer = EMPTY
  /** How much of what is held has no end of headers in it. */
  #searched = 0
  #head: Head | undefined
  readonly #ping: () => void

  /** @param ping called for the double line break of a keep-alive (RFC 5626, section 3.5.1), to be answered by one */
  constructor(ping: () => void) {
    this.#ping = ping
  }

  /** What the bytes complete. Throws SipParseError: where the next message would begin is then unknown; close the stream. */
  push(bytes: Uint8Array): SipMessage[] {
    this.#append(bytes)
    const messages: SipMessage[] = []
    for (let message = this.#next(); message !== undefined; message = this.#next()) messages.push(message)
    return messages
  }

  #append(bytes: Uint8Array): void {
    const at = this.#held.byteOffset - this.#room.byteOffset
    const end = at + this.#held.length
    const length = this.#held.length + bytes.length
    if (end + bytes.length <= this.#room.length) {
      this.#room.set(bytes, end)
      this.#held = this.#room.subarray(at, end + bytes.length)
      return
    }
    const room = Buffer.allocUnsafeSlow(Math.max(2 * length, LEAST_ROOM_BYTES))
    room.set(this.#held)
    room.set(bytes, this.#held.length)
    this.#room = room
    this.#held = room.subarray(0, length)
  }

  #next(): SipMessage | undefined {
    this.#head ??= this.#readHead()
    const head = this.#head
    if (head === undefined) return undefined
    const length = head.contentLength
    if (length === undefined) throw new SipParseError('Content-Length is missing, which a stream needs')
    if (this.#held.length < length) return undefined
    const body = Buffer.from(this.#held.subarray(0, length))
    this.#held = this.#held.subarray(length)
    this.#head = undefined
    return assemble(head, body)
  }

  #readHead(): Head | undefined {
    while (this.#held[0] === 13 && this.#held[1] === 10) {
      // Half a ping: the other half may be on its way.
      if (this.#held.length < 4 && PING.subarray(0, this.#held.length).equals(this.#held)) return undefined
      const ping = this.#held.subarray(0, 4).equals(PING)
      if (ping) this.#ping()
      this.#held = this.#held.subarray(ping ? 4 : 2)
    }
    const end = this.#held.indexOf(PING, this.#searched)
    if (end < 0) {
      this.#searched = Math.max(0, this.#held.length - (PING.length - 1))
      if (this.#held.length > MAX_HEAD_BYTES) throw new SipParseError('The headers are too long', 513)
      return undefined
    }
    const head = parseHead(this.#held.subarray(0, end + 4))
    this.#held = this.#held.subarray(end + 4)
    this.#searched = 0
    return head
  }
}
