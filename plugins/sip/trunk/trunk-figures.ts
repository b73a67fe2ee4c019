import type { TrunkState } from '../../../runtime/plugin-sdk/telephony/carrier.ts'

/** What became of a trunk's calls since the process began: ASR, ACD and post-dial delay as carriers reckon them. Pure. */

const MAX_STATUSES = 100

export class FiguresOfTrunk {
  readonly #byStatus = new Map<number, number>()
  #attempts = 0
  #answered = 0
  #ended = 0
  #talkedMs = 0
  #rang = 0
  #pddMs = 0
  #failovers = 0

  /** An INVITE of ours has its last answer. */
  counted(status: number): void {
    this.#attempts++
    if (status === 200) this.#answered++
    if (this.#byStatus.size < MAX_STATUSES || this.#byStatus.has(status)) {
      this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1)
    }
  }

  /** It could not take a call that the next one was asked for. */
  failedOver(): void {
    this.#failovers++
  }

  /** It rings, or was answered without ringing. */
  rang(pddMs: number): void {
    this.#rang++
    this.#pddMs += pddMs
  }

  /** A call in either direction is over. */
  talked(ms: number): void {
    this.#ended++
    this.#talkedMs += ms
  }

  now(): Omit<TrunkState, 'contact' | 'activeCalls'> {
    return {
      attempts: this.#attempts,
      answered: this.#answered,
      asr: this.#attempts === 0 ? undefined : this.#answered / this.#attempts,
      acdS: this.#ended === 0 ? undefined : this.#talkedMs / this.#ended / 1_000,
      pddMs: this.#rang === 0 ? undefined : this.#pddMs / this.#rang,
      failovers: this.#failovers,
      byStatus: this.#byStatus,
    }
  }
}
