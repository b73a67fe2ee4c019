import { type CallingPolicy, judgePlace, Moment, nextOpening, type PlaceHold } from './eligibility.ts'
import type { CallingRules } from './rules.ts'
import type { Whereabouts } from './zones.ts'

/** Why a waiting prospect is not called right now. */
export const HOLDS = [
  'unknown_zone',
  'state',
  'holiday',
  'window',
  'list_inactive',
  'do_not_call',
  'consent',
  'attempt_cap',
  'retry_wait',
  'number_cap',
] as const
type HoldReason = (typeof HOLDS)[number] | PlaceHold

export interface Hold {
  reason: HoldReason
  untilMs: number | undefined
  sentence: string
}

interface HeldProspect {
  where: Whereabouts
  listActive: boolean
  consentAtMs: number | undefined
  nextAttemptMs: number | undefined
  /** What the dialer found out about the number itself when it last looked. */
  noted: { reason: string; sentence: string } | undefined
}

/** The first of what holds it, in the order of HOLDS; undefined: it may be called. */
export function holdOf(
  prospect: HeldProspect,
  policy: CallingPolicy & { consentRequired: boolean },
  rules: CallingRules,
  nowMs: number,
): Hold | undefined {
  const { where, listActive, consentAtMs, nextAttemptMs, noted } = prospect
  const place = judgePlace(where, policy, rules, new Moment(nowMs))
  if (!place.open) {
    const fromMs = Math.max(nowMs, nextAttemptMs ?? nowMs)
    return { reason: place.reason, untilMs: nextOpening(where, policy, rules, fromMs), sentence: place.sentence }
  }
  if (!listActive) return { reason: 'list_inactive', untilMs: undefined, sentence: 'The list is not active' }
  if (policy.consentRequired && consentAtMs === undefined) {
    return { reason: 'consent', untilMs: undefined, sentence: 'No consent is on record' }
  }
  if (nextAttemptMs !== undefined && nextAttemptMs > nowMs) {
    const untilMs = nextOpening(where, policy, rules, nextAttemptMs)
    if (noted !== undefined) return { reason: noted.reason as HoldReason, untilMs, sentence: noted.sentence }
    return { reason: 'retry_wait', untilMs, sentence: 'The next attempt waits for its time' }
  }
  return undefined
}
