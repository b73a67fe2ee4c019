import { isIPv6 } from 'node:net'
import type { WireMessage } from '../../runtime/plugin-sdk/telephony/wire-message.ts'

/** Messages as a capture file that Wireshark opens: pcap of raw IP, each message a datagram. Pure. */

const MAGIC = 0xa1b2c3d4
const LINKTYPE_RAW = 101
const SNAP_BYTES = 0x40000
const UDP = 17

export function pcapOf(messages: readonly WireMessage[]): Buffer {
  const head = Buffer.alloc(24)
  head.writeUInt32BE(MAGIC, 0)
  head.writeUInt16BE(2, 4)
  head.writeUInt16BE(4, 6)
  head.writeUInt32BE(SNAP_BYTES, 16)
  head.writeUInt32BE(LINKTYPE_RAW, 20)
  return Buffer.concat([head, ...messages.map(record)])
}

function record(message: WireMessage): Buffer {
  const [from, to] = message.direction === 'out' ? [message.local, message.remote] : [message.remote, message.local]
  const packet = datagram(from, to, Buffer.from(message.text, 'latin1').subarray(0, 65_000))
  const head = Buffer.alloc(16)
  head.writeUInt32BE(Math.floor(message.atMs / 1_000), 0)
  head.writeUInt32BE(Math.round((message.atMs % 1_000) * 1_000), 4)
  head.writeUInt32BE(packet.length, 8)
  head.writeUInt32BE(packet.length, 12)
  return Buffer.concat([head, packet])
}

type End = WireMessage['local']

/** Messages of every transport are written as UDP, one packet each. The checksum of UDP over IPv4 may be left out. */
function datagram(from: End, to: End, payload: Buffer): Buffer {
  const udp = Buffer.alloc(8)
  udp.writeUInt16BE(from.port, 0)
  udp.writeUInt16BE(to.port, 2)
  udp.writeUInt16BE(8 + payload.length, 4)
  const v6 = isIPv6(from.address) && isIPv6(to.address)
  const ip = v6 ? headOf6(from, to, 8 + payload.length) : headOf4(from, to, 8 + payload.length)
  return Buffer.concat([ip, udp, payload])
}

function headOf4(from: End, to: End, length: number): Buffer {
  const ip = Buffer.alloc(20)
  ip[0] = 0x45
  ip.writeUInt16BE(20 + length, 2)
  ip[8] = 64
  ip[9] = UDP
  writeAddress4(ip, 12, from.address)
  writeAddress4(ip, 16, to.address)
  let sum = 0
  for (let at = 0; at < 20; at += 2) sum += ip.readUInt16BE(at)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  ip.writeUInt16BE(~sum & 0xffff, 10)
  return ip
}

function headOf6(from: End, to: End, length: number): Buffer {
  const ip = Buffer.alloc(40)
  ip[0] = 0x60
  ip.writeUInt16BE(length, 4)
  ip[6] = UDP
  ip[7] = 64
  for (const [at, { address }] of [
    [8, from],
    [24, to],
  ] as const) {
    for (const [i, group] of groupsOf(address).entries()) ip.writeUInt16BE(group, at + 2 * i)
  }
  return ip
}

function writeAddress4(ip: Buffer, at: number, address: string): void {
  for (const [i, part] of address
    .replace(/^::ffff:/i, '')
    .split('.')
    .slice(0, 4)
    .entries())
    ip[at + i] = Number(part) || 0
}

function groupsOf(address: string): number[] {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const read = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((part) => Number.parseInt(part, 16) || 0)
  const [first, last] = [read(head), read(tail ?? '')]
  return tail === undefined ? first : [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last]
}
