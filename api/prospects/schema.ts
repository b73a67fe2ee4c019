import { type Static, Type } from 'typebox'
import { MetadataMap } from '../../runtime/call/types/metadata.ts'
import { HOLDS, type Hold } from '../../runtime/dialing/hold.ts'
import { OUTCOMES } from '../../runtime/dialing/retry.ts'
import type { WindowGroup } from '../../store/campaigns/window-groups.ts'
import type { Prospect, ProspectAttempt, ProspectUpload } from '../../store/database/schema.ts'
import type { ListWithCounts } from '../../store/prospects/prospect-lists.ts'
import { Id, Instant, Nullable } from '../schema.ts'

const Count = Type.Integer({ minimum: 0 })
const RESOLUTIONS = [
  'reached',
  'voicemail',
  'exhausted',
  'expired',
  'do_not_call',
  'invalid_number',
  'opted_out',
  'canceled',
  'failed',
] as const

export const UploadBody = Type.Object({
  uuid: Id,
  status: Type.Enum(['loading', 'completed', 'failed']),
  filename: Type.String(),
  rows: Type.Object({ total: Count, loaded: Count, duplicates: Count, invalid: Count, do_not_call: Count }),
  batches: Type.Object({ total: Count, done: Count }),
  consent_attested: Nullable(
    Type.Object({ by: Type.String(), at: Instant }, { description: 'Who said that everybody in the file agreed.' }),
  ),
  error: Nullable(Type.String()),
  created_at: Instant,
  finished_at: Nullable(Instant),
})

export const ProspectListBody = Type.Object({
  list_uuid: Id,
  list_slug: Type.String(),
  name: Type.String(),
  campaign: Type.String({ description: "The campaign's slug." }),
  active: Type.Boolean({ description: 'An inactive list is not dialled.' }),
  prospects: Count,
  unresolved: Count,
  uploads: Type.Array(UploadBody),
  created_at: Instant,
})

const Held = Type.Object({
  reason: Type.Enum([...HOLDS]),
  until: Nullable(Instant),
  sentence: Type.String(),
})

export const ProspectBody = Type.Object({
  uuid: Id,
  list_uuid: Id,
  prospect_uuid: Type.String({ format: 'uuid', description: 'As `uuid`: what calls and events call it.' }),
  campaign: Type.String({ description: "The campaign's slug." }),
  campaign_slug: Type.String({ description: 'As `campaign`: what calls and events call it.' }),
  campaign_id: Id,
  primary_phone: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  email: Type.String(),
  state: Type.String(),
  postal_code: Type.String(),
  timezones: Type.Array(Type.String(), { description: 'Every zone whose hours must be open; none: unknown.' }),
  variables: Type.Record(Type.String(), Type.String()),
  consent_at: Nullable(Instant),
  external_id: Type.String(),
  metadata: MetadataMap(),
  call_log_id: Nullable(Type.String({ format: 'uuid', description: 'The last call to it.' })),
  status: Type.Enum(['waiting', 'calling', 'resolved']),
  resolution: Nullable(Type.Enum([...RESOLUTIONS])),
  resolution_reason: Nullable(Type.String({ description: 'What the carrier said, with `failed`.' })),
  disposition: Nullable(Type.Enum([...OUTCOMES], { description: 'What the last attempt came to.' })),
  attempts: Count,
  last_attempt_at: Nullable(Instant),
  next_attempt_at: Nullable(Instant),
  held: Nullable(Held),
  expires_at: Nullable(Instant),
  created_at: Instant,
  updated_at: Instant,
})

const AttemptBody = Type.Object({
  n: Type.Integer({ minimum: 1 }),
  call_log_id: Id,
  agent_version: Nullable(Type.Integer({ description: 'The version of the agent that talked.' })),
  at: Instant,
  ended_at: Nullable(Instant),
  from: Type.String(),
  outcome: Nullable(Type.Enum([...OUTCOMES])),
  charged: Type.Boolean({ description: 'Counts among the attempts.' }),
  skipped: Nullable(Type.Object({ reason: Type.String(), sentence: Type.String() })),
  checks: Type.Record(Type.String(), Type.String(), { description: 'What was looked at before it was dialled.' }),
})

export const ProspectWithAttempts = Type.Object({
  ...ProspectBody.properties,
  history: Type.Array(AttemptBody),
})

export const uploadExample: Static<typeof UploadBody> = {
  uuid: '0197f3a2-7c1e-7000-8000-000000000023',
  status: 'completed',
  filename: 'leads.csv',
  rows: { total: 500, loaded: 488, duplicates: 7, invalid: 4, do_not_call: 1 },
  batches: { total: 1, done: 1 },
  consent_attested: { by: 'Ada Lovelace', at: '2026-01-31T09:00:00.000Z' },
  error: null,
  created_at: '2026-01-31T09:00:00.000Z',
  finished_at: '2026-01-31T09:00:01.000Z',
}

export const listExample: Static<typeof ProspectListBody> = {
  list_uuid: '0197f3a2-7c1e-7000-8000-000000000022',
  list_slug: 'renewals',
  name: 'Renewals',
  campaign: 'renewals',
  active: true,
  prospects: 488,
  unresolved: 320,
  uploads: [uploadExample],
  created_at: '2026-01-31T09:00:00.000Z',
}

export const prospectExample: Static<typeof ProspectBody> = {
  uuid: '0197f3a2-7c1e-7000-8000-000000000024',
  list_uuid: listExample.list_uuid,
  prospect_uuid: '0197f3a2-7c1e-7000-8000-000000000024',
  campaign: 'renewals',
  campaign_slug: 'renewals',
  campaign_id: '0197f3a2-7c1e-7000-8000-000000000021',
  primary_phone: '+14155550199',
  first_name: 'Ada',
  last_name: 'Lovelace',
  email: '',
  state: 'CA',
  postal_code: '',
  timezones: ['America/Los_Angeles'],
  variables: { plan: 'gold' },
  consent_at: '2026-01-02T00:00:00.000Z',
  external_id: 'crm-17',
  metadata: { deal: '4711' },
  call_log_id: '0197f3a2-7c1e-7000-8000-000000000004',
  status: 'waiting',
  resolution: null,
  resolution_reason: null,
  disposition: 'busy',
  attempts: 1,
  last_attempt_at: '2026-01-31T18:00:00.000Z',
  next_attempt_at: '2026-01-31T18:30:00.000Z',
  held: { reason: 'retry_wait', until: '2026-01-31T18:30:00.000Z', sentence: 'The next attempt waits for its time' },
  expires_at: '2026-05-01T09:00:00.000Z',
  created_at: '2026-01-31T09:00:00.000Z',
  updated_at: '2026-01-31T18:00:20.000Z',
}

export const prospectWithAttemptsExample: Static<typeof ProspectWithAttempts> = {
  ...prospectExample,
  history: [
    {
      n: 1,
      call_log_id: '0197f3a2-7c1e-7000-8000-000000000004',
      agent_version: 3,
      at: '2026-01-31T18:00:00.000Z',
      ended_at: '2026-01-31T18:00:20.000Z',
      from: '+14155550100',
      outcome: 'busy',
      charged: true,
      skipped: null,
      checks: {
        window: '10:00 in America/Los_Angeles',
        do_not_call: 'not listed',
        consent: '2026-01-02T00:00:00.000Z',
      },
    },
  ],
}

const iso = (at: Date | null): string | null => at?.toISOString() ?? null

export function uploadBody(upload: ProspectUpload): Static<typeof UploadBody> {
  const { id, status, filename, total, loaded, duplicates, invalid, do_not_call, error } = upload
  return {
    uuid: id,
    status,
    filename,
    rows: { total, loaded, duplicates, invalid, do_not_call },
    batches: { total: upload.batches_total, done: upload.batches_done },
    consent_attested:
      upload.attested_by === null || upload.attested_at === null
        ? null
        : { by: upload.attested_by, at: upload.attested_at.toISOString() },
    error,
    created_at: upload.created_at.toISOString(),
    finished_at: iso(upload.finished_at),
  }
}

export function prospectListBody(
  list: ListWithCounts,
  uploads: readonly ProspectUpload[],
): Static<typeof ProspectListBody> {
  return {
    list_uuid: list.id,
    list_slug: list.slug,
    name: list.name,
    campaign: list.campaign_slug,
    active: list.active,
    prospects: list.prospects,
    unresolved: list.unresolved,
    uploads: uploads.filter((upload) => upload.list_id === list.id).map(uploadBody),
    created_at: list.created_at.toISOString(),
  }
}

export function prospectBody(
  prospect: Prospect,
  of: { campaign: string; group: WindowGroup | undefined; hold: Hold | undefined; expiresAt: Date | null },
): Static<typeof ProspectBody> {
  const { hold } = of
  return {
    uuid: prospect.id,
    list_uuid: prospect.list_id,
    prospect_uuid: prospect.id,
    campaign: of.campaign,
    campaign_slug: of.campaign,
    campaign_id: prospect.campaign_id,
    primary_phone: prospect.phone,
    first_name: prospect.first_name,
    last_name: prospect.last_name,
    email: prospect.email,
    state: prospect.state,
    postal_code: prospect.postal_code,
    timezones: [...(of.group?.zones ?? [])],
    variables: prospect.variables,
    consent_at: iso(prospect.consent_at),
    external_id: prospect.external_id,
    metadata: prospect.metadata,
    call_log_id: prospect.last_call_id,
    status: prospect.status,
    resolution: prospect.resolution as Static<typeof ProspectBody>['resolution'],
    resolution_reason: prospect.resolution_reason,
    disposition: prospect.disposition as Static<typeof ProspectBody>['disposition'],
    attempts: prospect.attempts,
    last_attempt_at: iso(prospect.last_attempt_at),
    next_attempt_at: iso(prospect.next_attempt_at),
    held:
      hold === undefined
        ? null
        : {
            reason: hold.reason,
            until: hold.untilMs === undefined ? null : new Date(hold.untilMs).toISOString(),
            sentence: hold.sentence,
          },
    expires_at: iso(prospect.status === 'waiting' ? of.expiresAt : prospect.expires_at),
    created_at: prospect.created_at.toISOString(),
    updated_at: prospect.updated_at.toISOString(),
  }
}

export function attemptBody(attempt: ProspectAttempt & { agent_version: number | null }): Static<typeof AttemptBody> {
  return {
    n: attempt.n,
    call_log_id: attempt.call_id,
    agent_version: attempt.agent_version,
    at: attempt.created_at.toISOString(),
    ended_at: iso(attempt.ended_at),
    from: attempt.from_number,
    outcome: attempt.outcome as Static<typeof AttemptBody>['outcome'],
    charged: attempt.charged,
    skipped:
      attempt.skipped_for === null
        ? null
        : { reason: attempt.skipped_for, sentence: attempt.skipped_sentence ?? attempt.skipped_for },
    checks: attempt.checks,
  }
}
