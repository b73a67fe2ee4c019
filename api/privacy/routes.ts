import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { cancelQueuedCall } from '../../store/calls/cancel-calls.ts'
import type { Call } from '../../store/database/schema.ts'
import { requestHangup } from '../../store/redis/hangup.ts'
import {
  callsNaming,
  callsWith,
  eraseAnswersWith,
  eraseAuditPathsWith,
  eraseCalls,
  eraseChatsWith,
  eraseDeliveryAnswersWith,
  eraseProspectsWith,
  eraseRefusedCallsWith,
  eraseRowsWith,
} from '../../store/workspaces/erasure.ts'
import { call_log_id, isOver, requireCall } from '../calls/one-call.ts'
import { requirePhoneNumber } from '../phone-number.ts'
import { defineRoute } from '../route.ts'
import { PhoneNumberInput } from '../schema.ts'
import { Detail } from '../workspaces/schema.ts'

const tag = 'Privacy'
const CALLS_AT_ONCE = 200
const deleteCall = defineRoute({
  method: 'DELETE',
  path: '/calls/{call_log_id}',
  auth: 'jwt_or_scope',
  scope: 'delete',
  role: 'admin',
  whenSuspended: 'served',
  params: { call_log_id },
  success: { status: 200, schema: Detail },
  errors: ['call_running', 'provider_fault'],
  tag,
  summary: 'Delete a call that is over, with its transcript and recording, for good',
  description: 'It is gone from the reports, too.',
  examples: { success: { detail: 'Call deleted' } },
  handler: async ({ params, tenant, signal }, { objects }) => {
    const call = await requireCall(tenant, params.call_log_id)
    if (!isOver(call)) throw new PatchbayError('call_running')
    if (call.recording_key !== null) await objects.remove(call.recording_key, signal)
    await eraseCalls(tenant, [call.id])
    return { detail: 'Call deleted' }
  },
})

const ErasedBody = Type.Object({
  calls: Type.Integer(),
  recordings: Type.Integer(),
  chats: Type.Integer(),
  batch_rows: Type.Integer(),
  prospects: Type.Integer(),
  calls_running: Type.Integer({
    description: 'Calls that were still running; they are being ended. Ask again to erase them, too.',
  }),
})

const erase = defineRoute({
  method: 'POST',
  path: '/privacy/erase',
  auth: 'jwt_or_scope',
  scope: 'privacy',
  role: 'admin',
  whenSuspended: 'served',
  body: Type.Object({ phone_number: PhoneNumberInput('The person’s number.') }),
  success: { status: 200, schema: ErasedBody },
  errors: ['provider_fault'],
  tag,
  summary: 'Erase what the workspace keeps of a person, by their phone number, for good',
  description:
    'Calls from and to the number, and those whose variables or log name it, with transcripts and recordings, chats whose session or variables name it, the rows of batches, prospects of campaigns and past attempts to reach them, what webhooks’ receivers answered, errors in the request log, and paths of the audit log. What still waits is never called. The do-not-call list keeps the number, and so do backups that were made before.',
  examples: {
    body: { phone_number: '+14155550199' },
    success: { calls: 3, recordings: 1, chats: 0, batch_rows: 2, prospects: 1, calls_running: 0 },
  },
  handler: async ({ body, tenant, signal }, { store, objects, redis, clock, requestLog }) => {
    const number = requirePhoneNumber(body.phone_number)
    // Rows first, so that no call to the number begins meanwhile.
    const [batch_rows, prospects] = [await eraseRowsWith(tenant, number), await eraseProspectsWith(tenant, number)]
    const erased = { calls: 0, recordings: 0, chats: 0, batch_rows, prospects, calls_running: 0 }
    const running = new Set<string>()
    /** How many of the calls are over, and gone now. */
    const eraseThose = async (found: readonly Pick<Call, 'id' | 'status' | 'recording_key'>[]): Promise<number> => {
      const ended: string[] = []
      for (const { id, status, recording_key } of found) {
        signal.throwIfAborted()
        const over = isOver({ status }) || (await cancelQueuedCall(tenant, id, new Date(clock.nowMs())))
        if (!over) {
          running.add(id)
          continue
        }
        if (recording_key !== null) {
          await objects.remove(recording_key, signal)
          erased.recordings++
        }
        ended.push(id)
      }
      await eraseCalls(tenant, ended)
      erased.calls += ended.length
      return ended.length
    }
    while ((await eraseThose(await callsWith(tenant, number, running.size + CALLS_AT_ONCE))) > 0);
    for (let lastId: string | undefined, first = true; first || lastId !== undefined; first = false) {
      const next = await callsNaming(tenant, number, lastId)
      await eraseThose(next.found)
      lastId = next.lastId
    }
    for (const id of running) await requestHangup(redis, id)
    erased.calls_running = running.size
    erased.chats = await eraseChatsWith(tenant, number)
    await eraseAnswersWith(tenant, number)
    await eraseRefusedCallsWith(tenant, number)
    await eraseDeliveryAnswersWith(tenant, number)
    await requestLog.erase(tenant.workspaceId, number)
    await eraseAuditPathsWith(store, tenant.workspaceId, number)
    return erased
  },
})

export const privacyRoutes = [deleteCall, erase]
