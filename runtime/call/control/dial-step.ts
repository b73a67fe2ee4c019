import type { AnsweredBy } from '../../plugin-sdk/telephony/carrier.ts'
import { type DialOutcome, VOICEMAIL } from '../../plugin-sdk/telephony/outcome.ts'
import type { CallEventBody } from '../log/events.ts'
import { carrierEvent } from '../path.ts'
import type { CarrierFigures } from '../types/leg.ts'

/** A call between the order to the carrier and the answer, as a pure function. What follows the answer: session.ts. */

export type DialPhase = 'ordered' | 'ringing' | 'answered' | 'failed' | 'canceled'

export type DialEvent =
  /** What the carrier calls the call. */
  | { type: 'accepted'; carrierId: string }
  | { type: 'figures'; figures: CarrierFigures }
  | { type: 'ringing' }
  | { type: 'answered'; by: AnsweredBy }
  | { type: 'failed'; outcome: DialOutcome }
  /** We hang up. */
  | { type: 'canceled'; outcome: DialOutcome }
  /** The carrier did not confirm the order. */
  | { type: 'rejected'; outcome: DialOutcome }

export type DialEffect =
  | { type: 'log'; event: CallEventBody }
  /** The callee and the agent. */
  | { type: 'join' }
  /** Nobody waits for this leg any more. */
  | { type: 'close_leg' }
  | { type: 'end'; outcome: DialOutcome }
  /** At the carrier. */
  | { type: 'hang_up' }

export interface DialTerms {
  /** The agent says nothing to machines. */
  hangsUpOnMachines: boolean
  /** An agent waits for the answer; else the callee waits for an agent. */
  isReserved: boolean
}

interface DialStep {
  phase: DialPhase
  effects: readonly DialEffect[]
}

/** The first of an answer, a failure and a hang-up decides what becomes of the call. */
export function dialStep(phase: DialPhase, event: DialEvent, terms: DialTerms): DialStep {
  const isOpen = phase === 'ordered' || phase === 'ringing'
  const stay = (...effects: DialEffect[]): DialStep => ({ phase, effects })
  switch (event.type) {
    case 'accepted':
      return stay({ type: 'log', event: { type: 'carrier', call_id: event.carrierId } })
    case 'figures':
      // Of an answered call its leg says it.
      return phase === 'answered' ? stay() : stay({ type: 'log', event: carrierEvent(event.figures) })
    case 'ringing':
      if (phase !== 'ordered') return stay()
      return { phase: 'ringing', effects: [{ type: 'log', event: { type: 'ringing' } }] }
    case 'answered':
      if (!isOpen) return stay({ type: 'close_leg' })
      if (event.by === 'machine' && terms.hangsUpOnMachines) return canceled(VOICEMAIL)
      return {
        phase: 'answered',
        effects: [
          ...(terms.isReserved ? [] : [{ type: 'log', event: { type: 'picked_up' } } as const]),
          { type: 'join' },
        ],
      }
    case 'failed':
      return isOpen ? { phase: 'failed', effects: [{ type: 'end', outcome: event.outcome }] } : stay()
    case 'canceled':
      return isOpen ? canceled(event.outcome) : stay()
    case 'rejected':
      if (phase === 'answered') return stay()
      // The carrier may have taken the order all the same.
      if (!isOpen) return stay({ type: 'hang_up' })
      return { phase: 'failed', effects: [{ type: 'end', outcome: event.outcome }, { type: 'hang_up' }] }
  }
}

const canceled = (outcome: DialOutcome): DialStep => ({
  phase: 'canceled',
  effects: [{ type: 'end', outcome }, { type: 'hang_up' }],
})
