import { relay } from '../../../runtime/call/control/relay.ts'
import type { Leg, LegEvents } from '../../../runtime/call/types/leg.ts'
import type { Clock } from '../../../runtime/lib/clock.ts'
import type { DialEvents } from '../../../runtime/plugin-sdk/telephony/carrier.ts'
import type { Timers } from '../transaction/timers.ts'

/** As long as people talk who forget to hang up. */
const MAX_CALL_MS = 4 * 3_600_000

/** Joins a caller who is one of our extensions with another one: no agent takes part. */
export function joinExtensions(options: {
  caller: Leg
  /** Rings the other one. */
  dial(events: DialEvents): void
  hangUp(): void
  clock: Clock
  timers: Timers
}): void {
  const { caller, dial, hangUp, clock, timers } = options
  let second: Leg | undefined
  let over = false
  const stopClock = timers.after(MAX_CALL_MS, () => end('max_duration'))
  function end(reason: string): void {
    if (over) return
    over = true
    stopClock()
    caller.close(reason)
    if (second === undefined) hangUp()
    else second.close(reason)
  }
  caller.start(
    listener(
      () => second,
      () => end('caller_hangup'),
      caller,
      clock,
    ),
  )
  dial({
    ringing: () => undefined,
    answered: (leg) => {
      if (over) {
        leg.close('canceled')
        return
      }
      second = leg
      leg.start(
        listener(
          () => caller,
          () => end('callee_hangup'),
          leg,
          clock,
        ),
      )
      leg.answer()
      caller.answer()
    },
    failed: (failure) => end(failure),
  })
}

/** Hands what one side says and presses to the other. */
function listener(other: () => Leg | undefined, ended: () => void, own: Leg, clock: Clock): LegEvents {
  let pass: ReturnType<typeof relay> | undefined
  return {
    audio: (bytes, timestamp) => {
      const to = other()
      if (to === undefined) return
      pass ??= relay(own.format, to.format, clock)
      for (const run of pass(bytes, timestamp)) (to.relayAudio ?? to.sendAudio).call(to, run)
    },
    dtmf: (digit) => other()?.sendDtmf?.(digit),
    text: () => undefined,
    played: () => undefined,
    ended,
  }
}
