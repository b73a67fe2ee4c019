import type { CarrierFigures } from '../../../runtime/session/leg.ts'
import type { DialEvents, DialOrder } from '../../../runtime/telephony/carrier.ts'
import { meaningOf } from '../../../runtime/telephony/cause.ts'
import type { Trunk } from '../../../runtime/telephony/trunk.ts'
import { CallMedia } from '../media/call-media.ts'
import { type CallControl, RtpLeg } from '../media/rtp-leg.ts'
import { formatHost } from '../message/serializer.ts'
import type { SipStack } from '../stack.ts'
import { Authenticator } from '../transaction/authenticator.ts'
import type { ActiveTrunk } from '../trunk/trunk-table.ts'
import { OutboundCall } from './outbound-call.ts'
import { type Ending, failureOf } from './outcome.ts'
import { type Bridge, transferBy } from './transfer.ts'

/** A trunk that says nothing at all this long isn't there: retransmissions have come to their sixth by then. */
const SILENCE_MS = 20_000

export interface PlaceOptions {
  order: DialOrder
  events: DialEvents
  active: ActiveTrunk
  stack: SipStack
  /** Those to offer; absent: the trunk's. */
  codecs?: Trunk['codecs']
  /** Leads the callee to another number by calling it. Absent: this call can't be led on. */
  bridge?: Bridge
  refuse(detail: string): void
  /** The call is under way, and can be hung up. */
  took(control: CallControl): void
  /** It is over; called once, whatever became of it. */
  left(): void
}

/** What the call log keeps of a call nobody took. */
function endFigures({ status, q850 }: Ending, hungUp: boolean): CarrierFigures {
  if (hungUp) return { releasedBy: 'patchbay' }
  return {
    ...(status === 0 ? {} : { sipStatus: status }),
    ...(q850 === undefined ? {} : { q850 }),
    releasedBy: meaningOf({ sipStatus: status || undefined, q850 }).failure === 'carrier' ? 'carrier' : 'callee',
  }
}

/** Places one call over a trunk that has a place for it. Resolves when the INVITE is on its way, or it failed. */
export async function placeCall(options: PlaceOptions): Promise<void> {
  const { order, events, active, stack, bridge, refuse, took, left } = options
  const { context, ports } = stack
  const { trunk } = active
  const { codecs = trunk.codecs } = options
  let hungUp = false
  took({
    hangUp: () => {
      hungUp = true
    },
  })
  let why = 'no ports for media are free'
  const [flow, pair] = await Promise.all([
    stack.flowTo(active).catch((err: Error) => {
      context.log.warn({ err, trunk: trunk.name }, 'The trunk can not be reached')
      why = `trunk "${trunk.name}" can not be reached: ${err.message}`
      return undefined
    }),
    ports.take().catch(() => undefined),
  ])
  if (flow === undefined || pair === undefined || hungUp) {
    if (pair !== undefined) ports.release(pair)
    left()
    if (hungUp) events.failed('canceled')
    else refuse(why)
    return
  }
  const { username, password } = trunk
  const at = active.authority
  const local = { address: flow.local.host, port: pair.rtp.port, sessionId: context.random.bits(32) }
  let leg: RtpLeg | undefined
  const call = new OutboundCall({
    target: `sip:${order.to}@${at}`,
    from: `sip:${order.from}@${formatHost(active.host)}`,
    flow,
    media: new CallMedia(local, codecs),
    authenticator:
      username === undefined ? undefined : new Authenticator({ username, password: password ?? '' }, context.token),
    allows: (address) => active.allows(address) || address === flow.address,
    ringTimeoutMs: order.ringTimeoutMs,
    silenceMs: SILENCE_MS,
    context,
    events: {
      ringing: () => events.ringing(),
      answered(agreement) {
        const made: RtpLeg = new RtpLeg({
          ...{ pair, agreement },
          control: {
            answer: () => undefined,
            hangUp: () => call.hangUp(),
            transfer: transferBy({
              ...{ callId: order.callId, from: order.from, active, at, bridge },
              leg: () => made,
              refer: (target) => call.transfer(target),
            }),
          },
          allows: (address) => active.allows(address) || address === flow.address,
          released: () => {
            ports.release(pair)
            left()
          },
          ...{ pacer: context.pacer, clock: context.clock, random: context.random },
          log: context.log.child({ callId: order.callId }),
        })
        leg = made
        took({ hangUp: () => made.hangUp('api_hangup'), transfer: (number) => made.transfer(number) })
        // The dialog must stand before the session may say anything.
        queueMicrotask(() => events.answered(made, 'unknown'))
        return made
      },
      carrier(figures) {
        const named = { trunk: trunk.name, ...figures }
        if (leg === undefined) events.carrier?.(named)
        else leg.known(named)
      },
      failed(ending) {
        ports.release(pair)
        left()
        events.carrier?.(endFigures(ending, hungUp))
        if (hungUp) events.failed('canceled')
        else if (ending.status === 0) refuse(`trunk "${trunk.name}" at ${at} does not answer`)
        else {
          const { failure, detail } = failureOf(ending)
          events.failed(failure, detail)
        }
      },
    },
  })
  if (leg === undefined) {
    took({
      hangUp: () => {
        hungUp = true
        call.hangUp()
      },
    })
  }
}
