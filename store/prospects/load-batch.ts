import type { Client } from 'pg'
import { uuidv7 } from 'uuidv7'
import type { Places, Whereabouts } from '../../runtime/dialing/zones.ts'
import { WINDOW_GROUP_SQL, windowGroupKey } from '../campaigns/window-groups.ts'
import { sift } from '../database/sift.ts'
import { isRefusal } from '../database/write-rows.ts'
import { copyInto, copyText } from '../uploads/csv-copy.ts'
import { type ColumnMapping, headerOf } from './prospect-columns.ts'
import { REFUSALS, readProspectRow, UNSTORABLE_ROW } from './prospect-row.ts'
import { blockOf } from './prospect-uploads.ts'

const DAY_MS = 86_400_000

interface UploadRow {
  workspace_id: string
  campaign_id: string
  list_id: string
  dedupe: boolean
  columns: string[]
  mapping: ColumnMapping
  attested_at: Date | null
  status: string
  batches_total: number
  batches_done: number
  created_at: Date
  locale_name: string
  dupe_days: number
  expire_days: number
  /** Rows of the batches before. */
  processed: number
}

interface Known {
  /** By the names of locales: of numbers without a country code. */
  countries: ReadonlyMap<string, string>
  places: Places
  /** Ids of window groups by their key. */
  groups: Map<string, number>
}

/**
 * Loads the next batch of an upload in one transaction: the place in the file moves with the rows, so nothing is loaded twice
 * even after a crash. `gone`: the upload is over, or its list or campaign deleted. A row that the database refuses is among the rejects.
 */
export async function loadBatch(
  client: Client,
  uploadId: string,
  known: Known,
  now: Date,
): Promise<'more' | 'done' | 'gone'> {
  try {
    return await load(client, uploadId, known, now, false)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return load(client, uploadId, known, now, true)
  }
}

/** @param sifts each row that the database refuses is looked for */
async function load(
  client: Client,
  uploadId: string,
  known: Known,
  now: Date,
  sifts: boolean,
): Promise<'more' | 'done' | 'gone'> {
  await client.query('begin')
  try {
    const upload = await lockUpload(client, uploadId)
    if (upload === undefined) {
      await client.query('rollback')
      return 'gone'
    }
    const rows = await blockOf(client, uploadId, upload.batches_done)
    const records = JSON.parse(rows ?? '[]') as string[][]
    const { lines, rejects } = await read(client, upload, records, known)
    const tried = async (some: readonly string[]) => {
      await stage(client, some)
      await place(client, upload, records, now)
    }
    const unfit = sifts ? await sift(client, lines, tried) : new Set<string>()
    for (const text of unfit) rejects.push(unstorable(text, upload, records))
    await stage(
      client,
      lines.filter((text) => !unfit.has(text)),
    )
    const { refusals, duplicates, refused } = await place(client, upload, records, now)
    await reject(client, uploadId, upload.workspace_id, [...rejects, ...refusals])
    const inserted = records.length - rejects.length - refusals.length
    const done = upload.batches_done + 1 >= upload.batches_total
    await client.query(
      `update prospect_uploads set loaded = loaded + $2, duplicates = duplicates + $3, do_not_call = do_not_call + $4,
         invalid = invalid + $5, batches_done = batches_done + 1, status = $6, finished_at = $7 where id = $1`,
      [uploadId, inserted, duplicates, refused, rejects.length, done ? 'completed' : 'loading', done ? now : null],
    )
    await client.query('delete from prospect_upload_rows where upload_id = $1 and block = $2', [
      uploadId,
      upload.batches_done,
    ])
    // The first prospects need not wait for the campaign's next turn.
    if (upload.batches_done === 0) {
      await client.query('update campaign_runs set next_tick_at = least(next_tick_at, $2) where campaign_id = $1', [
        upload.campaign_id,
        now,
      ])
    }
    await client.query('commit')
    return done ? 'done' : 'more'
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** The upload, held until the end of the transaction; undefined when there is nothing to load. */
async function lockUpload(client: Client, uploadId: string): Promise<UploadRow | undefined> {
  const { rows } = await client.query<UploadRow>(
    `select u.workspace_id, u.campaign_id, u.list_id, u.dedupe, u.columns, u.mapping, u.attested_at, u.status, u.batches_total, u.batches_done,
       u.created_at, c.locale_name, c.dupe_days, c.expire_days,
       u.loaded + u.duplicates + u.invalid + u.do_not_call as processed
     from prospect_uploads u
     join prospect_lists l on l.id = u.list_id and l.deleted_at is null
     join campaigns c on c.id = u.campaign_id and c.deleted_at is null
     where u.id = $1 and u.status = 'loading' for update of u`,
    [uploadId],
  )
  const [upload] = rows
  if (upload !== undefined) {
    // The same file twice at once: the second waits, and then sees what the first has loaded.
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`prospects of ${upload.campaign_id}`])
  }
  return upload
}

interface Reject {
  line: number
  reason: string
  cells: readonly string[]
}

/** Lines of COPY for the good rows, and the others with what is wrong with them. */
async function read(client: Client, upload: UploadRow, records: readonly string[][], known: Known) {
  const country = known.countries.get(upload.locale_name) ?? 'US'
  const header = headerOf(upload.columns, upload.mapping)
  const rejects: Reject[] = []
  const lines: string[] = []
  for (const [i, record] of records.entries()) {
    // The header is line 1.
    const line = upload.processed + i + 2
    const row = readProspectRow(record, header, country)
    if (typeof row === 'string') {
      rejects.push({ line, reason: REFUSALS[row], cells: record })
      continue
    }
    const { phone, metadata, cell } = row
    const consentAt = row.consentAt ?? upload.attested_at ?? undefined
    const [state, postalCode, timezone] = [cell('state'), cell('postal_code'), cell('timezone')]
    const where = known.places.whereaboutsOf({ number: phone, state, postalCode, timezone })
    const group = await groupOf(client, where, known)
    const values: Record<string, string> = {}
    for (const [name, index] of header.variables) values[name] = record[index] ?? ''
    const cells = [
      cell('first_name'),
      cell('last_name'),
      cell('email'),
      state,
      postalCode,
      timezone,
      cell('external_id'),
    ]
    lines.push(
      [
        uuidv7(),
        String(line),
        phone,
        ...cells.map(copyText),
        copyText(JSON.stringify(values)),
        copyText(JSON.stringify(metadata)),
        consentAt?.toISOString() ?? '\\N',
        String(group),
      ].join('\t'),
    )
  }
  return { lines, rejects }
}

async function groupOf(client: Client, where: Whereabouts, { groups }: Known): Promise<number> {
  const key = windowGroupKey(where)
  let id = groups.get(key)
  if (id === undefined) {
    const { rows } = await client.query<{ id: number }>(WINDOW_GROUP_SQL, [key, where.zones, where.regions])
    id = rows[0]!.id
    groups.set(key, id)
  }
  return id
}

/** @param text a line of `read` */
function unstorable(text: string, { processed }: UploadRow, records: readonly string[][]): Reject {
  const line = Number(text.split('\t', 2)[1])
  return { line, reason: UNSTORABLE_ROW, cells: records[line - processed - 2] ?? [] }
}

async function stage(client: Client, lines: readonly string[]): Promise<void> {
  await client.query(
    `create temp table if not exists staging (
       id uuid, line integer, phone text, first_name text, last_name text, email text, state text, postal_code text,
       timezone text, external_id text, variables jsonb, metadata jsonb, consent_at timestamptz, window_group integer
     ) on commit delete rows`,
  )
  if (lines.length > 0) await copyInto(client, 'staging', [`${lines.join('\n')}\n`])
}

/** Staged rows become prospects, but for duplicates and numbers on the do-not-call list. */
async function place(client: Client, upload: UploadRow, records: readonly string[][], now: Date) {
  const { workspace_id, campaign_id, list_id, created_at, dupe_days, expire_days, processed } = upload
  const dedupe = upload.dedupe && dupe_days >= 0
  // What this very file has brought counts, however few the days.
  const since = new Date(Math.min(now.getTime() - dupe_days * DAY_MS, created_at.getTime()))
  const expiresAt = expire_days < 0 ? null : new Date(created_at.getTime() + expire_days * DAY_MS)
  const { rows } = await client.query<{ line: number; reason: 'duplicate' | 'do_not_call' }>(
    `with judged as (
       select s.*, case
         when listed.n > 0 then 'do_not_call'
         when $5 and (row_number() over (partition by s.phone order by s.line) > 1 or same.n > 0) then 'duplicate'
       end as refusal
       from staging s
       -- Asked for one by one: as conditions the planner reads all that the workspace has for them, batch after batch.
       cross join lateral (
         select count(*) as n from do_not_call d where d.workspace_id = $1 and d.phone = s.phone
       ) as listed
       cross join lateral (
         select count(*) as n from prospects p where $5 and p.workspace_id = $1 and p.phone = s.phone
           and p.campaign_id = $2 and p.created_at >= $6
       ) as same
     ), inserted as (
       insert into prospects (id, workspace_id, campaign_id, list_id, phone, first_name, last_name, email, state, postal_code,
         timezone, external_id, variables, metadata, consent_at, window_group, created_at, expires_at)
       select id, $1, $2, $3, phone, first_name, last_name, email, state, postal_code, timezone, external_id, variables,
         metadata, consent_at, window_group, $4, $7
       from judged where refusal is null order by line
     )
     select line, refusal as reason from judged where refusal is not null`,
    [workspace_id, campaign_id, list_id, created_at, dedupe, since, expiresAt],
  )
  const refusals = rows.map(({ line, reason }): Reject => {
    const cells = records[line - processed - 2] ?? []
    return { line, reason: REFUSALS[reason], cells }
  })
  const duplicates = rows.filter(({ reason }) => reason === 'duplicate').length
  return { refusals, duplicates, refused: rows.length - duplicates }
}

async function reject(
  client: Client,
  uploadId: string,
  workspaceId: string,
  rejects: readonly Reject[],
): Promise<void> {
  if (rejects.length === 0) return
  await client.query(
    `insert into prospect_rejects (upload_id, workspace_id, line, reason, cells)
     select $1, $2, * from unnest($3::integer[], $4::text[], $5::text[])`,
    [
      uploadId,
      workspaceId,
      rejects.map(({ line }) => line),
      rejects.map(({ reason }) => reason),
      rejects.map(({ cells }) => JSON.stringify(cells)),
    ],
  )
}
