import type { CarrierFigures, Leg, LegEndReason, MediaFigures } from '../../../runtime/call/types/leg.ts'
import { decodeG711 } from '../../../runtime/media/codecs/g711.ts'
import { firstLoud, samplesOf } from '../../../runtime/media/frame.ts'
import type { DialEvents, DialFailure } from '../../../runtime/plugin-sdk/telephony/carrier.ts'
import type { CallContext } from '../dialog/context.ts'

/** How long the callee hears themselves: time enough to speak, press a key, hold and resume. */
const TALK_MS = 15_000
/** The answer to our BYE belongs to the call. */
const LAST_ANSWER_MS = 1_000
/** Of 16-bit samples: the hiss of a line is not louder. */
const LOUD_PEAK = 200

/** What was seen of a test call. */
export interface SeenCall {
  /** Absent: it was answered. */
  failure?: { kind: DialFailure; detail: string | undefined }
  figures: CarrierFigures
  media: MediaFigures | undefined
  /** Sound came, not silence alone. */
  isLoud: boolean
  /** Keys that the callee pressed. */
  keys: string
  hold: 'none' | 'held' | 'resumed'
  /** Sound came after the hold. */
  isLoudAfterHold: boolean
  /** Undefined: we hung up. */
  endedBy: LegEndReason | undefined
}

/** Takes a call in the place of an agent: sends back what it hears, watches, and hangs up after some seconds. */
export class TestCallObserver implements DialEvents {
  /** Resolves once the call is over, whatever became of it. */
  readonly over: Promise<SeenCall>
  readonly #context: Pick<CallContext, 'timers'>
  readonly #hangUp: () => void
  readonly #resolve: (seen: SeenCall) => void
  readonly #seen: SeenCall = {
    ...{ figures: {}, media: undefined, isLoud: false, keys: '', hold: 'none' },
    ...{ isLoudAfterHold: false, endedBy: undefined },
  }

  constructor(context: Pick<CallContext, 'timers'>, hangUp: () => void) {
    const { promise, resolve } = Promise.withResolvers<SeenCall>()
    this.over = promise
    this.#resolve = resolve
    this.#context = context
    this.#hangUp = hangUp
  }

  ringing(): void {}

  carrier(figures: CarrierFigures): void {
    this.#seen.figures = { ...this.#seen.figures, ...figures }
  }

  failed(kind: DialFailure, detail?: string): void {
    this.#seen.failure = { kind, detail }
    this.#resolve(this.#seen)
  }

  answered(leg: Leg): void {
    const seen = this.#seen
    const end = (): void => {
      this.#context.timers.after(LAST_ANSWER_MS, () => this.#resolve(seen))
    }
    const stop = this.#context.timers.after(TALK_MS, () => {
      this.#hangUp()
      end()
    })
    leg.start({
      audio: (bytes) => {
        leg.sendAudio(bytes)
        if (!isLoud(bytes, leg.format.encoding)) return
        seen.isLoud = true
        if (seen.hold === 'resumed') seen.isLoudAfterHold = true
      },
      text: () => undefined,
      dtmf: (key) => {
        seen.keys += key
      },
      played: () => undefined,
      held: () => {
        seen.hold = 'held'
      },
      resumed: () => {
        seen.hold = 'resumed'
      },
      media: (figures) => {
        seen.media = figures
      },
      carrier: (figures) => this.carrier(figures),
      ended: (reason) => {
        stop()
        seen.endedBy = reason
        end()
      },
    })
    leg.answer()
  }
}

function isLoud(bytes: Uint8Array, encoding: Leg['format']['encoding']): boolean {
  const samples = encoding === 'pcmu' || encoding === 'pcma' ? decodeG711(encoding, bytes) : samplesOf(bytes)
  return firstLoud(samples, LOUD_PEAK) >= 0
}
