import { boundary, caught } from '../../../runtime/lib/async/boundary.ts'
import type { DialEvents, DialOrder } from '../../../runtime/plugin-sdk/telephony/carrier.ts'
import { CallMedia } from '../media/call-media.ts'
import type { MediaPair } from '../media/media-ports.ts'
import { type CallControl, RtpLeg } from '../media/rtp-leg.ts'
import type { SipHeader } from '../message/message.ts'
import { formatHost } from '../message/serializer.ts'
import type { SipStack } from '../stack.ts'
import { Authenticator } from '../transaction/authenticator.ts'
import type { Flow } from '../transport/flow.ts'
import { contactName, presenceOf } from '../trunk/presence.ts'
import type { Target } from '../trunk/targets.ts'
import type { ActiveTrunk } from '../trunk/trunk-table.ts'
import { attendedCalls } from './attended.ts'
import { OutboundCall } from './outbound-call.ts'
import { type Ending, endFigures, failureOf } from './outcome.ts'
import { caseOf, mayLead, redirectTarget, referTarget } from './transfer.ts'

/** A trunk silent for this long is unreachable: six retransmissions have been sent by then. */
const SILENCE_MS = 20_000
/** The same with an alternative route, and for a trunk known to be silent. */
const QUICK_SILENCE_MS = 5_000
const MAX_REDIRECTIONS = 3
/** Calls that a target asks us to hold back are held back this long at most. */
const MAX_RETRY_AFTER_MS = 300_000

interface PlaceOptions {
  order: DialOrder
  events: DialEvents
  /** Those to try, in order; the first has a place for the call. */
  trunks: readonly ActiveTrunk[]
  /** One way alone, over the first of them. */
  target?: Target
  stack: SipStack
  refuse(detail: string): void
  /** The call is under way, and can be hung up. */
  took(control: CallControl): void
  /** The call is over; called exactly once. */
  left(): void
}

interface Way {
  readonly active: ActiveTrunk
  readonly target: Target
}

/**
 * Places one call: tries one address after the other, over one trunk after the other, until one accepts it or gives a
 * final refusal. Resolves when the first INVITE is on its way, or the call failed.
 */
export async function placeCall(options: PlaceOptions): Promise<void> {
  const pair = await options.stack.ports.take().catch(() => undefined)
  if (pair === undefined) {
    options.refuse('no ports for media are free')
    options.trunks[0]?.leave()
    options.left()
    return
  }
  await new Placing(options, pair).start()
}

class Placing {
  readonly #options: PlaceOptions
  readonly #pair: MediaPair
  /** Trunks not tried yet. */
  readonly #trunks: ActiveTrunk[]
  #ways: Way[] = []
  /** The trunk whose place the call takes. */
  #entered: ActiveTrunk
  #call: OutboundCall | undefined
  #hungUp = false
  /** Its ports and its place are given back. */
  #isGiven = false
  #redirections = 0
  #why = ''

  constructor(options: PlaceOptions, pair: MediaPair) {
    this.#options = options
    this.#pair = pair
    const [first, ...rest] = options.trunks
    if (first === undefined) throw new TypeError('A call needs a trunk')
    this.#entered = first
    this.#trunks = rest
    options.took({ hangUp: () => this.#hangUp() })
  }

  async start(): Promise<void> {
    const { target } = this.#options
    this.#ways = target === undefined ? await this.#waysOf(this.#entered) : [{ active: this.#entered, target }]
    return this.#next()
  }

  async #waysOf(active: ActiveTrunk): Promise<Way[]> {
    await active.locating
    const targets = active.candidates(this.#nowMs)
    if (this.#trunks.length > 0 && targets.every((target) => active.isSilent(target, this.#nowMs))) {
      // It is left alone for its minute, as long as another trunk can be asked.
      this.#why = `trunk "${active.trunk.name}" at ${active.authority} does not answer`
      active.figures.failedOver()
      return []
    }
    if (targets.length === 0) this.#why = active.unreachable ?? `"${active.nextHop.host}" has no address`
    return targets.map((target) => ({ active, target }))
  }

  get #nowMs(): number {
    return this.#options.stack.context.clock.monotonicMs()
  }

  #hangUp(): void {
    this.#hungUp = true
    this.#call?.hangUp()
  }

  /** Asks the next address; none is left: the last one's word stands. */
  async #next(): Promise<void> {
    for (;;) {
      if (this.#hungUp) return this.#give(() => this.#options.events.failed('canceled'))
      const way = this.#ways.shift()
      if (way === undefined) {
        if (await this.#switchTrunk()) continue
        return this.#give(() => this.#options.refuse(this.#why))
      }
      const flow = await this.#flowOf(way)
      if (flow === undefined) continue
      if (this.#hungUp) continue
      this.#invite(way, flow)
      return
    }
  }

  async #flowOf({ active, target }: Way): Promise<Flow | undefined> {
    const { stack } = this.#options
    try {
      return await stack.flowTo(active, target)
    } catch (err) {
      active.silent(target, this.#nowMs)
      if (this.#ways.length > 0 || this.#trunks.length > 0) active.figures.failedOver()
      const { name } = active.trunk
      stack.context.log.warn({ err, trunk: name, address: target.address }, 'The trunk can not be reached')
      this.#why = `trunk "${name}" can not be reached: ${err instanceof Error ? err.message : String(err)}`
      return undefined
    }
  }

  /** Leaves the trunk that failed for the next that has a place. */
  async #switchTrunk(): Promise<boolean> {
    for (;;) {
      const next = this.#trunks.shift()
      if (next === undefined) return false
      if (next.enter(this.#nowMs) !== undefined) continue
      this.#entered.leave()
      this.#entered = next
      this.#ways = await this.#waysOf(next)
      return true
    }
  }

  /** The call came to nothing: everything is given back before it is said. */
  #give(say: () => void): void {
    this.#isGiven = true
    this.#options.stack.ports.release(this.#pair)
    this.#entered.leave()
    this.#options.left()
    say()
  }

  #invite(way: Way, flow: Flow, to = this.#options.order.to): void {
    const { order, events, stack } = this.#options
    const { active, target } = way
    const { context } = stack
    const { trunk } = active
    const { username, password, settings } = trunk
    const pair = this.#pair
    const home = homeOf(flow)
    const at = active.isExtension ? home.authority : active.authority
    const local = { address: flow.local.host, port: pair.rtp.port, sessionId: context.random.bits(32) }
    const user = settings.auth_username ?? username
    const isLast = this.#ways.length === 0 && this.#trunks.length === 0
    const quick = !isLast || active.isSilent(target, this.#nowMs)
    const media = new CallMedia(local, trunk.codecs, settings.media_encryption, {
      peer: flow.address,
      maySendTo: (address) => active.maySendMediaTo(address, flow.address),
    })
    const authenticator =
      user === undefined ? undefined : new Authenticator({ username: user, password: password ?? '' }, context.token)
    let leg: RtpLeg | undefined
    let answeredMs = 0
    const call = new OutboundCall({
      presence: presenceOf(
        trunk,
        active.isExtension ? home : { authority: at, host: active.host },
        active.isExtension ? toPhone(order, to) : { from: order.from, to, ...forWhom(order, active.host) },
      ),
      contact: contactName(trunk),
      routes: active.route === undefined ? [] : [active.route],
      flow,
      media,
      authenticator,
      allows: (address) => active.allows(address) || address === flow.address,
      lead: (dialog, own) =>
        attendedCalls({
          ...{ context, flow, media, leg: own, authenticator, contact: contactName(trunk), from: dialog.localAddress },
          may: (target) => mayLead(active, target, caseOf(active, order)),
          allows: (address) => active.allows(address) || address === flow.address,
        }),
      ringTimeoutMs: order.ringTimeoutMs,
      silenceMs: quick ? QUICK_SILENCE_MS : SILENCE_MS,
      context,
      events: {
        ringing: () => events.ringing(),
        carrier(figures) {
          if (figures.pddMs !== undefined) active.figures.rang(figures.pddMs)
          const named = { trunk: trunk.name, ...figures }
          if (leg === undefined) events.carrier?.(named)
          else leg.known(named)
        },
        leg: (agreement) =>
          new RtpLeg({
            ...{ pair, agreement },
            control: {
              answer: () => undefined,
              hangUp: (reason) => call.hangUp(reason),
              transfer: async (to, by) =>
                active.isExtension ? 'refused' : call.transfer(referTarget(active, to, caseOf(active, by), at)),
            },
            allows: (address) => active.allowsMedia(address, flow.address),
            released: () => {
              context.keepMessages(order.callId, call.callId, true)
              active.figures.talked(this.#nowMs - answeredMs)
              stack.ports.release(pair)
              this.#entered.leave()
              this.#options.left()
            },
            ...{ pacer: context.pacer, clock: context.clock, random: context.random },
            log: context.log.child({ callId: order.callId }),
          }),
        answered: (made) => {
          active.answers(target)
          active.counted(200)
          answeredMs = this.#nowMs
          context.keepMessages(order.callId, call.callId, false)
          leg = made
          this.#options.took({
            hangUp: () => made.hangUp('api_hangup'),
            transfer: (to, by) => made.transfer(to, by),
          })
          made.known({ callId: call.callId, trunk: trunk.name, sipStatus: 200 })
          const hand = boundary('sip', (): void => events.answered(made, 'unknown'))
          // The dialog must stand before the session may say anything.
          const { answer_delay_ms: delayMs, answer_wait_ms: waitMs } = settings
          if (waitMs > 0) made.awaitWords(Math.max(waitMs, delayMs), hand)
          else if (delayMs > 0) context.timers.after(delayMs, hand)
          else queueMicrotask(hand)
        },
        failed: (ending, rang) => {
          this.#failed(way, flow, ending, rang).catch((error: unknown) => {
            caught('sip', error)
            // An abandoned call would keep its ports and its place for good.
            if (!this.#isGiven) this.#give(() => events.failed('carrier'))
          })
        },
      },
    })
    this.#call = call
  }

  async #failed(way: Way, flow: Flow, ending: Ending, rang: boolean): Promise<void> {
    const { events, order, stack } = this.#options
    if (this.#call !== undefined) stack.context.keepMessages(order.callId, this.#call.callId, true)
    const { active, target } = way
    if (this.#hungUp) {
      events.carrier?.({ releasedBy: 'patchbay', cause: 'canceled' })
      return this.#give(() => events.failed('canceled'))
    }
    active.counted(ending.status)
    if (ending.status === 0) active.silent(target, this.#nowMs)
    else if (ending.status === 503 && ending.retryAfterS) {
      active.silent(target, this.#nowMs, Math.min(ending.retryAfterS * 1_000, MAX_RETRY_AFTER_MS))
    } else active.answers(target)
    const redirected = this.#redirection(active, ending)
    if (redirected !== undefined && 'to' in redirected) return this.#invite(way, flow, redirected.to)
    if (redirected !== undefined) {
      const { reason } = redirected.refusal
      const detail = `${ending.status} led elsewhere: ${redirected.refusal.detail}`
      stack.gatekeeper.refuse(reason, order.to, detail, { callId: order.callId, trunk: active.trunk.name })
      events.carrier?.(endFigures(ending))
      return this.#give(() => this.#options.refuse(detail))
    }
    const { failure, detail, elsewhere } = failureOf(ending)
    // The callee was alerted: don't call them again.
    const goOn = elsewhere && !rang && ending.ours !== 'stalled' && (this.#ways.length > 0 || this.#trunks.length > 0)
    if (ending.status === 0) {
      const { name } = active.trunk
      this.#why = active.isExtension
        ? `a phone of ${name} does not answer`
        : `trunk "${name}" at ${active.authority} ${ending.ours === 'stalled' ? 'took the call and never said that it rings' : 'does not answer'}`
    }
    if (goOn) {
      active.figures.failedOver()
      if (ending.status !== 0) this.#why = detail.replace(/^SIP error: /, '')
      return this.#next()
    }
    events.carrier?.(endFigures(ending))
    if (ending.status === 0) return this.#give(() => this.#options.refuse(this.#why))
    return this.#give(() => events.failed(failure, detail))
  }

  /** Where a 3xx leads: the first of its contacts that may be called; all are refused: why the first is. */
  #redirection(active: ActiveTrunk, { status, contacts = [] }: Ending): ReturnType<typeof redirectTarget> {
    if (status < 300 || status >= 400 || this.#redirections >= MAX_REDIRECTIONS) return undefined
    const by = caseOf(active, this.#options.order)
    const own = contacts.map((contact) => redirectTarget(active, contact, by)).filter((led) => led !== undefined)
    const led = own.find((one) => 'to' in one) ?? own[0]
    if (led !== undefined && 'to' in led) this.#redirections++
    return led
  }
}

/** We are the server of our phones. */
function homeOf({ local }: Flow): { authority: string; host: string } {
  return { authority: `${formatHost(local.host)}:${local.port}`, host: local.host }
}

/** Phones of ours see who really calls. */
function toPhone({ onBehalfOf, from }: DialOrder, to: string): { from: string; to: string; displayName?: string } {
  return onBehalfOf === undefined ? { from, to } : { from: onBehalfOf, to, displayName: onBehalfOf }
}

/** A diverted call names its original target and the diverting party (RFC 5806). */
function forWhom({ onBehalfOf, from }: DialOrder, host: string): { displayName?: string; headers?: SipHeader[] } {
  if (onBehalfOf === undefined) return {}
  const diversion = `<sip:${from}@${formatHost(host)}>;reason=unconditional`
  return { displayName: onBehalfOf, headers: [{ name: 'diversion', value: diversion }] }
}
