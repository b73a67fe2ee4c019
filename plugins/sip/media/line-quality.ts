import type { MediaFigures } from '../../../runtime/call/types/leg.ts'
import { meanOpinionScore } from '../../../runtime/media/line/mean-opinion-score.ts'
import { type ReadReport, roundTripMs } from './rtcp.ts'
import type { RtpReceiver } from './rtp-receiver.ts'

/** Reporting interval. */
const NEWS_EVERY_MS = 30_000
/** Nothing arrived for this long at the start, or all our packets are lost: one-way audio. */
const ONE_WAY_AFTER_MS = 5_000
const ALL_LOST = 0.99
/** What a packet and the wait for late ones add to the way. */
const OWN_DELAY_MS = 80

/** How a call's line is, by the packets that came and by what the other side reports of ours. */
export class LineQuality {
  readonly #receiver: RtpReceiver
  readonly #codec: () => string
  #rttMs: number | undefined
  #lostThere: number | undefined
  #toldAtMs = 0

  constructor(receiver: RtpReceiver, codec: () => string) {
    this.#receiver = receiver
    this.#codec = codec
  }

  /** The other side's report came. `nowMs`: wall clock. */
  reported(report: ReadReport, nowMs: number): void {
    if (report.echoed !== undefined) this.#rttMs = roundTripMs(report.echoed, nowMs)
    this.#lostThere = report.fractionLost ?? this.#lostThere
  }

  /** The figures, when they are due. @param elapsedMs since the media began */
  news(elapsedMs: number): MediaFigures | undefined {
    if (elapsedMs - this.#toldAtMs < NEWS_EVERY_MS) return undefined
    this.#toldAtMs = elapsedMs
    return this.figures(elapsedMs)
  }

  figures(elapsedMs: number): MediaFigures {
    const { received, lost, jitterMs } = this.#receiver.quality
    const { late, losses } = this.#receiver
    const oneWay = this.#oneWay(elapsedMs, received)
    const loss = received + lost === 0 ? undefined : lost / (received + lost)
    const unheard = received + lost === 0 ? undefined : (lost + late) / (received + lost)
    return {
      codec: this.#codec(),
      packets: received,
      late,
      ...(loss === undefined || unheard === undefined
        ? {}
        : { loss: rounded(loss, 4), mos: rounded(meanOpinionScore(unheard, this.#delayMs(jitterMs)), 2) }),
      ...(losses === undefined
        ? {}
        : {
            burstDensity: rounded(losses.burstDensity, 4),
            burstMs: Math.round(losses.burstMs),
            gapDensity: rounded(losses.gapDensity, 4),
            gapMs: Math.round(losses.gapMs),
          }),
      ...(received === 0 ? {} : { jitterMs: rounded(jitterMs, 1) }),
      ...(this.#rttMs === undefined ? {} : { rttMs: Math.round(this.#rttMs) }),
      ...(oneWay === undefined ? {} : { oneWay }),
    }
  }

  #delayMs(jitterMs: number): number {
    return (this.#rttMs ?? 0) / 2 + OWN_DELAY_MS + jitterMs
  }

  #oneWay(elapsedMs: number, received: number): MediaFigures['oneWay'] {
    if (elapsedMs < ONE_WAY_AFTER_MS) return undefined
    if (received === 0) return 'nothing_heard'
    return this.#lostThere !== undefined && this.#lostThere >= ALL_LOST ? 'not_heard' : undefined
  }
}

function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits
}
