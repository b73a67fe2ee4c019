import { type Static, Type } from 'typebox'
import type { StoredRequest } from '../../store/redis/request-log.ts'
import { AddedSince, CursorQuery } from '../cursor.ts'
import { Id, Instant, Nullable } from '../schema.ts'

const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const

export const RequestsQuery = Type.Object({
  ...CursorQuery,
  updated_since: AddedSince,
  status: Type.Optional(Type.Enum([...STATUS_CLASSES], { description: 'Only answers of this class.' })),
  api_key_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only requests of this key.' })),
})

export const RequestBody = Type.Object({
  request_id: Type.String({ description: 'The x-request-id of the request and its answer.' }),
  answered_at: Instant,
  method: Type.String(),
  path: Type.String({ description: 'With the names of its parameters, without their values and the query.' }),
  status: Type.Integer(),
  duration_ms: Type.Number({ description: 'To the answer; of a stream, to its beginning.' }),
  api_key_id: Id,
  api_key_name: Type.String({ description: 'As it was called then.' }),
  error: Nullable(
    Type.Object({
      code: Type.String({ description: 'What kind of error it was.' }),
      body: Type.String({ description: 'The body of the answer, its first 2,000 characters.' }),
    }),
  ),
})

export function requestBody({
  id,
  atMs,
  method,
  path,
  status,
  durationMs,
  key,
  fault,
}: StoredRequest): Static<typeof RequestBody> {
  return {
    request_id: id,
    answered_at: new Date(atMs).toISOString(),
    method,
    path,
    status,
    duration_ms: durationMs,
    api_key_id: key.id,
    api_key_name: key.name,
    error: fault ?? null,
  }
}

export const requestExample: Static<typeof RequestBody> = {
  request_id: '7b0c1e9e-9d9f-4a34-9b52-6a3d5a5a9b10',
  answered_at: '2026-01-31T09:00:00.000Z',
  method: 'GET',
  path: '/calls/{call_log_id}',
  status: 404,
  duration_ms: 2.4,
  api_key_id: '0197f3a2-7c1e-7000-8000-00000000000a',
  api_key_name: 'CRM',
  error: { code: 'call_log_not_found', body: '{"detail":"Call log not found"}' },
}
