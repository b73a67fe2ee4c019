/** RTCP reports (RFC 3550, section 6): what each side says of the packets it got. */

interface SenderFigures {
  ssrc: number
  /** Wall clock. */
  nowMs: number
  rtpTimestamp: number
  packets: number
  bytes: number
}

export interface ReceiverFigures {
  /** Whose packets these are. */
  ssrc: number
  /** Share of packets lost since the last report, 0 to 1. */
  fractionLost: number
  packetsLost: number
  highestSequence: number
  /** In units of the timestamp. */
  jitter: number
}

/** The other side's last sender report, which ours names so that it can tell the round trip. */
interface LastReport {
  /** The middle 32 bits of its NTP time. */
  ntp: number
  /** How long ago it came. */
  delayMs: number
}

const SENDER_REPORT = 200
const RECEIVER_REPORT = 201
const DESCRIPTION = 202
const GOODBYE = 203
/** Seconds from 1900 to 1970. */
const NTP_OFFSET_S = 2_208_988_800

/**
 * A report (section 6.4): a sender's, or a receiver's alone while nothing was sent; with a reception block, our name, and at
 * the end of the call a goodbye.
 */
export function writeReport(
  sent: SenderFigures,
  received: ReceiverFigures | undefined,
  last: LastReport | undefined,
  name: string,
  goodbye: boolean,
): Buffer {
  const blocks = received === undefined ? [] : [writeBlock(received, last)]
  const sends = sent.packets > 0
  const head = Buffer.alloc(sends ? 28 : 8)
  writeHeader(head, blocks.length, sends ? SENDER_REPORT : RECEIVER_REPORT, head.length / 4 - 1 + 6 * blocks.length)
  head.writeUInt32BE(sent.ssrc, 4)
  if (sends) {
    head.writeUInt32BE((Math.floor(sent.nowMs / 1000) + NTP_OFFSET_S) >>> 0, 8)
    head.writeUInt32BE(Math.floor(((sent.nowMs % 1000) / 1000) * 2 ** 32) >>> 0, 12)
    head.writeUInt32BE(sent.rtpTimestamp >>> 0, 16)
    head.writeUInt32BE(sent.packets >>> 0, 20)
    head.writeUInt32BE(sent.bytes >>> 0, 24)
  }
  const parts = [head, ...blocks, writeDescription(sent.ssrc, name)]
  if (goodbye) parts.push(writeGoodbye(sent.ssrc))
  return Buffer.concat(parts)
}

function writeHeader(bytes: Buffer, count: number, type: number, words: number): void {
  bytes[0] = 0x80 | count
  bytes[1] = type
  bytes.writeUInt16BE(words, 2)
}

function writeBlock(figures: ReceiverFigures, last: LastReport | undefined): Buffer {
  const block = Buffer.alloc(24)
  block.writeUInt32BE(figures.ssrc, 0)
  block[4] = Math.min(255, Math.floor(figures.fractionLost * 256))
  block.writeIntBE(Math.max(-(2 ** 23), Math.min(2 ** 23 - 1, figures.packetsLost)), 5, 3)
  block.writeUInt32BE(figures.highestSequence >>> 0, 8)
  block.writeUInt32BE(Math.round(figures.jitter) >>> 0, 12)
  if (last !== undefined) {
    block.writeUInt32BE(last.ntp >>> 0, 16)
    block.writeUInt32BE(Math.min(2 ** 32 - 1, Math.round((last.delayMs * 65_536) / 1000)), 20)
  }
  return block
}

function writeDescription(ssrc: number, name: string): Buffer {
  const text = Buffer.from(name, 'latin1').subarray(0, 255)
  // The list of items ends with at least one zero byte, on a word's edge.
  const words = Math.floor((4 + 2 + text.length) / 4) + 1
  const bytes = Buffer.alloc(4 + 4 * words)
  writeHeader(bytes, 1, DESCRIPTION, words)
  bytes.writeUInt32BE(ssrc, 4)
  bytes[8] = 1
  bytes[9] = text.length
  text.copy(bytes, 10)
  return bytes
}

function writeGoodbye(ssrc: number): Buffer {
  const bytes = Buffer.alloc(8)
  writeHeader(bytes, 1, GOODBYE, 1)
  bytes.writeUInt32BE(ssrc, 4)
  return bytes
}

/** What the other side's report says. */
export interface ReadReport {
  /** The share of our packets it lost. */
  fractionLost: number | undefined
  /** The middle 32 bits of the NTP time of a sender report. */
  ntp: number | undefined
  /** Our last report that it names: the middle 32 bits of its NTP time, and how long it had that one. */
  echoed: { ntp: number; delayMs: number } | undefined
}

/** The round trip of which a report tells (section 6.4.1), in ms. `nowMs`: wall clock. */
export function roundTripMs({ ntp, delayMs }: { ntp: number; delayMs: number }, nowMs: number): number {
  const now = middleOf(nowMs)
  return Math.max(0, (((now - ntp) >>> 0) * 1000) / 65_536 - delayMs)
}

/** The middle 32 bits of the NTP time. */
function middleOf(nowMs: number): number {
  const seconds = (Math.floor(nowMs / 1000) + NTP_OFFSET_S) & 0xffff
  return (seconds * 65_536 + Math.floor(((nowMs % 1000) / 1000) * 65_536)) >>> 0
}

/** Reads a compound packet as far as it is one; undefined when it doesn't begin like one. `ssrc` is ours. */
export function readReport(bytes: Buffer, ssrc: number): ReadReport | undefined {
  let fractionLost: number | undefined
  let ntp: number | undefined
  let echoed: ReadReport['echoed']
  let at = 0
  for (; at + 8 <= bytes.length; at += 4 + 4 * bytes.readUInt16BE(at + 2)) {
    const first = bytes[at] ?? 0
    const type = bytes[at + 1] ?? 0
    if (first >> 6 !== 2 || type < SENDER_REPORT || type > 207) break
    if (type === SENDER_REPORT && at + 16 <= bytes.length) ntp = bytes.readUInt32BE(at + 10)
    const blocks = type === SENDER_REPORT ? at + 28 : type === RECEIVER_REPORT ? at + 8 : bytes.length
    for (let block = blocks, left = first & 0x1f; left > 0 && block + 24 <= bytes.length; block += 24, left--) {
      if (bytes.readUInt32BE(block) !== ssrc) continue
      fractionLost = (bytes[block + 4] ?? 0) / 256
      const named = bytes.readUInt32BE(block + 16)
      if (named !== 0) echoed = { ntp: named, delayMs: (bytes.readUInt32BE(block + 20) * 1000) / 65_536 }
    }
  }
  return at === 0 ? undefined : { fractionLost, ntp, echoed }
}
