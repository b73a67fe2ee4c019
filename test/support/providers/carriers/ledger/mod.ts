import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Leg, LegEvents } from '../../../../../runtime/call/types/leg.ts'
import { definePlugin } from '../../../../../runtime/plugin/contract.ts'
import type { DialFailure } from '../../../../../runtime/plugin-sdk/telephony/carrier.ts'

const TALK_MS = 300

/**
 * A carrier that notes who it was asked to call, and when. The file is named by the process that is to be killed. With
 * `TEST_LEDGER_MIX` the last digit says what becomes of a call; without it everybody is busy.
 */
export default definePlugin({
  telephony: () => ({
    async dial({ callId, to }, events) {
      appendFileSync(
        process.env.TEST_LEDGER ?? '',
        `${to} ${callId} ${Math.round(performance.timeOrigin + performance.now())}\n`,
      )
      // Meanwhile nothing but the mark says that the call was dialled.
      await sleep(250)
      events.ringing()
      const outcome = process.env.TEST_LEDGER_MIX ? (MIX[to.slice(-2)] ?? MIX[to.slice(-1)] ?? 'busy') : 'busy'
      setTimeout(() => (outcome === 'answers' ? events.answered(phone(), 'human') : events.failed(outcome)), 20)
    },
    async hangup() {},
    lookup: async () => 'unknown',
  }),
})

const MIX: Readonly<Record<string, DialFailure | 'answers'>> = {
  '0': 'no_answer',
  '1': 'answers',
  '2': 'answers',
  '3': 'no_answer',
  '5': 'invalid_number',
  '7': 'rejected',
  // A trunk that is dead.
  '86': 'carrier',
  // Few: a number from which many calls are blocked rests for an hour.
  '66': 'blocked',
}

/** Somebody who hangs up soon after they hear the agent. */
function phone(): Leg {
  let events: LegEvents | undefined
  return {
    format: { encoding: 'pcmu', sampleRateHz: 8_000 },
    start: (to) => {
      events = to
    },
    answer: () => void setTimeout(() => events?.ended('caller_hangup'), TALK_MS),
    sendAudio() {},
    clear() {},
    mark() {},
    agentState() {},
    transcript() {},
    error() {},
    close() {},
  }
}
