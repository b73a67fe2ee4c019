import type { Clock } from '../../../runtime/lib/clock.ts'
import type { MediaAddress } from './media-source.ts'
import { type ReadReport, readReport, writeReport } from './rtcp.ts'
import type { RtpReceiver } from './rtp-receiver.ts'
import type { RtpSender } from './rtp-sender.ts'

const REPORT_MS = 5_000

interface MediaReportsOptions {
  clock: Clock
  sender: RtpSender
  receiver: RtpReceiver
  /** Our name in reports: of this call alone (RFC 7022). */
  name: string
  /** Where reports go before one has come. */
  target(): MediaAddress
  send(report: Buffer, to: MediaAddress): void
}

/** Both sides' reports on a call's packets (RTCP, RFC 3550, section 6). */
export class MediaReports {
  readonly #options: MediaReportsOptions
  #from: MediaAddress | undefined
  #sentMs = 0
  /** The other side's last sender report. */
  #last: { ntp: number; atMs: number } | undefined

  constructor(options: MediaReportsOptions) {
    this.#options = options
  }

  /** Media flow from now on. */
  start(nowMs: number): void {
    this.#sentMs = nowMs
  }

  isDue(nowMs: number): boolean {
    return nowMs - this.#sentMs >= REPORT_MS
  }

  /** A received report, decrypted; undefined: malformed, or of another call. */
  take(bytes: Buffer, from: MediaAddress): ReadReport | undefined {
    const { clock, sender, target } = this.#options
    if (from.address !== target().address) return undefined
    const report = readReport(bytes, sender.ssrc)
    if (report === undefined) return undefined
    this.#from = from
    if (report.ntp !== undefined) this.#last = { ntp: report.ntp, atMs: clock.monotonicMs() }
    return report
  }

  /** Says how it goes; with `goodbye` that it is over. */
  send(nowMs: number, goodbye: boolean): void {
    this.#sentMs = nowMs
    const { clock, sender, receiver, name, target, send } = this.#options
    const figures = {
      ssrc: sender.ssrc,
      nowMs: clock.nowMs(),
      rtpTimestamp: sender.timestamp,
      packets: sender.packets,
      bytes: sender.bytes,
    }
    const last = this.#last && { ntp: this.#last.ntp, delayMs: nowMs - this.#last.atMs }
    send(writeReport(figures, receiver.figures(), last, name, goodbye), this.#from ?? target())
  }
}
