import { headerOf, type SipHeader, type SipRequest, type SipResponse, tokensOf } from '../message/message.ts'
import type { Timers } from '../transaction/timers.ts'

/** Session timers (RFC 4028): ends a call whose other side has vanished. */

/** What we ask for, and the least we accept. */
export const SESSION_EXPIRES_S = 1_800
export const MIN_SE_S = 90
/** Maximum: a day. */
export const MAX_SE_S = 86_400

export interface SessionTerms {
  intervalS: number
  /** Who keeps the session alive. */
  refresher: 'us' | 'them'
}

/** `1800;refresher=uac`; undefined when there is no such header, or none that makes sense. */
function parseSessionExpires(message: { headers: readonly SipHeader[] }) {
  const value = headerOf(message, 'session-expires')
  if (value === undefined) return undefined
  const [seconds = '', ...params] = value.split(';').map((part) => part.trim())
  const refresher = params.map((param) => /^refresher\s*=\s*(uac|uas)$/i.exec(param)?.[1]?.toLowerCase()).find(Boolean)
  const intervalS = secondsOf(seconds)
  return intervalS === undefined ? undefined : { intervalS, refresher }
}

export function parseMinSe(message: { headers: readonly SipHeader[] }): number | undefined {
  const value = headerOf(message, 'min-se')
  return value === undefined ? undefined : secondsOf(value.split(';')[0]?.trim() ?? '')
}

function secondsOf(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** What we make of the other side's INVITE or UPDATE: its terms with the headers that say so, or too short. */
export function termsAsServer(
  request: SipRequest,
): { terms: SessionTerms; headers: SipHeader[] } | 'too_short' | undefined {
  const asked = parseSessionExpires(request)
  const supported = tokensOf(request, 'supported').includes('timer')
  if (asked === undefined && !supported) return undefined
  const intervalS = asked?.intervalS ?? Math.max(SESSION_EXPIRES_S, parseMinSe(request) ?? 0)
  if (intervalS < MIN_SE_S) return 'too_short'
  // A peer without support leaves the refreshing to us; otherwise the caller refreshes, as it notices network changes first.
  const refresher = supported ? (asked?.refresher ?? 'uac') : 'uas'
  const headers = [{ name: 'session-expires', value: `${intervalS};refresher=${refresher}` }]
  if (refresher === 'uac') headers.push({ name: 'require', value: 'timer' })
  return { terms: { intervalS, refresher: refresher === 'uac' ? 'them' : 'us' }, headers }
}

/** What the answer to our INVITE or UPDATE says. */
export function termsAsClient(response: SipResponse): SessionTerms | undefined {
  const given = parseSessionExpires(response)
  if (given === undefined || given.intervalS === 0) return undefined
  return { intervalS: given.intervalS, refresher: given.refresher === 'uas' ? 'them' : 'us' }
}

/** Keeps the time of one session. */
export class SessionTimer {
  readonly #timers: Timers
  readonly #refresh: () => void
  readonly #expired: () => void
  #intervalMs = 0
  #cancelRefresh: () => void = () => undefined
  #cancelExpiry: () => void = () => undefined

  constructor(timers: Timers, events: { refresh(): void; expired(): void }) {
    this.#timers = timers
    this.#refresh = events.refresh
    this.#expired = events.expired
  }

  /** Begins anew: the session was refreshed. */
  restart(terms: SessionTerms | undefined): void {
    this.stop()
    if (terms === undefined) return
    const ms = terms.intervalS * 1_000
    this.#intervalMs = ms
    if (terms.refresher === 'us') this.#cancelRefresh = this.#timers.after(ms / 2, this.#refresh)
    // A little before the end, so that the BYE finds the way still open (section 10).
    this.#cancelExpiry = this.#timers.after(ms - Math.min(32_000, ms / 3), this.#expired)
  }

  /** A refresh came to nothing: there is time for another. */
  retry(): void {
    this.#cancelRefresh()
    this.#cancelRefresh = this.#timers.after(this.#intervalMs / 12, this.#refresh)
  }

  stop(): void {
    this.#cancelRefresh()
    this.#cancelExpiry()
  }
}
