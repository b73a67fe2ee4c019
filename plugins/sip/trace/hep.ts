import { isIPv6 } from 'node:net'
import type { WireMessage } from '../../../runtime/plugin-sdk/telephony/wire-message.ts'

/** HEP3, the Homer encapsulation protocol (https://github.com/sipcapture/HEP, revision 36): one datagram a message. Pure. */

const GENERIC = 0
const SIP = 1
const UDP = 17
const TCP = 6

/** @param nodeId tells captures of several nodes apart */
export function writeHep(message: WireMessage, callId: string, nodeId: number): Buffer {
  const { direction, local, remote, transport, atMs, text } = message
  const [from, to] = direction === 'out' ? [local, remote] : [remote, local]
  const v6 = isIPv6(from.address)
  const chunks = [
    chunk(1, Buffer.from([v6 ? 10 : 2])),
    chunk(2, Buffer.from([transport === 'udp' ? UDP : TCP])),
    chunk(v6 ? 5 : 3, addressBytes(from.address)),
    chunk(v6 ? 6 : 4, addressBytes(to.address)),
    chunk(7, uint16(from.port)),
    chunk(8, uint16(to.port)),
    chunk(9, uint32(Math.floor(atMs / 1_000))),
    chunk(10, uint32(Math.round((atMs % 1_000) * 1_000))),
    chunk(11, Buffer.from([SIP])),
    chunk(12, uint32(nodeId)),
    chunk(17, Buffer.from(callId, 'latin1')),
    chunk(15, Buffer.from(text, 'latin1')),
  ]
  const body = Buffer.concat(chunks)
  return Buffer.concat([Buffer.from('HEP3'), uint16(body.length + 6), body])
}

function chunk(type: number, value: Buffer): Buffer {
  return Buffer.concat([uint16(GENERIC), uint16(type), uint16(value.length + 6), value])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value & 0xffff)
  return bytes
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** The bytes of an address, as packets have it. */
function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const groups = (text: string): number[] =>
    text === ''
      ? []
      : text.split(':').flatMap((part) => {
          if (!part.includes('.')) return [Number.parseInt(part, 16)]
          const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number)
          return [a * 256 + b, c * 256 + d]
        })
  const [first, last] = [groups(head), groups(tail ?? '')]
  const all = tail === undefined ? first : [...first, ...new Array(8 - first.length - last.length).fill(0), ...last]
  return Buffer.concat(all.map(uint16))
}
