import type { QuotaSource } from '../../admission/quota-source.ts'
import { countRefusal } from '../../admission/refusals.ts'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { Logger } from '../../process/log.ts'

/**
 * How many calls a workspace, and a number of it, have at once on all api nodes. Like slots they are leased: a node that
 * dies keeps no place. The limits are read at each decision.
 */

const RENEW_MS = 5_000

/** What a session counts against. */
export type QuotaClaim = { callId: string; workspaceId: string } & ({ kind: 'phone'; number: string } | { kind: 'web' })

type QuotaVerdict = 'taken' | 'workspace_full' | 'number_full' | 'maintenance'

/** The places as all api nodes share them; store/redis/quota-places.ts keeps them. */
export interface QuotaPlaces {
  /** Takes a place for LEASE_MS where both have room; null: any number. A call that has one keeps it. */
  take(claim: QuotaClaim, most: { workspace: number | null; number: number | null }): Promise<QuotaVerdict>
  renew(claim: QuotaClaim): Promise<void>
  release(claim: QuotaClaim): Promise<void>
}

export class Quotas {
  readonly #places: QuotaPlaces
  readonly #source: QuotaSource
  readonly #log: Logger
  readonly #held = new Map<string, QuotaClaim>()
  readonly #timer: NodeJS.Timeout

  constructor(places: QuotaPlaces, source: QuotaSource, log: Logger) {
    this.#places = places
    this.#source = source
    this.#log = log
    this.#timer = setInterval(
      boundary('call', () => inBackground('call', this.#renew())),
      RENEW_MS,
    )
  }

  /** Takes a place for the call, or names the limit that is reached. `release` it once the call is over. */
  async take(claim: QuotaClaim): Promise<QuotaVerdict> {
    const { workspaceId } = claim
    const [quotas, number] = await Promise.all([
      this.#source.ofWorkspace(workspaceId),
      claim.kind === 'phone' ? this.#source.ofNumber(workspaceId, claim.number) : null,
    ])
    if (quotas.closed !== undefined && !this.#held.has(claim.callId)) {
      countRefusal(claim.kind, quotas.closed)
      return quotas.closed
    }
    const workspace = claim.kind === 'phone' ? quotas.callsAtOnce : quotas.webSessionsAtOnce
    const verdict = await this.#places.take(claim, { workspace, number })
    if (verdict === 'taken') this.#held.set(claim.callId, claim)
    else countRefusal(claim.kind, verdict)
    return verdict
  }

  /** Releasing a call without a place is no error. If the store is unreachable, the place expires by itself. */
  release(callId: string): void {
    const claim = this.#held.get(callId)
    if (claim === undefined) return
    this.#held.delete(callId)
    this.#places.release(claim).catch((err) => {
      this.#log.warn({ err, callId }, 'Could not release the place of an ended call; it will expire')
    })
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #renew(): Promise<void> {
    try {
      for (const claim of [...this.#held.values()]) {
        await this.#places.renew(claim)
        if (!this.#held.has(claim.callId)) await this.#places.release(claim)
      }
    } catch (err) {
      this.#log.warn({ err }, 'Could not renew the places of running calls')
    }
  }
}
