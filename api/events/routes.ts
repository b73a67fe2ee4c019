import { type Static, Type } from 'typebox'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { joinSignals } from '../../runtime/lib/async/join-signals.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { Store } from '../../store/database/database.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import {
  eventsAfter,
  type FeedPosition,
  isPlaceGone,
  lastPlace,
  parsePlace,
  placeBefore,
  placeOfEvent,
  placeText,
  type StoredEvent,
  timeOf,
} from '../../store/events/workspace-events.ts'
import { eventMessage } from '../../workers/webhooks/event-data.ts'
import { call_log_id, requireCall } from '../calls/one-call.ts'
import { isUuid } from '../ids.ts'
import { type ApiRequest, type Auth, defineRoute, Reply } from '../route.ts'
import { Id, Instant, parseInstant, ValidationError } from '../schema.ts'
import { eventData } from './data.ts'
import { followCall } from './live-call.ts'
import { EventQueue, eventText, MAX_STREAM_S, STREAM_HEADERS } from './server-sent.ts'
import { asksForEvents, isAskedFor, messageExample } from './types.ts'

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
const EventPage = Type.Object({
  items: Type.Array(
    Type.Object({ id: Id, type: Type.String(), workspace_id: Id, created_at: Instant, data: Type.Unknown() }),
  ),
  next: Type.String({ description: 'The `after` of the next request, also where there is nothing more now.' }),
  has_more: Type.Boolean(),
})

const SSE = { status: 200, schema: Type.String(), contentType: 'text/event-stream' } as const

const ofWorkspace = defineRoute({
  method: 'GET',
  path: '/events',
  auth: 'jwt_or_key',
  role: 'member',
  headers: ['last-event-id', 'accept'],
  query: Type.Object({
    after: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'As `Last-Event-ID`, which goes before it: a place or the `id` of an event.',
      }),
    ),
    since: Type.Optional(
      Type.String({ format: 'date-time', description: 'Without a place: from the first event since then on.' }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 500, default: 100, description: 'Events an answer of JSON.' }),
    types: Type.Optional(
      Type.String({
        maxLength: 1_000,
        default: '*',
        description: 'As of webhooks, with commas: `call.*,batch.completed`.',
      }),
    ),
    wait_s,
  }),
  success: {
    status: 200,
    schema: EventPage,
    events: 'Unless `Accept` asks for JSON. `id` is the place, `event` the type, `data` what a webhook is sent.',
  },
  errors: ['quota_reached', 'events_gone'],
  tag,
  summary: 'What happens in the workspace, as it happens',
  description:
    'With `Accept: application/json` what there is after the place, and where to go on; else server-sent events. From now on, or after `Last-Event-ID` or `after`, at most 30 days back: `0-0` has all that is kept. A place is the `id` of a stream’s event, or the `id` within an event, which webhooks get too. None is skipped and none comes twice. A workspace may have 20 streams of a node.',
  examples: {
    query: { types: 'call.*', wait_s: 0 },
    success: { items: [messageExample('call.ended')], next: '7421-318', has_more: false },
  },
  handler: async (request, { live, store, config, clock }) => {
    const { query, tenant, signal } = request
    const types = (query.types ?? '*').split(',').map((type) => type.trim())
    const unknown = types.find((type) => !asksForEvents(type))
    if (unknown !== undefined) {
      throw new ValidationError([
        { loc: ['query', 'types'], msg: `${JSON.stringify(unknown)} is no type of event`, type: 'enum' },
      ])
    }
    const place = await placeAsked(request, store, clock)
    if (/\bapplication\/json\b/i.test(request.header('accept'))) {
      return new Reply({ body: await pageAfter(store, config.publicUrl, tenant, { place, types, limit: query.limit }) })
    }
    requireRoom(live.workspace.count(tenant.workspaceId))
    const queue = new EventQueue()
    const close = await live.workspace.open(tenant.workspaceId, types, place, queue)
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
    const until = joinSignals(signal, over.signal)
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

/** The place a request names. Throws 422 for an unknown one, and `events_gone`. */
async function placeAsked(
  request: Pick<ApiRequest<string, Auth, 'member'>, 'header' | 'tenant'> & {
    query: { after?: string; since?: string }
  },
  store: Store,
  clock: Clock,
): Promise<FeedPosition | undefined> {
  const { query, tenant } = request
  const header = request.header('last-event-id')
  const text = header === '' ? (query.after ?? '') : header
  if (text === '') {
    const since = query.since === undefined ? undefined : parseInstant(query.since)
    return since && (await placeBefore(tenant, since))
  }
  const place = parsePlace(text) ?? (isUuid(text) ? await placeOfEvent(tenant, text) : undefined)
  if (place !== undefined && !(await isPlaceGone(store, place))) return place
  const isOld = isUuid(text) && timeOf(text) < clock.nowMs() - KEPT_MS
  if (place !== undefined || isOld) throw new PatchbayError('events_gone')
  const loc = header === '' ? ['query', 'after'] : ['header', 'Last-Event-ID']
  const msg = 'is no event of this workspace: send the `id` of one, or 0-0 for all that is kept'
  throw new ValidationError([{ loc, msg, type: 'value_error' }])
}

const KEPT_MS = 30 * 86_400_000
/** Read at once: those of other types are skipped. */
const READ_AT_ONCE = 500
/** Turns of reading for one answer; a rare type may need another request. */
const MOST_TURNS = 20

/** What there is after the place, and where to go on. */
async function pageAfter(
  store: Store,
  publicUrl: string,
  tenant: Tenant,
  asked: { place: FeedPosition | undefined; types: readonly string[]; limit: number },
): Promise<Static<typeof EventPage>> {
  let place = asked.place ?? (await lastPlace(store))
  const wanted: StoredEvent[] = []
  let hasMore = true
  for (let turn = 0; turn < MOST_TURNS && hasMore && wanted.length < asked.limit; turn++) {
    const [found = []] = await eventsAfter(store, [{ workspaceId: tenant.workspaceId, place }], READ_AT_ONCE)
    hasMore = found.length === READ_AT_ONCE
    for (const event of found) {
      if (wanted.length === asked.limit) {
        hasMore = true
        break
      }
      place = { transaction: event.transaction, seq: event.seq }
      if (isAskedFor(event.type, asked.types)) wanted.push(event)
    }
  }
  const data = await eventData(store, publicUrl, wanted)
  const items = wanted.map((event, i) => eventMessage(event, data[i] ?? {}))
  return { items, next: placeText(place), has_more: hasMore } as Static<typeof EventPage>
}

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
