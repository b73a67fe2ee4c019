import dgram from 'node:dgram'

/** Node's own, as it was before the guard. */
const send = dgram.Socket.prototype.send as (
  this: dgram.Socket,
  bytes: Uint8Array,
  port: number,
  address: string,
) => void

let answering = false

/**
 * Sends a datagram from a port that a plugin was granted to listen at. A listener answers its callers: it is not held to
 * `net`, and pays for no check of it, for a phone call sends fifty a second. The socket is bound and its lookup synchronous, so that
 * nothing else is sent meanwhile; the caller has looked at the address.
 */
export function sendAnswer(socket: dgram.Socket, bytes: Uint8Array, port: number, address: string): void {
  answering = true
  try {
    send.call(socket, bytes, port, address)
  } finally {
    answering = false
  }
}

/** Is the running code inside of `sendAnswer`? */
export function isAnswer(): boolean {
  return answering
}
