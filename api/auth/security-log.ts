import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { type SecurityEvent, type SecurityEventKind, writeSecurityEvent } from '../../store/accounts/security-log.ts'
import type { Store } from '../../store/database/database.ts'
import type { ApiRequest } from '../route.ts'

const MINUTE_MS = 60_000
/** Events that strangers cause without an account, a minute at this node: they can't fill the disk. */
const MOST_OF_STRANGERS = 300
const BY_STRANGERS: ReadonlySet<SecurityEventKind> = new Set([
  'signup_refused',
  'login_failed',
  'locked_out',
  'link_refused',
  'password_link_mailed',
])

interface SecurityLogOptions {
  store: Store
  clock: Clock
  log: Logger
}

/** Writes the security log. Never rejects: what was done is done, and its answer is owed. */
export class SecurityLog {
  readonly #options: SecurityLogOptions
  #minuteAtMs = Number.NEGATIVE_INFINITY
  #ofStrangers = 0
  #leftOut = 0

  constructor(options: SecurityLogOptions) {
    this.#options = options
  }

  async note(
    request: Pick<ApiRequest, 'clientAddress' | 'id'>,
    event: Omit<SecurityEvent, 'address' | 'requestId'>,
  ): Promise<void> {
    const whole = { ...event, address: request.clientAddress, requestId: request.id }
    await this.#reportLeftOut()
    if (BY_STRANGERS.has(event.kind) && ++this.#ofStrangers > MOST_OF_STRANGERS) {
      this.#leftOut++
      return
    }
    await this.#write(whole)
  }

  /** At the first event of a new minute. */
  async #reportLeftOut(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#minuteAtMs < MINUTE_MS) return
    const events = this.#leftOut
    this.#minuteAtMs = nowMs
    this.#ofStrangers = 0
    this.#leftOut = 0
    if (events === 0) return
    const none = { userId: null, account: '', address: '', requestId: '' }
    await this.#write({ ...none, kind: 'events_left_out', detail: { events } })
  }

  async #write(event: SecurityEvent): Promise<void> {
    const { store, log } = this.#options
    try {
      await writeSecurityEvent(store, event)
    } catch (err) {
      log.error({ err, kind: event.kind }, 'An event could not be written to the security log')
    }
  }
}
