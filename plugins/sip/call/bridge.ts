import type { Clock } from '../../../runtime/clock.ts'
import { codecFor } from '../../../runtime/media/codec.ts'
import { JitterBuffer } from '../../../runtime/media/jitter.ts'
import { Resampler } from '../../../runtime/media/resample.ts'
import type { PhoneNumber } from '../../../runtime/phone-number.ts'
import type { LegEvents } from '../../../runtime/session/leg.ts'
import type { RtpLeg } from '../media/rtp-leg.ts'
import type { SipStack } from '../stack.ts'
import { refusalOf } from './destination.ts'
import { placeCall } from './outgoing.ts'
import type { Transferred } from './transfer.ts'

/** How long the one the caller is led to may take to pick up; the caller stays with the agent meanwhile. */
const RING_TIMEOUT_MS = 30_000
const JITTER = { maxWaitMs: 40, maxFillMs: 200, conceal: true }

export interface BridgeOptions extends Transferred {
  from: PhoneNumber
  to: PhoneNumber
  stack: SipStack
}

/**
 * Leads a caller to another number where the trunk takes no REFER: we call it over the same trunk, and join the two once
 * it picks up. Resolves with true once it rings there, with false when it doesn't; then the call goes on as it was.
 */
export async function bridge({ callId, leg, from, to, active, stack }: BridgeOptions): Promise<boolean> {
  const { context, gatekeeper } = stack
  const { trunk } = active
  const log = context.log.child({ callId })
  if (trunk.host === '') return false
  const forbidden = refusalOf(to, from, trunk)
  if (forbidden !== undefined) {
    gatekeeper.refuse(forbidden.reason, to, forbidden.detail, { callId, trunk: trunk.name })
    return false
  }
  const busy = active.enter(context.clock.monotonicMs())
  if (busy !== undefined) {
    gatekeeper.refuse(busy, to, `Trunk "${trunk.name}" has its cap of calls`, { callId, trunk: trunk.name })
    return false
  }
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const fail = (why: string): void => {
    log.warn({ why }, 'The transfer came to nothing; the caller stays with the agent')
    resolve(false)
  }
  let hangUp = (): void => undefined
  const cancel = (): void => hangUp()
  leg.gone.addEventListener('abort', cancel, { once: true })
  await placeCall({
    order: { callId, workspaceId: trunk.workspaceId, from, to, ringTimeoutMs: RING_TIMEOUT_MS },
    // The caller's codec: what one says goes to the other as it is.
    codecs: [leg.codec],
    events: {
      ringing: () => {
        leg.ringing(to)
        resolve(true)
      },
      answered(other) {
        resolve(true)
        join(leg, other as RtpLeg, context.clock)
      },
      failed: (failure, detail) => fail(detail ?? failure),
    },
    ...{ trunks: [active], stack },
    refuse: fail,
    took: (control) => {
      hangUp = control.hangUp
      if (leg.gone.aborted) hangUp()
    },
    left: () => {
      leg.ringing(undefined)
      leg.gone.removeEventListener('abort', cancel)
    },
  })
  return promise
}

/** Both hear each other, and when one leaves, so does the other. */
function join(leg: RtpLeg, other: RtpLeg, clock: Clock): void {
  other.start(relay(other, leg, clock, () => leg.hangUp('transferred')))
  if (!leg.join(relay(leg, other, clock, () => other.hangUp('transferred')))) other.hangUp('caller_hangup')
}

/** What one side says and presses goes to the other, put into order. */
function relay(from: RtpLeg, to: RtpLeg, clock: Clock, over: () => void): LegEvents {
  const { decode } = codecFor(from.format)
  const { encode } = codecFor(to.format)
  const jitter = new JitterBuffer({ sampleRateHz: from.format.sampleRateHz, ...JITTER })
  const resampler = new Resampler(from.format.sampleRateHz, to.format.sampleRateHz)
  return {
    audio(bytes, timestamp) {
      for (const run of jitter.push(decode(bytes), timestamp, clock.monotonicMs())) {
        to.relayAudio(encode(resampler.push(run)))
      }
    },
    dtmf: (key) => to.sendDtmf(key),
    ended: over,
    text: () => undefined,
    played: () => undefined,
  }
}
