import { Type } from 'typebox'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { call_log_id, requireCall } from '../calls/one-call.ts'
import { defineRoute, Reply } from '../route.ts'
import { ValidationError } from '../schema.ts'
import { followCall } from './live-call.ts'
import { EventQueue, eventText, MAX_STREAM_S, STREAM_HEADERS } from './server-sent.ts'
import { asksForEvents, messageExample } from './types.ts'

const tag = 'Events'
const MAX_STREAMS = 20

const wait_s = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: MAX_STREAM_S,
    default: MAX_STREAM_S,
    description: 'Ends after so many seconds; 0: after what is there now. Clients come back by themselves.',
  }),
)
const SSE = { status: 200, schema: Type.String(), contentType: 'text/event-stream' } as const

const ofWorkspace = defineRoute({
  method: 'GET',
  path: '/events',
  auth: 'jwt_or_key',
  role: 'member',
  headers: ['last-event-id'],
  query: Type.Object({
    types: Type.Optional(
      Type.String({
        maxLength: 1_000,
        default: '*',
        description: 'As of webhooks, with commas: `call.*,batch.completed`.',
      }),
    ),
    wait_s,
  }),
  success: { ...SSE, description: 'Server-sent events: `event` the type, `data` what a webhook is sent.' },
  errors: ['quota_reached'],
  tag,
  summary: 'What happens in the workspace, as it happens',
  description:
    'From now on, or after `Last-Event-ID`, at most 30 days back: browsers send it by themselves when they come back. None is skipped and none comes twice. A workspace may have 20 streams of a node.',
  examples: {
    query: { types: 'call.*', wait_s: 0 },
    success: eventText({ id: '7421-318', event: 'call.ended', data: messageExample('call.ended') }),
  },
  handler: async (request, { live }) => {
    const { query, tenant, signal } = request
    const types = (query.types ?? '*').split(',').map((type) => type.trim())
    const unknown = types.find((type) => !asksForEvents(type))
    if (unknown !== undefined) {
      throw new ValidationError([
        { loc: ['query', 'types'], msg: `${JSON.stringify(unknown)} is no type of event`, type: 'enum' },
      ])
    }
    requireRoom(live.workspace.count(tenant.workspaceId))
    const queue = new EventQueue()
    const close = await live.workspace.open(tenant.workspaceId, types, request.header('last-event-id'), queue)
    return streamed(queue, query.wait_s ?? MAX_STREAM_S, signal, close)
  },
})

const ofCall = defineRoute({
  method: 'GET',
  path: '/calls/{call_log_id}/events/live',
  auth: 'jwt_or_key',
  audit: [],
  role: 'member',
  headers: ['last-event-id'],
  params: { call_log_id },
  query: Type.Object({ wait_s }),
  success: { ...SSE, description: "Server-sent events: `event` the type, `data` an event of the call's log." },
  errors: ['call_log_not_found', 'quota_reached'],
  tag,
  summary: 'What happens in a call, as it happens',
  description:
    'The log of the call so far, then each event as it happens, until the call is over. Partial words and what is being heard are shown too; they have no id.',
  examples: {
    query: { wait_s: 0 },
    success: eventText({
      id: '9',
      event: 'turn',
      data: {
        seq: 9,
        at: '2026-01-31T09:00:05.010Z',
        at_ms: 3810,
        type: 'turn',
        text: 'When do you open?',
        start_ms: 2600,
        end_ms: 3500,
      },
    }),
  },
  handler: async (request, { live }) => {
    const { params, query, tenant, signal, log } = request
    const call = await requireCall(tenant, params.call_log_id)
    requireRoom(live.callStreams.get(tenant.workspaceId) ?? 0)
    const last = /^\d{1,9}$/.exec(request.header('last-event-id'))
    const queue = new EventQueue()
    const over = new AbortController()
    const until = AbortSignal.any([signal, over.signal])
    live.add(tenant.workspaceId, queue)
    const begun = Promise.withResolvers<void>()
    const options = { feed: live.calls, queue, signal: until, caughtUp: begun.resolve }
    followCall(tenant, call, last === null ? 0 : Number(last[0]) + 1, options)
      .catch((err) => {
        if (!until.aborted) log.warn({ err, callId: call.id }, 'A live call could not be followed')
        queue.close()
      })
      .finally(begun.resolve)
    await begun.promise
    return streamed(queue, query.wait_s ?? MAX_STREAM_S, signal, () => {
      over.abort()
      live.remove(tenant.workspaceId, queue)
    })
  },
})

function requireRoom(open: number): void {
  if (open >= MAX_STREAMS)
    throw new PatchbayError('quota_reached', { params: { quota: `${MAX_STREAMS} live streams` } })
}

/** @param close is called at any end, also if reading never began */
function streamed(queue: EventQueue, seconds: number, signal: AbortSignal, close: () => void): Reply {
  signal.addEventListener('abort', boundary('http', close))
  // A client that left meanwhile aborted the signal before the listener was added.
  if (signal.aborted) close()
  return new Reply({ stream: closing(queue.read(seconds, signal), close), headers: STREAM_HEADERS })
}

async function* closing(stream: AsyncGenerator<string>, close: () => void): AsyncGenerator<string> {
  try {
    yield* stream
  } finally {
    close()
  }
}

export const eventRoutes = [ofWorkspace, ofCall]
