import type { ToolSpec } from '../../runtime/call/types/agent-spec.ts'
import { nextOpening } from '../../runtime/dialing/eligibility.ts'
import type { CallingRules } from '../../runtime/dialing/rules.ts'
import type { Places } from '../../runtime/dialing/zones.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import { instantOf, isTimeZone } from '../../runtime/lib/zoned-time.ts'
import { addDoNotCall } from '../../store/campaigns/do-not-call.ts'
import { campaignOfCall, keepCallBack } from '../../store/campaigns/prospect-calls.ts'
import type { Store } from '../../store/database/database.ts'
import { policyOf } from '../../workers/dialer/policy.ts'

/** What an agent may do in a campaign's calls besides its own tools. */

const MAX_WORDS_CHARS = 500
const MAX_DAYS_AHEAD = 90
const DAY_MS = 86_400_000

const SPECS: Readonly<Record<'do_not_call' | 'call_back', ToolSpec>> = {
  do_not_call: {
    name: 'do_not_call',
    description:
      'The callee asks not to be called again, in whatever words. Use it at once, confirm that they will not be called again, and say goodbye.',
    parameters: {
      type: 'object',
      properties: { words: { type: 'string', description: 'What they said, word for word' } },
      required: ['words'],
    },
    kind: 'http',
  },
  call_back: {
    name: 'call_back',
    description: 'The callee asks to be called at another time. Tell them the time that comes back.',
    parameters: {
      type: 'object',
      properties: {
        at: { type: 'string', description: "Date and time in the callee's own time zone, as 2026-01-31T15:30" },
      },
      required: ['at'],
    },
    kind: 'http',
  },
}

/** The tools of a campaign's call; an agent's own of the same name goes before. */
export function campaignToolSpecs(
  wanted: readonly ('do_not_call' | 'call_back')[],
  own: readonly { name: string }[],
): ToolSpec[] {
  return wanted.filter((name) => !own.some((tool) => tool.name === name)).map((name) => SPECS[name])
}

/** The same of a running call. */
export async function toolsOfCampaign(
  store: Store,
  callId: string,
  own: readonly { name: string }[],
): Promise<ToolSpec[]> {
  const found = await campaignOfCall(store, callId)
  return campaignToolSpecs(found?.campaign.agent_tools ?? [], own)
}

/** Runs one of them; undefined when the call has no such tool. The answer is for the language model. */
export async function runCampaignTool(
  services: { store: Store; calling: { rules: CallingRules; places: Places }; clock: Clock },
  callId: string,
  name: string,
  input: Record<string, unknown>,
): Promise<string | undefined> {
  if (name !== 'do_not_call' && name !== 'call_back') return undefined
  const { store, calling, clock } = services
  const found = await campaignOfCall(store, callId)
  if (found === undefined || !found.campaign.agent_tools.includes(name)) return undefined
  const { tenant, campaign, phone, prospectId, zones, regions } = found
  const nowMs = clock.nowMs()
  if (name === 'do_not_call') {
    const words = cleanText(String(input.words ?? ''), MAX_WORDS_CHARS)
    await addDoNotCall(tenant, [{ phone, reason: 'Asked in a call', source: 'call', callId, words }], new Date(nowMs))
    return 'They will not be called again. Confirm it and say goodbye.'
  }
  const [zone] = zones
  if (prospectId === undefined || zone === undefined || !isTimeZone(zone)) return 'A call back is not possible here.'
  const wall = Date.parse(`${String(input.at ?? '').replace(/(Z|[+-]\d\d:?\d\d)$/i, '')}Z`)
  if (Number.isNaN(wall)) return 'That is no date and time; use the form 2026-01-31T15:30.'
  const wanted = instantOf(wall, zone)
  if (wanted <= nowMs) return 'That time is over; ask for a later one.'
  if (wanted > nowMs + MAX_DAYS_AHEAD * DAY_MS)
    return `That is more than ${MAX_DAYS_AHEAD} days ahead; ask for an earlier time.`
  const at = nextOpening({ zones, regions }, policyOf(campaign, calling.places), calling.rules, wanted)
  if (at === undefined) return 'They may not be called then; ask for another day.'
  await keepCallBack(tenant, prospectId, new Date(at))
  const shown = new Intl.DateTimeFormat('en-US', { timeZone: zone, dateStyle: 'full', timeStyle: 'short' }).format(at)
  return `They will be called back on ${shown}, their time.`
}
