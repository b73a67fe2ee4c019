/** Animated WebP of still ones, after the container specification: https://developers.google.com/speed/webp/docs/riff_container */

/** A still WebP that is drawn over the frames before, from these pixels on. */
export interface Frame {
  readonly webp: Buffer
  /** Even. */
  readonly x: number
  /** Even. */
  readonly y: number
  readonly width: number
  readonly height: number
  readonly durationMs: number
}

const ANIMATED = 0x02
const ALPHA = 0x10
const NO_BLENDING = 0x02
const MAX_DURATION_MS = 0xff_ff_ff

/** One file that plays the frames over and over, in a picture of this size in pixels. */
export function animatedWebp(width: number, height: number, frames: readonly Frame[]): Buffer {
  const drawn = frames.map((frame) => ({ frame, data: bitstreamOf(frame.webp) }))
  const hasAlpha = drawn.some(({ data }) => data.subarray(0, 4).toString('latin1') === 'ALPH')
  const size = Buffer.alloc(10)
  size[0] = ANIMATED | (hasAlpha ? ALPHA : 0)
  size.writeUIntLE(width - 1, 4, 3)
  size.writeUIntLE(height - 1, 7, 3)
  const chunks = [
    chunk('VP8X', size),
    // A background that no player draws, and endless loops.
    chunk('ANIM', Buffer.alloc(6)),
    ...drawn.map(({ frame, data }) => chunk('ANMF', Buffer.concat([headOf(frame), data]))),
  ]
  return chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]))
}

function headOf({ x, y, width, height, durationMs }: Frame): Buffer {
  const head = Buffer.alloc(16)
  for (const [i, value] of [x / 2, y / 2, width - 1, height - 1, Math.min(durationMs, MAX_DURATION_MS)].entries())
    head.writeUIntLE(Math.round(value), i * 3, 3)
  head[15] = NO_BLENDING
  return head
}

/** The chunks of a still WebP that hold its pixels. @throws where it is none. */
function bitstreamOf(webp: Buffer): Buffer {
  const kept: Buffer[] = []
  for (let at = 12; at + 8 <= webp.length; ) {
    const length = 8 + webp.readUInt32LE(at + 4)
    const end = at + length + (length % 2)
    if (/^(?:ALPH|VP8 |VP8L)$/.test(webp.toString('latin1', at, at + 4))) kept.push(webp.subarray(at, end))
    at = end
  }
  if (webp.toString('latin1', 0, 4) !== 'RIFF' || kept.length === 0) throw new Error('This is no still WebP')
  return Buffer.concat(kept)
}

function chunk(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(name, 'latin1')
  head.writeUInt32LE(data.length, 4)
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
}
