import { LINE_CODECS, type LineCodecName } from '../../../runtime/media/codecs/line-codec.ts'

/** What our offers call telephone events (RFC 4733), by the clock they count: the numbers everyone uses. */
const EVENTS: Readonly<Record<number, number>> = { 8000: 101, 48000: 110 }
const FIRST_DYNAMIC = 96
const LAST = 127

/**
 * What the payload types of a call mean in our descriptions. What the other side has named once keeps its number (RFC 3264,
 * section 8.3.2); no number has two meanings.
 */
export class PayloadTypes {
  readonly #codecs = new Map<LineCodecName, number>()
  readonly #events = new Map<number, number>()

  /** The other side calls them so. */
  learn(codec: LineCodecName, type: number, events: { type: number; clockHz: number } | undefined): void {
    this.#codecs.set(codec, type)
    if (events !== undefined) this.#events.set(events.clockHz, events.type)
  }

  codec(codec: LineCodecName): number {
    return this.#known(this.#codecs, codec, LINE_CODECS[codec].payloadType)
  }

  events(clockHz: number): number {
    return this.#known(this.#events, clockHz, EVENTS[clockHz] ?? FIRST_DYNAMIC)
  }

  #known<K>(names: Map<K, number>, key: K, wanted: number): number {
    let type = names.get(key)
    if (type !== undefined) return type
    const taken = new Set([...this.#codecs.values(), ...this.#events.values()])
    type = wanted
    for (let other = FIRST_DYNAMIC; taken.has(type) && other <= LAST; other++) type = other
    names.set(key, type)
    return type
  }
}
