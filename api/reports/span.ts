import type { SumSpan } from '../../store/calls/call-sums.ts'
import { isUuid } from '../ids.ts'
import { parseInstant, ValidationError } from '../schema.ts'

const WEEK_MS = 7 * 86_400_000
/** ISO 8601 as it is read here has no earlier instant. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z')
/** An id no agent has: a filter that isn't an id matches nothing. */
const NO_AGENT = '00000000-0000-0000-0000-000000000000'

interface SpanInput {
  start_date?: string
  end_date?: string
  agent_id?: string
  agent_version?: number
  campaign?: string
  call_type?: 'phone' | 'web'
}

/**
 * The span a report's query names. It starts 7 days before now, or before its end where that is earlier, unless the query says otherwise.
 * Throws 422 when it ends before it starts.
 */
export function spanOf(query: SpanInput, nowMs: number): SumSpan {
  const endMs = instantMs(query.end_date) ?? nowMs
  const startMs = instantMs(query.start_date) ?? Math.max(Math.min(endMs, nowMs) - WEEK_MS, FIRST_MS)
  if (startMs > endMs) {
    const loc = ['query', query.start_date === undefined ? 'end_date' : 'start_date']
    throw new ValidationError([{ loc, msg: 'start_date must not be after end_date', type: 'value_error' }])
  }
  return {
    startMs,
    endMs,
    ...(query.agent_id === undefined ? {} : { agentId: isUuid(query.agent_id) ? query.agent_id : NO_AGENT }),
    ...(query.agent_version === undefined ? {} : { agentVersion: query.agent_version }),
    ...(query.campaign === undefined ? {} : { campaignSlugs: [query.campaign] }),
    ...(query.call_type === undefined ? {} : { callType: query.call_type }),
  }
}

function instantMs(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseInstant(text)?.getTime()
}
