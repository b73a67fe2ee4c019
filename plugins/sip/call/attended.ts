import type { CallContext } from '../dialog/context.ts'
import type { Lead } from '../dialog/referral.ts'
import type { CallMedia } from '../media/call-media.ts'
import type { RtpLeg } from '../media/rtp-leg.ts'
import type { Uri } from '../message/message.ts'
import type { Authenticator } from '../transaction/authenticator.ts'
import type { Flow } from '../transport/flow.ts'
import type { ContactName } from '../trunk/presence.ts'
import { OutboundCall } from './outbound-call.ts'

const RING_TIMEOUT_MS = 30_000
const SILENCE_MS = 10_000

/**
 * Completes an attended transfer (RFC 3891): the new call replaces one that is already up, so no new call is charged to us, and
 * goes only to hosts of the call's own trunk.
 */
export function attendedCalls(options: {
  context: CallContext
  flow: Flow
  media: CallMedia
  leg: RtpLeg
  authenticator: Authenticator | undefined
  contact: ContactName | undefined
  /** This side, in brackets. */
  from: string
  /** Is the target at a host of the trunk, and an allowed destination? */
  may(target: Uri): boolean
  allows(address: string): boolean
}): Lead {
  const { context, flow, media, leg, authenticator, contact, from, may, allows } = options
  return {
    may: (target) => target.scheme.startsWith('sip') && may(target),
    call({ target, uri, replaces }, events) {
      return new OutboundCall({
        presence: {
          ...{ target: uri, from },
          headers: [
            { name: 'replaces', value: replaces },
            { name: 'require', value: 'replaces' },
          ],
        },
        // The trunk's own address where the target is a name or somewhere else.
        flow: context.flowFor(target, flow, allows),
        ...{ context, media, authenticator, contact, allows },
        ...{ ringTimeoutMs: RING_TIMEOUT_MS, silenceMs: SILENCE_MS, keepsMedia: true },
        events: {
          ringing: () => undefined,
          leg: (agreement) => {
            leg.renegotiated(agreement)
            return leg
          },
          answered: () => events.answered(),
          failed: ({ status }) => events.failed(status === 0 ? 408 : status),
        },
      })
    },
  }
}
