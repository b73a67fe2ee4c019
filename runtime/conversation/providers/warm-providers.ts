import type { AgentSpec } from '../../call/types/agent-spec.ts'
import { boundary } from '../../lib/async/boundary.ts'
import type { StoredKeys } from '../../plugin/stored-keys.ts'
import type { ChainEvents } from './chain.ts'
import { closeProviders, type OpenProvidersDeps, openProviders, type Providers, prewarm } from './providers.ts'

/** Maximum ringing time: connections for an unanswered call are then released. */
const KEPT_MS = 120_000
/** Calls that ring at once; connections of more are opened when they are answered. */
const MAX_KEPT = 200

interface Kept {
  readonly opening: Promise<Providers>
  readonly expiry: NodeJS.Timeout
  /** Receives failures; until the call exists, they go to the log. */
  events: ChainEvents
}

/** The providers of calls that ring: made, and connected, by the time the callee picks up. */
export class WarmProviders {
  readonly #deps: OpenProvidersDeps
  readonly #kept = new Map<string, Kept>()

  constructor(deps: OpenProvidersDeps) {
    this.#deps = deps
  }

  open(callId: string, agent: AgentSpec, keys?: StoredKeys): void {
    if (this.#kept.has(callId) || this.#kept.size >= MAX_KEPT) return
    const { log } = this.#deps
    const kept: Kept = {
      opening: openProviders({ ...this.#deps, keys }, agent, {
        failed: (...failure) => kept.events.failed(...failure),
        switched: (...change) => kept.events.switched?.(...change),
      }),
      expiry: setTimeout(
        boundary('provider', () => this.#release(callId, kept)),
        KEPT_MS,
      ),
      events: { failed: (stage, message, _failure, err) => log.warn({ callId, stage, err }, message) },
    }
    this.#kept.set(callId, kept)
    // A failure is reported to the call, which tries once more.
    kept.opening.then(prewarm, (err) => {
      log.debug({ callId, err }, 'Could not create providers in advance')
      if (this.#kept.get(callId) === kept) this.#forget(callId, kept)
    })
  }

  /** The providers opened for the call, if any; the caller of this method releases them. Failures go to `events`. */
  async take(callId: string, events: ChainEvents): Promise<Providers | undefined> {
    const kept = this.#kept.get(callId)
    if (kept === undefined) return undefined
    this.#forget(callId, kept)
    kept.events = events
    return kept.opening.catch(() => undefined)
  }

  /** Releases all that was not taken. */
  async close(): Promise<void> {
    await Promise.all([...this.#kept].map(([callId, kept]) => this.#release(callId, kept)))
  }

  #forget(callId: string, { expiry }: Kept): void {
    clearTimeout(expiry)
    this.#kept.delete(callId)
  }

  async #release(callId: string, kept: Kept): Promise<void> {
    this.#forget(callId, kept)
    const providers = await kept.opening.catch(() => undefined)
    if (providers !== undefined) await closeProviders(providers, this.#deps.log)
  }
}
