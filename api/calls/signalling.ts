import { type Static, Type } from 'typebox'
import type { WireMessage } from '../../runtime/plugin-sdk/telephony/wire-message.ts'
import { laddersOf, refusedCallsPage } from '../../store/calls/signalling.ts'
import type { RefusedCallRow } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { AddedSince, CursorPage, CursorQuery, cursorOf, cursorPageOf, instantIn, partOf, timed } from '../cursor.ts'
import { defineRoute, Reply } from '../route.ts'
import { Id, Instant, Nullable } from '../schema.ts'
import { labelOf, ladderOf } from './ladder.ts'
import { call_log_id, requireCall } from './one-call.ts'
import { pcapOf } from './pcap.ts'

const SipMessageBody = Type.Object({
  leg: Type.Integer({ description: '1: the caller or callee; 2: the party that they were transferred to.' }),
  at: Instant,
  direction: Type.Enum(['in', 'out']),
  transport: Type.Enum(['udp', 'tcp', 'tls']),
  local: Type.String({ description: 'Our address and port.' }),
  remote: Type.String({ description: 'The other side’s.' }),
  label: Type.String({ description: 'Method, or status and the method it answers.' }),
  text: Type.String({ description: 'The message, without credentials, keys of media and keys that were pressed.' }),
})

const SipBody = Type.Object({
  messages: Type.Array(SipMessageBody),
  ladder: Type.String({ description: 'The same for people: one line a message.' }),
})

const example: Static<typeof SipBody> = {
  messages: [
    {
      ...{ leg: 1, at: '2026-01-31T09:00:00.000Z', direction: 'in', transport: 'udp' },
      ...{ local: '203.0.113.2:5060', remote: '192.0.2.1:5060', label: 'INVITE (SDP)' },
      text: 'INVITE sip:+14155550100@203.0.113.2 SIP/2.0\r\nCall-ID: 7f3a@192.0.2.1\r\n…',
    },
  ],
  ladder: '    0.000 s  Patchbay <----------------------------- INVITE (SDP) 192.0.2.1:5060 udp',
}

interface OfLeg {
  leg: number
  message: WireMessage
}

async function messagesOf(tenant: Tenant, callId: string): Promise<OfLeg[]> {
  const call = await requireCall(tenant, callId)
  const ladders = await laddersOf(tenant, call.id)
  const all = ladders.flatMap(({ leg, messages }) => messages.map((message) => ({ leg, message })))
  return all.sort((a, b) => a.message.atMs - b.message.atMs)
}

const sip = defineRoute({
  method: 'GET',
  path: '/calls/{call_log_id}/sip',
  auth: 'jwt_or_key',
  role: 'member',
  params: { call_log_id },
  success: { status: 200, schema: SipBody },
  errors: ['call_log_not_found'],
  tag: 'Calls',
  summary: 'The SIP messages of a call',
  description:
    'Of both its legs, in order; empty for calls that had no SIP. They are here a second after the call was answered, and whole two seconds after its end, as long as PATCHBAY_EVENTS_DAYS says.',
  examples: { success: example },
  handler: async ({ params, tenant }) => {
    const all = await messagesOf(tenant, params.call_log_id)
    return { messages: all.map(bodyOf), ladder: ladderOf(all.map(({ message }) => message)) }
  },
})

const pcap = defineRoute({
  method: 'GET',
  path: '/calls/{call_log_id}/sip.pcap',
  auth: 'jwt_or_key',
  audit: [],
  role: 'member',
  params: { call_log_id },
  success: { status: 200, schema: Type.String(), contentType: 'application/vnd.tcpdump.pcap' },
  errors: ['call_log_not_found'],
  tag: 'Calls',
  summary: 'The SIP messages of a call as a capture file',
  description: 'For Wireshark and sngrep. Signalling alone: media are in the recording.',
  handler: async ({ params, tenant }) => {
    const all = await messagesOf(tenant, params.call_log_id)
    return new Reply({
      body: pcapOf(all.map(({ message }) => message)),
      headers: [
        ['content-type', 'application/vnd.tcpdump.pcap'],
        ['content-disposition', `attachment; filename="call-${params.call_log_id}.pcap"`],
      ],
    })
  },
})

const RefusedCallBody = Type.Object({
  refused_call_id: Id,
  at: Instant,
  trunk: Nullable(Type.String({ description: 'The trunk or extension it came over.' })),
  reason: Type.String({ description: 'As the metrics count it, such as `unknown_number`, `trunk_busy`, `no_media`.' }),
  detail: Type.String({ description: 'For people: the true reason, which the caller was not told.' }),
  from_number: Nullable(Type.String()),
  to_number: Nullable(Type.String()),
  address: Type.String({ description: 'Where it came from.' }),
  sip_call_id: Type.String(),
  sip_status: Type.Integer({ description: 'What the caller got.' }),
})

const refusedExample: Static<typeof RefusedCallBody> = {
  refused_call_id: '0197f3a2-7c1e-7000-8000-000000000016',
  at: '2026-01-31T09:00:00.000Z',
  trunk: 'main',
  reason: 'unknown_number',
  detail: 'The call for "+14155550198" was turned away',
  from_number: '+14155550142',
  to_number: '+14155550198',
  address: '192.0.2.1',
  sip_call_id: '7f3a@192.0.2.1',
  sip_status: 404,
}

const refused = defineRoute({
  method: 'GET',
  path: '/refused-calls',
  auth: 'jwt_or_key',
  role: 'member',
  query: Type.Object({ ...CursorQuery, updated_since: AddedSince }),
  success: { status: 200, schema: CursorPage(RefusedCallBody) },
  tag: 'Calls',
  summary: 'Calls that came in over a trunk of the workspace and were turned away, newest first',
  description: 'Such calls have no call log: no agent was theirs. Kept as long as PATCHBAY_EVENTS_DAYS says.',
  examples: { success: { items: [refusedExample], total: 1, page: 1, page_size: 25, total_pages: 1 } },
  handler: async ({ query, tenant }) => {
    const part = partOf(query, timed(cursorOf(query)))
    const { calls, total } = await refusedCallsPage(tenant, instantIn(query.updated_since), part)
    const last = calls.at(-1)
    return cursorPageOf(calls.map(refusedBody), total, query, last && { id: last.id, at: last.sorted_by })
  },
})

export const signallingRoutes = [sip, pcap, refused]

function bodyOf({ leg, message }: OfLeg): Static<typeof SipMessageBody> {
  const { atMs, direction, transport, local, remote, text } = message
  return {
    ...{ leg, at: new Date(atMs).toISOString(), direction, transport, label: labelOf(text), text },
    local: `${local.address}:${local.port}`,
    remote: `${remote.address}:${remote.port}`,
  }
}

function refusedBody(row: RefusedCallRow): Static<typeof RefusedCallBody> {
  const { id, at, workspace_id: _, ...rest } = row
  return { refused_call_id: id, at: at.toISOString(), ...rest }
}
