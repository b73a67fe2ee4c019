import type { CallingPolicy } from '../../runtime/dialing/eligibility.ts'
import { DEFAULT_RETRY, type Retried, type RetryPolicy, type RetryRule } from '../../runtime/dialing/retry.ts'
import type { Places } from '../../runtime/dialing/zones.ts'
import type { Campaign } from '../../store/database/schema.ts'

/** A campaign's row as the pure rooms want it. */

export function statesOf(text: string): string[] {
  return text.split(',').flatMap((state) => (state.trim() === '' ? [] : [state.trim()]))
}

export function policyOf(campaign: Campaign, places: Places): CallingPolicy & { consentRequired: boolean } {
  return {
    earliest: campaign.earliest_prospect_time,
    latest: campaign.latest_prospect_time,
    days: campaign.calling_days,
    holidays: campaign.holidays,
    ignoredRegions: statesOf(campaign.ignore_states).flatMap((state) => places.regionOf(state) ?? []),
    filterHolidays: campaign.filter_holidays,
    consentRequired: campaign.consent_required,
  }
}

export function retryPolicyOf(campaign: Campaign): RetryPolicy {
  const retry: Partial<Record<Retried, RetryRule>> = { ...DEFAULT_RETRY }
  for (const [outcome, { after_minutes, other_part_of_day }] of Object.entries(campaign.retry)) {
    retry[outcome as Retried] = { afterMinutes: after_minutes, otherPartOfDay: other_part_of_day ?? false }
  }
  return {
    retry,
    maxNumberCalls: campaign.max_number_calls,
    minMinutesBetween: campaign.min_time_between_calls,
    voicemailResolves: campaign.voicemail_resolves,
  }
}
