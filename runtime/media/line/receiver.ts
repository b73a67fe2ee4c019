import type { AudioFormat } from '../../call/types/leg.ts'
import { codecFor } from '../codecs/codec.ts'
import { OpusReceiver } from '../codecs/opus-receiver.ts'
import { JitterBuffer } from './jitter.ts'

/** What turns a leg's packets into one unbroken run of samples at the leg's rate. */
interface Receiver {
  /** Samples that never came, and of packets that came too late. */
  readonly lost: number
  readonly lateSamples: number
  /** The timestamp behind the last sample that was given out. */
  readonly position: number
  /** `timestamp` counts samples at the leg's rate. */
  push(packet: Uint8Array, timestamp: number, nowMs: number): Int16Array[]
  /** Gives up what was waited for long enough. Call it once a tick. */
  tick(nowMs: number): Int16Array[]
}

/** Of Opus order first, then decoding, for a lost packet is made up for by the codec; of the others decoding first. */
export function receiverFor(format: AudioFormat, options: { maxWaitMs: number; maxFillMs: number }): Receiver {
  if (format.encoding === 'opus') return new OpusReceiver(options)
  const { decode } = codecFor(format)
  const jitter = new JitterBuffer({ sampleRateHz: format.sampleRateHz, ...options, conceal: true })
  return {
    get lost() {
      return jitter.lost
    },
    get lateSamples() {
      return jitter.lateSamples
    },
    get position() {
      return jitter.position
    },
    push: (packet, timestamp, nowMs) => jitter.push(decode(packet), timestamp, nowMs),
    tick: (nowMs) => jitter.tick(nowMs),
  }
}
