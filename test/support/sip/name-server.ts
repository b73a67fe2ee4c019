import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

/** A name server over UDP (RFC 1035) that a test answers for: IPv4 addresses, not to be kept (TTL 0). */
export interface NameServer {
  /** How often an address of each name was asked for. */
  readonly asked: ReadonlyMap<string, number>
  close(): void
}

const HEADER_BYTES = 12
const TYPE_A = 1
const CLASS_IN = 1
/** A response of who decides for the name, to whom asks again elsewhere by itself; no error. */
const ANSWERED = 0x8580

/** @param addressesOf a name, asked for the nth time from 1 on; none: there is no such address */
export async function startNameServer(
  address: string,
  port: number,
  addressesOf: (name: string, nth: number) => readonly string[],
): Promise<NameServer> {
  const asked = new Map<string, number>()
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query)
    let addresses: readonly string[] = []
    if (type === TYPE_A) {
      const nth = (asked.get(name) ?? 0) + 1
      asked.set(name, nth)
      addresses = addressesOf(name, nth)
    }
    const head = Buffer.alloc(HEADER_BYTES)
    head.writeUInt16BE(query.readUInt16BE(0), 0)
    head.writeUInt16BE(ANSWERED, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(addresses.length, 6)
    const answer = Buffer.concat([head, query.subarray(HEADER_BYTES, end), ...addresses.map(recordOf)])
    socket.send(answer, from.port, from.address)
  })
  socket.bind(port, address)
  await once(socket, 'listening')
  return { asked, close: () => void socket.close() }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function recordOf(address: string): Buffer {
  if (!isIPv4(address)) throw new Error(`${address} is no IPv4 address`)
  const record = Buffer.alloc(16)
  // The name of the question.
  record.writeUInt16BE(0xc000 + HEADER_BYTES, 0)
  record.writeUInt16BE(TYPE_A, 2)
  record.writeUInt16BE(CLASS_IN, 4)
  record.writeUInt16BE(4, 10)
  record.set(address.split('.').map(Number), 12)
  return record
}
