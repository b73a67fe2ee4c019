import type { AudioFormat, Leg, LegEndReason, LegEvents } from '../../call/types/leg.ts'
import { boundary } from '../../lib/async/boundary.ts'
import { packetSamples } from '../../media/codecs/packet-samples.ts'
import { FRAME_MS } from '../../media/frame.ts'
import { type LineFaults, lineFaults } from '../../media/line/line-faults.ts'
import type { LoopbackCall } from '../../plugin-sdk/telephony/carrier.ts'

const KEY_MS = 200

/**
 * A call whose both ends are in this process, joined by a line with these faults, each way.
 * @param random 0–1
 */
export function directLine(format: AudioFormat, faults: LineFaults, random: () => number): LoopbackCall {
  const answered = Promise.withResolvers<Leg>()
  const ends = new Ends()
  const pass = lineFaults(faults, random)
  const calling = new DirectEnd(format, ends, 'calling', pass)
  const called = new DirectEnd(format, ends, 'called', pass, () => answered.resolve(calling))
  return { called, calling: answered.promise, close: async () => called.close() }
}

type Side = 'calling' | 'called'

/** Who listens at the ends, until one hangs up. */
class Ends {
  readonly #events = new Map<Side, LegEvents>()
  #over = false

  join(side: Side, events: LegEvents): void {
    if (!this.#over) this.#events.set(side, events)
  }

  /** Undefined: not there yet, or gone. */
  other(side: Side): LegEvents | undefined {
    return this.#events.get(side === 'called' ? 'calling' : 'called')
  }

  own(side: Side): LegEvents | undefined {
    return this.#events.get(side)
  }

  hangUp(side: Side): void {
    if (this.#over) return
    this.#over = true
    const reason: LegEndReason = side === 'calling' ? 'caller_hangup' : 'connection_lost'
    const other = this.other(side)
    this.#events.clear()
    other?.ended(reason)
  }
}

/** One end: what it sends, the other hears, as far as the line lets it. */
class DirectEnd implements Leg {
  readonly format: AudioFormat
  readonly #ends: Ends
  readonly #side: Side
  readonly #pass: (pass: () => void) => void
  readonly #answered: (() => void) | undefined
  #sent = 0

  constructor(format: AudioFormat, ends: Ends, side: Side, pass: (pass: () => void) => void, answered?: () => void) {
    this.format = format
    this.#ends = ends
    this.#side = side
    this.#pass = pass
    this.#answered = answered
  }

  start(events: LegEvents): void {
    this.#ends.join(this.#side, events)
  }

  answer(): void {
    this.#answered?.()
  }

  sendAudio(bytes: Uint8Array): void {
    const timestamp = this.#sent
    this.#sent += packetSamples(this.format, bytes)
    // Opus makes each packet anew, a frame of samples may be a view: what waits must not change.
    const kept = bytes.slice()
    this.#pass(() => this.#ends.other(this.#side)?.audio(kept, timestamp))
  }

  clear(): void {}

  /** Nothing waits here: a frame is heard as soon as it has passed. */
  mark(markId: number): void {
    setTimeout(
      boundary('call', () => this.#ends.own(this.#side)?.played(markId)),
      FRAME_MS,
    ).unref()
  }

  sendDtmf(keys: string): void {
    for (const [i, key] of [...keys].entries()) {
      setTimeout(
        boundary('call', () => this.#ends.other(this.#side)?.dtmf(key)),
        i * KEY_MS,
      ).unref()
    }
  }

  agentState(): void {}
  transcript(): void {}
  error(): void {}

  close(): void {
    this.#ends.hangUp(this.#side)
  }
}
