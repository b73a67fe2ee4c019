import { createDecoder, type OpusDecoderHandle } from 'libopus-wasm'
import { PatchbayError } from '../../lib/errors.ts'
import { MAX_OPUS_BYTES } from './opus-packet.ts'

/** What most voices speak at and more than recognisers hear. */
export const OPUS_RATE_HZ = 24_000

const MAX_FRAME_SAMPLES = (120 * OPUS_RATE_HZ) / 1000
/** What a decoder can conceal is a multiple of this. */
const STEP_SAMPLES = (2.5 * OPUS_RATE_HZ) / 1000
/** Made beforehand: making one waits a turn of the event loop, and calls begin within one. */
const RESERVE = 64

const reserve: OpusDecoderHandle[] = []
/** WebAssembly's memory is not collected: what a call no longer holds is freed when its owner is. */
const owners = new FinalizationRegistry((handle: { free(): void }) => handle.free())
let filling: Promise<void> | undefined

async function fill(): Promise<void> {
  while (reserve.length < RESERVE) reserve.push(await createDecoder({ sampleRate: OPUS_RATE_HZ, channels: 1 }))
}

/** Makes decoders ready for this process; to be waited for before the first line of a call is made. */
export function prepareOpusRepair(): Promise<void> {
  filling ??= fill().finally(() => {
    filling = undefined
  })
  return filling
}

/**
 * Decodes Opus of a lossy line, one direction of one call: beside the packets that came it knows what may have been in those that
 * didn't. Every packet, lost ones too, in its order.
 */
export class OpusRepair {
  readonly #handle: OpusDecoderHandle

  /** Throws `unavailable` before `prepareOpusRepair` resolved. */
  constructor() {
    const handle = reserve.pop()
    if (reserve.length < RESERVE / 2) prepareOpusRepair().catch(() => undefined)
    if (handle === undefined) throw new PatchbayError('unavailable', { cause: new Error('No Opus decoder is ready') })
    this.#handle = handle
    owners.register(this, handle)
  }

  /** The samples of a packet; 0 for an invalid packet. */
  decode(packet: Uint8Array): Int16Array {
    if (packet.length === 0 || packet.length > MAX_OPUS_BYTES) return new Int16Array(0)
    return samplesOrNone(() => this.#handle.decode(packet, { maxFrameSize: MAX_FRAME_SAMPLES }))
  }

  /** What may have been in a lost packet of so many samples, going on from what was before; silence where that can't be. */
  conceal(samples: number): Int16Array {
    if (samples % STEP_SAMPLES !== 0) return new Int16Array(samples)
    return ofLength(
      samplesOrNone(() => this.#handle.decodePacketLoss(samples)),
      samples,
    )
  }

  /** A lost packet of so many samples, as the packet behind it carries it once more; concealed where it doesn't. */
  recover(next: Uint8Array, samples: number): Int16Array {
    if (next.length === 0 || next.length > MAX_OPUS_BYTES) return this.conceal(samples)
    return ofLength(
      samplesOrNone(() => this.#handle.decode(next, { decodeFec: true, frameSize: samples })),
      samples,
    )
  }
}

function samplesOrNone(decode: () => Int16Array): Int16Array {
  try {
    return decode()
  } catch {
    return new Int16Array(0)
  }
}

function ofLength(samples: Int16Array, length: number): Int16Array {
  if (samples.length === length) return samples
  const out = new Int16Array(length)
  out.set(samples.subarray(0, length))
  return out
}
