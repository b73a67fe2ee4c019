import { type Static, Type } from 'typebox'
import { MAX_EXTERNAL_ID_CHARS, MetadataMap } from '../../runtime/call/types/metadata.ts'
import { DynamicVariables } from '../../runtime/conversation/variables.ts'
import { instantOf } from '../../runtime/lib/zoned-time.ts'
import { itemId } from '../../store/batches/batch-rows.ts'
import type { BatchItem, BatchWithProgress } from '../../store/batches/batches.ts'
import { type Fault, Id, Instant, NameInput, Nullable, PhoneNumberInput, parseInstant } from '../schema.ts'

export const BatchBody = Type.Object({
  batch_id: Id,
  workspace_id: Id,
  name: Type.String(),
  agent_id: Nullable(Id),
  agent_phone_number: Type.String(),
  status: Type.Enum(['pending', 'scheduled', 'running', 'paused', 'completed', 'canceled'], {
    description: '`pending` waits for send; `canceled`: by request, or because its agent was deleted.',
  }),
  scheduled_time: Nullable(Instant),
  timezone: Type.String(),
  counts: Type.Object({
    total: Type.Integer(),
    pending: Type.Integer(),
    in_progress: Type.Integer(),
    completed: Type.Integer(),
    failed: Type.Integer({ description: 'Rows without a valid number count here from the start.' }),
    duplicates: Type.Integer({ description: 'Rows whose number an earlier row has. They are called like the others.' }),
  }),
  created_at: Instant,
  started_at: Nullable(Instant),
  finished_at: Nullable(Instant),
  updated_at: Instant,
})

export const BatchItemBody = Type.Object({
  id: Id,
  phone_number: Type.String({ description: 'E.164; as the file has it where it is no phone number.' }),
  status: Type.Enum(['pending', 'in_progress', 'completed', 'failed']),
  call_log_id: Type.Optional(Type.String({ format: 'uuid', description: 'Present when a call was made.' })),
  agent_version: Type.Optional(
    Type.Integer({ description: 'The version of the agent that talks; present once it is chosen.' }),
  ),
  dynamic_variables: Type.Record(Type.String(), Type.String()),
  external_id: Nullable(Type.String({ description: 'Of the column `external_id`.' })),
  metadata: MetadataMap({ description: 'Of the columns named `metadata[key]`.' }),
  error: Type.Optional(Type.String({ description: 'Present on failure.' })),
  truncated: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Fields that are not whole here, for they are over 32 KiB or the page is large.',
    }),
  ),
})

const PhoneColumn = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: 'The column with the numbers, as the file has it. Default: the one called `phone_number`.',
  }),
)

export const PreviewForm = Type.Object({ phone_column: PhoneColumn })

export const UploadForm = Type.Object({
  phone_column: PhoneColumn,
  name: NameInput,
  agent_id: Type.String({ maxLength: 100 }),
  agent_phone_number: PhoneNumberInput('A registered number, which the callees see.'),
  scheduled_time: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'ISO 8601; without an offset it is read in `timezone`. Up to ten minutes ago counts as now. Left out: the batch waits for send.',
    }),
  ),
  timezone: Type.Optional(Type.String({ format: 'time-zone', maxLength: 100, description: 'IANA zone; default UTC.' })),
})

/** A batch in one JSON body. */
export const BatchInput = Type.Object({
  ...Type.Omit(UploadForm, ['phone_column']).properties,
  rows: Type.Array(
    Type.Object({
      phone_number: Type.String({
        maxLength: 500,
        description: 'E.164, an extension or a SIP URI; an invalid one makes its row fail.',
      }),
      dynamic_variables: Type.Optional(DynamicVariables({})),
      external_id: Type.Optional(
        Type.String({ maxLength: MAX_EXTERNAL_ID_CHARS, description: 'As a dynamic variable, too.' }),
      ),
      metadata: Type.Optional(MetadataMap()),
    }),
    {
      minItems: 1,
      maxItems: 1_000,
      description: 'At most 1,000, within the bounds of a JSON body; more come as a file.',
    },
  ),
})

const Count = Type.Integer({ minimum: 0 })

export const BatchPreviewBody = Type.Object({
  filename: Type.String(),
  phone_column: Nullable(Type.String({ description: 'Null: none is called `phone_number`; name one.' })),
  columns: Type.Array(Type.Object({ name: Type.String(), samples: Type.Array(Type.String()) })),
  rows: Type.Object({
    total: Count,
    judged: Type.Integer({ minimum: 0, description: 'The first 50,000 of them. The counts below are of these.' }),
    called: Count,
    duplicates: Type.Integer({
      minimum: 0,
      description: 'Numbers of an earlier row; they are called like the others.',
    }),
    invalid: Count,
    do_not_call: Count,
  }),
  skipped: Type.Array(
    Type.Object({
      line: Type.Integer({ description: 'In the file; the header is line 1.' }),
      code: Type.Enum(['invalid_number', 'do_not_call']),
      reason: Type.String(),
      phone_number: Type.String({ description: 'As the file has it.' }),
    }),
    { description: 'The first 100 rows that would not be called.' },
  ),
})

export const batchPreviewExample: Static<typeof BatchPreviewBody> = {
  filename: 'arrivals.csv',
  phone_column: 'phone_number',
  columns: [
    { name: 'phone_number', samples: ['+14155550199', 'none'] },
    { name: 'first_name', samples: ['Ada', 'Bob'] },
  ],
  rows: { total: 2, judged: 2, called: 1, duplicates: 0, invalid: 1, do_not_call: 0 },
  skipped: [{ line: 3, code: 'invalid_number', reason: 'Invalid phone number format', phone_number: 'none' }],
}

export const batchExample: Static<typeof BatchBody> = {
  batch_id: '0197f3a2-7c1e-7000-8000-00000000000b',
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  name: 'Renewals of March',
  agent_id: '0197f3a2-7c1e-7000-8000-000000000003',
  agent_phone_number: '+14155550100',
  status: 'scheduled',
  scheduled_time: '2026-03-02T14:00:00.000Z',
  timezone: 'America/New_York',
  counts: { total: 3, pending: 2, in_progress: 0, completed: 0, failed: 1, duplicates: 0 },
  created_at: '2026-02-27T10:00:00.000Z',
  started_at: null,
  finished_at: null,
  updated_at: '2026-02-27T10:00:00.000Z',
}

export const batchItemExample: Static<typeof BatchItemBody> = {
  id: '0197f3a2-7c1e-7000-8000-00000000000c',
  phone_number: '+14155550199',
  status: 'completed',
  call_log_id: '0197f3a2-7c1e-7000-8000-000000000004',
  dynamic_variables: { first_name: 'Ada' },
  external_id: 'crm-1815',
  metadata: { deal: '4711' },
}

export function batchBody(batch: BatchWithProgress): Static<typeof BatchBody> {
  const { total, completed, failed, duplicates } = batch
  const inProgress = batch.in_progress ?? 0
  return {
    batch_id: batch.id,
    workspace_id: batch.workspace_id,
    name: batch.name,
    agent_id: batch.agent_id,
    agent_phone_number: batch.agent_phone_number,
    status: batch.status,
    scheduled_time: batch.scheduled_time?.toISOString() ?? null,
    timezone: batch.timezone,
    counts: {
      total,
      pending: total - completed - failed - inProgress,
      in_progress: inProgress,
      completed,
      failed,
      duplicates,
    },
    created_at: batch.created_at.toISOString(),
    started_at: batch.started_at?.toISOString() ?? null,
    finished_at: batch.finished_at?.toISOString() ?? null,
    updated_at: batch.updated_at.toISOString(),
  }
}

/** The item as JSON text: its variables may be large, and are not read only to be written again. */
export function batchItemText(batchId: string, item: BatchItem): string {
  const {
    dynamic_variables: _,
    metadata: __,
    ...rest
  } = {
    id: itemId(batchId, item.seq),
    phone_number: item.phoneNumber,
    status: item.status,
    ...(item.callId === null ? {} : { call_log_id: item.callId }),
    ...(item.agentVersion === null ? {} : { agent_version: item.agentVersion }),
    dynamic_variables: {},
    external_id: item.externalId,
    metadata: {},
    ...(item.error === null ? {} : { error: item.error }),
    ...(item.cut && { truncated: ['dynamic_variables'] }),
  } satisfies Static<typeof BatchItemBody>
  return `${JSON.stringify(rest).slice(0, -1)},"dynamic_variables":${item.variables},"metadata":${item.metadata}}`
}

const OFFSET = /[T ].*(Z|[+\- ]\d\d:?\d\d)$/i

/** A client's own now is past when it arrives, and its clock may be behind. */
const LATE_IS_NOW_MS = 600_000

/** When a batch starts, or what is wrong with the fields. */
export function readSchedule(
  fields: Pick<Static<typeof UploadForm>, 'scheduled_time' | 'timezone'>,
  nowMs: number,
  place: 'form' | 'body' = 'form',
): { scheduledTime: Date | null; timezone: string } | Fault {
  const timezone = fields.timezone ?? 'UTC'
  const text = fields.scheduled_time
  const wall = text === undefined ? undefined : parseInstant(text)
  if (text === undefined || wall === undefined) return { scheduledTime: null, timezone }
  const scheduledTime = OFFSET.test(text) ? wall : new Date(instantOf(wall.getTime(), timezone))
  if (scheduledTime.getTime() < nowMs - LATE_IS_NOW_MS) {
    const msg = 'must not be more than ten minutes in the past'
    return { loc: [place, 'scheduled_time'], msg, type: 'value_error' }
  }
  return { scheduledTime: new Date(Math.max(scheduledTime.getTime(), nowMs)), timezone }
}
