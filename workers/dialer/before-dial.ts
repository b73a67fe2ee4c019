import { judgePlace, Moment } from '../../runtime/dialing/eligibility.ts'
import type { CallingRules } from '../../runtime/dialing/rules.ts'
import type { Places } from '../../runtime/dialing/zones.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { cleanText, parseCleanJson } from '../../runtime/lib/text.ts'
import { type NetRule, parseInfrastructureRule } from '../../runtime/plugin/grants/net-rule.ts'
import { ForbiddenAddress } from '../../runtime/tools/connections.ts'
import { sendRequest } from '../../runtime/tools/http-request.ts'
import { daySumsOf } from '../../store/campaigns/campaign-status.ts'
import { dialFacts } from '../../store/campaigns/dial-checks.ts'
import { variablesOf } from '../../store/campaigns/prospect-claims.ts'
import type { Call, Campaign, Prospect } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { policyOf } from './policy.ts'

const WEBHOOK_TIMEOUT_MS = 2_000
const MAX_REASON_CHARS = 300

/** Why a call is not dialled after all: a word, and a sentence for the log. */
export interface PreDialRefusal {
  reason: string
  sentence: string
}

/** The last look before the carrier is asked. */
export type DialCheck = (tenant: Tenant, call: Call, signal: AbortSignal) => Promise<PreDialRefusal | undefined>

/**
 * Calls of batches and campaigns are held to the do-not-call list; those of campaigns to their hours, pause, budget and
 * `webhook_before_dial` too. The webhook may reach what the HTTP tools of agents may.
 */
export function createDialCheck(services: {
  calling: { rules: CallingRules; places: Places }
  clock: Clock
  toolsAllowNet?: readonly string[] | undefined
}): DialCheck {
  const { calling, clock } = services
  const allowed: readonly NetRule[] = (services.toolsAllowNet ?? []).map(parseInfrastructureRule)
  return async (tenant, call, signal) => {
    if (call.batch_id === null && call.campaign_slug === null) return undefined
    const { listed, attempt } = await dialFacts(tenant, call)
    if (listed) return { reason: 'do_not_call', sentence: 'Phone number is on the do-not-call list' }
    if (attempt === undefined) return undefined
    const { campaign, prospect, zones, regions } = attempt
    if (campaign.deleted_at !== null || !campaign.active) {
      return { reason: 'inactive', sentence: 'The campaign is not active' }
    }
    if (campaign.paused) return { reason: 'paused', sentence: 'The campaign is paused' }
    if (prospect === undefined) return { reason: 'deleted', sentence: 'The prospect was deleted' }
    const now = clock.nowMs()
    const verdict = judgePlace({ zones, regions }, policyOf(campaign, calling.places), calling.rules, new Moment(now))
    if (!verdict.open) return { reason: verdict.reason, sentence: verdict.sentence }
    if (campaign.budget !== null) {
      const { cost } = await daySumsOf(tenant, campaign.id, new Date(now))
      if (cost >= campaign.budget) return { reason: 'budget_reached', sentence: 'The budget is used up' }
    }
    if (campaign.webhook_before_dial === null) return undefined
    return askWebhook(campaign.webhook_before_dial, { call, campaign, prospect }, allowed, signal)
  }
}

async function askWebhook(
  url: string,
  { call, campaign, prospect }: { call: Call; campaign: Campaign; prospect: Prospect },
  allowed: readonly NetRule[],
  signal: AbortSignal,
): Promise<PreDialRefusal | undefined> {
  const no = (sentence: string): PreDialRefusal => ({
    reason: 'webhook',
    sentence: cleanText(`webhook_before_dial: ${sentence}`, MAX_REASON_CHARS),
  })
  const limit = signalWithin(WEBHOOK_TIMEOUT_MS, signal)
  try {
    const { status, text } = await sendRequest(
      {
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({
          campaign: campaign.slug,
          prospect: prospect.id,
          phone_number: prospect.phone,
          from_number: call.from_number,
          call_log_id: call.id,
          attempt: prospect.attempt_seq,
          variables: variablesOf(prospect),
        }),
      },
      { over: { allowed }, signal: limit },
    )
    if (status !== 200) return no(`status ${status}`)
    const answer = parseCleanJson(text) as { dial?: unknown; reason?: unknown } | null
    if (answer?.dial === true) return undefined
    return no(typeof answer?.reason === 'string' ? answer.reason : 'it did not answer {"dial": true}')
  } catch (error) {
    signal.throwIfAborted()
    if (limit.aborted) return no(`no answer within ${WEBHOOK_TIMEOUT_MS} ms`)
    if (error instanceof SyntaxError) return no('its answer is no JSON')
    if (error instanceof ForbiddenAddress) return no('its address may not be reached')
    const { message, code } = error as NodeJS.ErrnoException
    return no(`it could not be reached (${code ?? message})`)
  }
}
