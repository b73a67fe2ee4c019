import { type Static, Type } from 'typebox'
import { EVIDENCE, turnEvidence } from '../../runtime/call/log/turn-evidence.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { cutRecording } from '../../runtime/recording/cut-recording.ts'
import { wavHead } from '../../runtime/recording/wav.ts'
import { callEventsOf } from '../../store/calls/call-events.ts'
import { turnInRecording } from '../../store/calls/turn-in-recording.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { defineRoute, Reply } from '../route.ts'
import { call_log_id, requireCall } from './one-call.ts'
import { TurnBody, turnBody, turnExample } from './turn-schema.ts'

/** Why a turn was as it was: what each stage took, which tools and passages it used, who served, and how it sounded. */

const tag = 'Calls'
const TIMEOUT_MS = 10_000

const list = defineRoute({
  method: 'GET',
  path: '/calls/{call_log_id}/turns',
  auth: 'jwt_or_key',
  role: 'member',
  params: { call_log_id },
  query: ListQuery,
  success: { status: 200, schema: ListOf(TurnBody) },
  errors: ['call_log_not_found'],
  tag,
  summary: 'The turns of a call, with what became of each',
  description:
    "The agent's turns carry what happened since the caller's: latency by stage, tools, passages of the knowledge base with their scores, tokens and providers. All of it comes from the call's events and is kept as long as they are; the words stay.",
  examples: { success: [turnExample] },
  handler: async ({ params, query, tenant }, { config }) => {
    const call = await requireCall(tenant, params.call_log_id)
    const events = await callEventsOf(tenant, { id: call.id, createdAt: call.created_at }, EVIDENCE)
    const evidence = turnEvidence(events)
    return listOf(
      call.turns.map((turn): Static<typeof TurnBody> => turnBody(call, turn, evidence[turn.seq], config.publicUrl)),
      query,
    )
  },
})

const audio = defineRoute({
  method: 'GET',
  path: '/calls/{call_log_id}/turns/{turn}/audio',
  auth: 'jwt_or_key',
  audit: [],
  role: 'member',
  params: { call_log_id, turn: { description: 'Its place in the transcript, from 0.', example: '1' } },
  success: { status: 200, schema: Type.String(), contentType: 'audio/wav' },
  errors: ['call_log_not_found', 'turn_not_found', 'recording_not_found', 'provider_fault'],
  tag,
  summary: 'How a turn sounded',
  description: "WAV in stereo, the caller on the left, the agent on the right: the turn's seconds of the recording.",
  handler: async ({ params, tenant, signal, log }, { objects, plugins }) => {
    const call = await requireCall(tenant, params.call_log_id)
    const turn = call.turns.find(({ seq }) => String(seq) === params.turn)
    if (turn === undefined) throw new PatchbayError('turn_not_found')
    if (call.recording_key === null) throw new PatchbayError('recording_not_found')
    const span = await turnInRecording(tenant, call, turn)
    const limit = signalWithin(TIMEOUT_MS, signal)
    const cut = await cutRecording(objects, call.recording_key, span, limit).catch((cause: Error) => {
      if (signal.aborted) throw cause
      log.warn({ err: cause, callId: call.id }, 'A part of a recording could not be read')
      const provider = plugins.titleOf(plugins.chosen('objectstore'))
      throw new PatchbayError('provider_fault', { params: { provider, detail: cause.message }, cause })
    })
    if (cut === undefined) throw new PatchbayError('recording_not_found')
    return new Reply({
      stream: joined(wavHead(cut.sampleRateHz, cut.dataBytes), cut.frames),
      headers: [
        ['content-type', 'audio/wav'],
        ['content-disposition', `inline; filename="call-${call.id}-turn-${turn.seq}.wav"`],
        ['cache-control', 'private, no-store'],
      ],
    })
  },
})

async function* joined(head: Uint8Array, rest: AsyncIterable<Uint8Array> | undefined): AsyncGenerator<Uint8Array> {
  yield head
  if (rest !== undefined) yield* rest
}

export const turnRoutes = [list, audio]
