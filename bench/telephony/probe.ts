/**
 * The other end of all media: takes every call's packets at one socket, sends each call 20 ms of speech back at the pace of
 * what it gets, and notes when packets arrive. A call is known by its SSRC.
 */
import dgram from 'node:dgram'
import { SrtpStream } from '../../plugins/sip/media/srtp.ts'

export interface Pacing {
  packets: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  /** Gaps over 40 ms. */
  late: number
}

const LATE_MS = 40
/** What callers' packets are encrypted with; none: they are plain. */
const [key] = process.argv.slice(2)
const streams = new Map<number, SrtpStream>()

function sealed(plain: Buffer, ssrc: number): Buffer {
  const stream = streams.get(ssrc) ?? new SrtpStream('AES_CM_128_HMAC_SHA1_80', Buffer.from(key ?? '', 'base64'))
  streams.set(ssrc, stream)
  return stream.protect(plain)
}
const socket = dgram.createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 })
const lastMs = new Map<number, number>()
let gaps: number[] | undefined

socket.on('message', (bytes, from) => {
  if (bytes.length < 172) return
  const nowMs = performance.now()
  const ssrc = bytes.readUInt32BE(8)
  const before = lastMs.get(ssrc)
  lastMs.set(ssrc, nowMs)
  if (before !== undefined) gaps?.push(nowMs - before)
  // The same packet back is a stream of its own, in order and on time; an encrypted one has the caller's key, whatever it says.
  const back = key === undefined ? bytes : sealed(bytes.subarray(0, 172), ssrc)
  socket.send(back, from.port, from.address)
})
socket.bind(0, '127.0.0.1', () => process.send?.({ port: socket.address().port }))

process.on('message', (word) => {
  if (word === 'begin') gaps = []
  if (word !== 'end') return
  const sorted = (gaps ?? []).sort((a, b) => a - b)
  const at = (share: number): number => Number((sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1))
  const pacing: Pacing = {
    packets: sorted.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    late: sorted.filter((gap) => gap > LATE_MS).length,
  }
  process.send?.(pacing)
  gaps = undefined
})
