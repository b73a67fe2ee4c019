import { type ExpressionBuilder, type Insertable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { uuidv7 } from 'uuidv7'
import type { Metadata } from '../../runtime/call/types/metadata.ts'
import type { Store } from '../database/database.ts'
import { beyond, exactly, type ListOrder, type ListPlace } from '../database/list-place.ts'
import { matchesWords } from '../database/matches-words.ts'
import type { Call, CallsTable, CallTurn, CallType, TenantTables } from '../database/schema.ts'
import type { Tenant } from '../database/tenant.ts'
import { callSums, DAY_MS, HOUR_MS } from './call-sums.ts'

/** A call with what was said. */
export type CallWithTurns = Call & { turns: CallTurn[] }

export type NewCall = Omit<Insertable<CallsTable>, 'id'> & { id?: string }

export interface CallFilter {
  callType?: CallType | undefined
  agentId?: string | undefined
  /** Of the agent. */
  agentVersion?: number | undefined
  /** Created at this moment or later. */
  start?: Date | undefined
  /** Created before this moment. */
  end?: Date | undefined
  /** Of a list any will do. */
  statuses?: readonly Call['status'][] | undefined
  directions?: readonly Call['direction'][] | undefined
  /** Ours or theirs. */
  number?: string | undefined
  /** Digits that stand in a row in one of its numbers. */
  numberPart?: string | undefined
  /** Said in one turn, as `websearch_to_tsquery` reads them; the last word as it begins. */
  words?: string | undefined
  batchIds?: readonly string[] | undefined
  campaignSlugs?: readonly string[] | undefined
  dispositions?: readonly string[] | undefined
  externalIds?: readonly string[] | undefined
  prospectIds?: readonly string[] | undefined
  /** All of these keys and values. */
  metadata?: Metadata | undefined
  updatedSince?: Date | undefined
}

/** How a list of calls is sorted, where not by time. */
type CallOrder = ListOrder<'duration' | 'cost'>

export function insertCall(tenant: Tenant, call: NewCall): Promise<Call> {
  return tenant.db
    .insertInto('calls')
    .values({ id: uuidv7(), ...call })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The call and its turns as of one moment: of a live call no turn is shown that its status doesn't know of. */
export function callById(tenant: Tenant, id: string): Promise<CallWithTurns | undefined> {
  return tenant.db
    .selectFrom('calls')
    .selectAll('calls')
    .select((eb) =>
      jsonArrayFrom(
        eb.selectFrom('call_turns').selectAll('call_turns').whereRef('call_id', '=', 'calls.id').orderBy('seq'),
      ).as('turns'),
    )
    .where('calls.id', '=', id)
    .executeTakeFirst()
}

/** Adds what was said to each call: of each the turns that begin within MAX_LISTED_BYTES of text, the last one cut there. */
export async function withTurns<T extends Call>(
  tenant: Tenant,
  calls: readonly T[],
): Promise<(T & { turns: CallTurn[]; turns_cut: boolean })[]> {
  const turns = new Map<string, CallTurn[]>(calls.map(({ id }) => [id, []]))
  const cut = new Set<string>()
  if (calls.length > 0) {
    const rows = await tenant.db
      .selectFrom((eb) =>
        eb
          .selectFrom('call_turns')
          .selectAll()
          .select(
            sql<number>`sum(octet_length(text)) over (partition by call_id order by seq) - octet_length(text)`.as(
              'before',
            ),
          )
          .where('call_id', 'in', [...turns.keys()])
          .as('measured'),
      )
      .selectAll()
      .where('before', '<=', MAX_LISTED_BYTES)
      .orderBy('call_id')
      .orderBy('seq')
      .execute()
    for (const { before, ...row } of rows) {
      const text = cutText(row.text, MAX_LISTED_BYTES - Number(before))
      if (text !== row.text) cut.add(row.call_id)
      if (Number(before) < MAX_LISTED_BYTES) turns.get(row.call_id)?.push({ ...row, text })
      else cut.add(row.call_id)
    }
  }
  return calls.map((call) => ({ ...call, turns: turns.get(call.id) ?? [], turns_cut: cut.has(call.id) }))
}

/** The start of the text that has at most so many bytes of UTF-8; no character is split. */
function cutText(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= mostBytes) return text
  let end = mostBytes
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

/** What was said in calls of any workspace. */
export async function turnsOf(
  store: Pick<Store, 'acrossTenants'>,
  callIds: readonly string[],
): Promise<Map<string, CallTurn[]>> {
  const turns = new Map<string, CallTurn[]>()
  if (callIds.length === 0) return turns
  const query = store.acrossTenants
    .selectFrom('call_turns')
    .selectAll()
    .where('call_id', 'in', [...callIds])
  for (const turn of await query.orderBy('call_id').orderBy('seq').execute()) {
    const said = turns.get(turn.call_id) ?? []
    turns.set(turn.call_id, said)
    said.push(turn)
  }
  return turns
}

/** What says which call it is, to people and to systems of others. */
export type CallMarks = Pick<
  Call,
  | 'agent_version'
  | 'from_number'
  | 'to_number'
  | 'batch_id'
  | 'campaign_slug'
  | 'prospect_id'
  | 'external_id'
  | 'metadata'
>

/** Of calls of any workspace, by their ids. */
export async function marksOfCalls(
  store: Pick<Store, 'acrossTenants'>,
  callIds: readonly string[],
): Promise<Map<string, CallMarks>> {
  if (callIds.length === 0) return new Map()
  const rows = await store.acrossTenants
    .selectFrom('calls')
    .select([
      'id',
      'agent_version',
      'from_number',
      'to_number',
      'batch_id',
      'campaign_slug',
      'prospect_id',
      'external_id',
      'metadata',
    ])
    .where('id', 'in', [...callIds])
    .execute()
  return new Map(rows.map(({ id, ...marks }) => [id, marks]))
}

/** Later than any call. */
const END_OF_TIME_MS = Date.UTC(9999, 0)
const START_OF_TIME_MS = Date.UTC(1970, 0)

/**
 * A page of the calls, newest first, and how many there are in all, each cut to what a list shows. By what sums are kept of, page
 * 10,000 costs what page 1 costs: the sums of calls (call-sums.ts) know how many each day and hour saw, so the day, then the
 * hour in which the page begins are found by adding them up, and the index is entered there; no more rows are skipped than
 * one hour holds.
 */
export async function callsPage(
  tenant: Tenant,
  filter: CallFilter,
  page: { number: number; size: number; after?: ListPlace | undefined },
  order?: CallOrder,
): Promise<{ calls: ListedCall[]; total: number }> {
  const { number, size, after } = page
  const offset = (number - 1) * size
  if (order !== undefined) {
    const [calls, total] = await Promise.all([sortedRows(tenant, filter, order, offset, size), countOf(tenant, filter)])
    return { calls, total }
  }
  if (after !== undefined) {
    const [calls, total] = await Promise.all([
      rowsFrom(tenant, filter, undefined, 0, size, after),
      countOf(tenant, filter),
    ])
    return { calls, total }
  }
  // What is searched for has indexes of its own.
  if (isSearched(filter)) {
    const total = await countAll(tenant, filter)
    return { calls: offset < total ? await rowsFrom(tenant, filter, undefined, offset, size) : [], total }
  }
  const { startMs, endMs } = spanOf(filter)
  const day = await findBucket(tenant, filter, 'day', { startMs, endMs }, offset)
  const { total } = day
  if (day.bucketMs === undefined) return { calls: [], total }
  const inDay = { startMs: Math.max(startMs, day.bucketMs), endMs: Math.min(endMs, day.bucketMs + DAY_MS) }
  const skippedOfDay = offset - day.before
  if (skippedOfDay <= MOST_SKIPPED) {
    return { calls: await rowsFrom(tenant, filter, inDay.endMs, skippedOfDay, size), total }
  }
  const hour = await findBucket(tenant, filter, 'hour', inDay, skippedOfDay)
  const beforeMs = hour.bucketMs === undefined ? inDay.endMs : Math.min(inDay.endMs, hour.bucketMs + HOUR_MS)
  const skipped = skippedOfDay - (hour.bucketMs === undefined ? 0 : hour.before)
  return { calls: await rowsFrom(tenant, filter, beforeMs, skipped, size), total }
}

/** So many rows of an index are passed over in less time than one more question takes. */
const MOST_SKIPPED = 50

/** Filters that the sums don't know of. */
const SEARCHED = [
  ...(['number', 'numberPart', 'words'] as const),
  ...(['batchIds', 'externalIds', 'prospectIds', 'metadata', 'updatedSince'] as const),
] as const

const isSearched = (filter: CallFilter): boolean => SEARCHED.some((name) => filter[name] !== undefined)

const spanOf = ({ start, end }: CallFilter) => ({
  startMs: start?.getTime() ?? START_OF_TIME_MS,
  endMs: end?.getTime() ?? END_OF_TIME_MS,
})

async function countOf(tenant: Tenant, filter: CallFilter): Promise<number> {
  if (isSearched(filter)) return countAll(tenant, filter)
  return (await findBucket(tenant, filter, 'day', spanOf(filter), 0)).total
}

async function countAll(tenant: Tenant, filter: CallFilter): Promise<number> {
  const { count } = await matching(tenant, filter)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** The bucket that holds the row at `offset`, counted from the newest, and how many rows are in newer buckets. */
async function findBucket(
  tenant: Tenant,
  filter: CallFilter,
  span: 'hour' | 'day',
  { startMs, endMs }: { startMs: number; endMs: number },
  offset: number,
): Promise<{ total: number; bucketMs: number | undefined; before: number }> {
  const { rows } = await sql<{ total: number; bucket: Date | null; before: number | null }>`
    with summed as (
      select date_trunc(${sql.lit(span)}, at, 'UTC') as bucket, sum(n) as calls,
        sum(sum(n)) over (order by date_trunc(${sql.lit(span)}, at, 'UTC') desc) as upto
      from ${await callSums(tenant, { ...filter, startMs, endMs }, span)} as s group by 1
    )
    select (select coalesce(max(upto), 0) from summed)::bigint as total, found.bucket, found.before
    from (select) as one
    left join lateral (
      select bucket, (upto - calls)::bigint as before from summed where upto > ${Math.max(0, offset)}
      order by bucket desc limit 1
    ) as found on true`.execute(tenant.db)
  const [row] = rows
  return { total: row?.total ?? 0, bucketMs: row?.bucket?.getTime(), before: row?.before ?? 0 }
}

async function rowsFrom(
  tenant: Tenant,
  filter: CallFilter,
  beforeMs: number | undefined,
  offset: number,
  limit: number,
  after?: ListPlace,
): Promise<ListedCall[]> {
  const byChange = filter.updatedSince !== undefined
  const until = beforeMs === undefined ? filter.end : new Date(beforeMs)
  let query = await listedCalls(tenant, { ...filter, end: until }, byChange ? 'updated_at' : 'created_at')
  query = query.offset(offset).limit(limit)
  if (after !== undefined) {
    const [column, sign] = byChange ? (['updated_at', '>'] as const) : (['created_at', '<'] as const)
    query = query.where(beyond(column, sign, after))
  }
  const direction = byChange ? 'asc' : 'desc'
  return query
    .orderBy(byChange ? 'updated_at' : 'created_at', direction)
    .orderBy('id', direction)
    .execute()
}

/** The calls of a filter as a list shows them, in no order. */
async function listedCalls(tenant: Tenant, filter: CallFilter, sortedBy: 'updated_at' | 'created_at') {
  const columns = await columnsButVariables(tenant)
  return matching(tenant, filter)
    .select(columns as ['id'])
    .select([cutVariables.as('dynamic_variables'), variablesAreCut.as('variables_cut')])
    .select(exactly(sortedBy).as('sorted_by'))
    .$castTo<ListedCall>()
}

const SORTED_BY = {
  duration: sql`duration_ms`,
  cost: sql`cost_llm + cost_stt + cost_tts + platform_cost`,
} as const satisfies Record<CallOrder['by'], unknown>

/** The ids are sorted alone, and the page's rows are read after. */
async function sortedRows(
  tenant: Tenant,
  filter: CallFilter,
  { by, direction }: CallOrder,
  offset: number,
  limit: number,
): Promise<ListedCall[]> {
  const order = sql`${SORTED_BY[by]} ${sql.raw(direction)} nulls last`
  const ids = await matching(tenant, filter)
    .select('id')
    .orderBy(order)
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute()
  if (ids.length === 0) return []
  const rows = (await listedCalls(tenant, {}, 'created_at')).where(
    'id',
    'in',
    ids.map(({ id }) => id),
  )
  const byId = new Map((await rows.execute()).map((row) => [row.id, row]))
  return ids.flatMap(({ id }) => byId.get(id) ?? [])
}

/** Of a field that may be large a list shows so much. */
export const MAX_LISTED_BYTES = 32 * 1024

/** A call whose variables may be cut, for a list of up to hundreds of them is read on the loop that carries calls. */
export type ListedCall = Call & { variables_cut: boolean; sorted_by: string }

const variablesAreCut = sql<boolean>`octet_length(dynamic_variables::text) > ${MAX_LISTED_BYTES}`
const cutVariables = sql<Record<string, string>>`
  case when octet_length(dynamic_variables::text) <= ${MAX_LISTED_BYTES} then dynamic_variables else (
    select coalesce(jsonb_object_agg(key, left(value, greatest(0, ${MAX_LISTED_BYTES} - before)::int)), '{}')
    from (
      select key, value,
        sum(octet_length(key) + octet_length(value)) over (order by key) - octet_length(value) as before
      from jsonb_each_text(dynamic_variables)
    ) as measured
    where before < ${MAX_LISTED_BYTES}
  ) end`

let columnsOfCalls: Promise<string[]> | undefined

/** Asked of the database once: what is added to a call is listed with it. */
function columnsButVariables({ db }: Tenant): Promise<string[]> {
  const reading = sql<{ name: string }>`
    select attname as name from pg_attribute
    where attrelid = 'calls'::regclass and attnum > 0 and not attisdropped and attname <> 'dynamic_variables'`
  columnsOfCalls ??= reading
    .execute(db)
    .then(({ rows }) => rows.map(({ name }) => name))
    .catch((error) => {
      columnsOfCalls = undefined
      throw error
    })
  return columnsOfCalls
}

/** The calls of a filter, for a query of one's own. */
export function matching(tenant: Tenant, filter: CallFilter) {
  let query = tenant.db.selectFrom('calls')
  if (filter.callType !== undefined) query = query.where('call_type', '=', filter.callType)
  if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId)
  if (filter.agentVersion !== undefined) query = query.where('agent_version', '=', filter.agentVersion)
  if (filter.start !== undefined) query = query.where('created_at', '>=', filter.start)
  if (filter.end !== undefined) query = query.where('created_at', '<', filter.end)
  const { statuses, directions, number, batchIds, campaignSlugs, dispositions, externalIds, prospectIds, metadata } =
    filter
  if (statuses !== undefined) query = query.where('status', 'in', statuses)
  if (directions !== undefined) query = query.where('direction', 'in', directions)
  if (batchIds !== undefined) query = query.where('batch_id', 'in', batchIds)
  if (campaignSlugs !== undefined) query = query.where('campaign_slug', 'in', campaignSlugs)
  if (dispositions !== undefined) query = query.where('disposition', 'in', dispositions)
  if (externalIds !== undefined) query = query.where('external_id', 'in', externalIds)
  if (prospectIds !== undefined) query = query.where('prospect_id', 'in', prospectIds)
  if (filter.updatedSince !== undefined) query = query.where('updated_at', '>=', filter.updatedSince)
  if (metadata !== undefined) {
    query = query.where(sql<boolean>`metadata <> '{}' and metadata @> ${JSON.stringify(metadata)}::jsonb`)
  }
  if (number !== undefined) {
    query = query.where((eb) => eb.or([eb('from_number', '=', number), eb('to_number', '=', number)]))
  }
  if (filter.numberPart !== undefined) {
    const part = `%${filter.numberPart}%`
    query = query.where((eb) => eb.or([eb('from_number', 'like', part), eb('to_number', 'like', part)]))
  }
  if (filter.words !== undefined) query = query.where(saysWords(filter.words))
  return query
}

const saysWords = (words: string) => (eb: ExpressionBuilder<TenantTables, 'calls'>) =>
  eb('id', 'in', (inner) => inner.selectFrom('call_turns').select('call_id').where(matchesWords('text', words)))
