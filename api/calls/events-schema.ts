import { type Static, Type } from 'typebox'
import { CALL_EVENT, type CallEvent } from '../../runtime/call/log/events.ts'
import { Instant, Nullable, PageQuery } from '../schema.ts'

/** Where an event stands in its call. */
const place = {
  seq: Type.Integer({ description: 'Place in the log of the call, from 0, without gaps.' }),
  at: Instant,
  at_ms: Nullable(
    Type.Integer({ description: 'Milliseconds from the answer, before it negative; null: not answered.' }),
  ),
}
const Place = Type.Object(place)

/** An event of a call: its place, its type, and the fields of that type. */
export const CallEventBody = Type.Unsafe<Static<typeof Place> & { type: string }>(
  Type.Union(CALL_EVENT.anyOf.map(({ properties }) => Type.Object({ ...place, ...properties }))),
)

export const CallEventsQuery = Type.Object(PageQuery)

/** An event as callers of the API see it. */
export function eventBody({ seq, at, ...fields }: CallEvent, answeredAt: Date | null): Static<typeof CallEventBody> {
  const at_ms = answeredAt === null ? null : Math.round(at - answeredAt.getTime())
  return { seq, at: new Date(at).toISOString(), at_ms, ...fields }
}

const turn = { text: 'When do you open?', start_ms: 2600, end_ms: 3500 }
const answer = { text: 'We open at nine.', start_ms: 4150, end_ms: 5600, interrupted: false, final: true }
export const eventsExample = {
  items: [
    { seq: 2, at: '2026-01-31T09:00:01.200Z', at_ms: 0, type: 'answered' },
    { seq: 9, at: '2026-01-31T09:00:05.010Z', at_ms: 3810, type: 'turn', ...turn },
    { seq: 12, at: '2026-01-31T09:00:06.820Z', at_ms: 5620, type: 'heard', ...answer },
  ],
  total: 14,
  page: 1,
  page_size: 200,
  total_pages: 1,
}
