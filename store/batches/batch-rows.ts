import { type RawBuilder, sql } from 'kysely'
import { MAX_EXTERNAL_ID_CHARS, metadataKeyOf } from '../../runtime/call/types/metadata.ts'
import { ROWS_PER_BLOCK } from './tables.ts'

/**
 * The rows of a batch as batch_rows keeps them: JSON of up to ROWS_PER_BLOCK rows, each `[number, …cells]`, or
 * `[null, text, …cells]` where the text is no phone number. A row's `seq` counts from 0 over the file.
 */

export interface BatchRow {
  seq: number
  /** E.164, or the text of the file where `valid` is false. */
  phoneNumber: string
  valid: boolean
  /** A JSON object of strings, as text: names and values, in the order of the columns. */
  variables: string
  /** A JSON object of strings, as text: of the columns named `metadata[key]`. */
  metadata: string
  /** Of the column `external_id`. */
  externalId: string | null
  /** Whether the variables are not whole. */
  cut: boolean
}

const ANY_BYTES = 2 ** 31 - 1

interface BatchFile {
  id: string
  columns: readonly string[]
}

/** The cells of the rows `from` and after, before `until`. */
function cellsSql({ id }: BatchFile, from: number, until: number): RawBuilder<unknown> {
  return sql`
    select * from (
      select block * ${sql.lit(ROWS_PER_BLOCK)} + place::int - 1 as seq, cells,
        jsonb_typeof(cells -> 0) = 'string' as valid, coalesce(cells ->> 0, cells ->> 1) as phone_number,
        case jsonb_typeof(cells -> 0) when 'string' then 0 else 1 end as skipped
      from batch_rows, jsonb_array_elements(rows::jsonb) with ordinality as elements (cells, place)
      where batch_id = ${id} and block >= ${Math.floor(from / ROWS_PER_BLOCK)}
        and block <= ${Math.floor(Math.max(from, until - 1) / ROWS_PER_BLOCK)}
    ) as decoded
    where seq >= ${from} and seq < ${until}`
}

/** Which of the rows hold a phone number: `seq` and `valid`. */
export function validRowsSql(
  batch: BatchFile,
  from: number,
  until: number,
): RawBuilder<{ seq: number; valid: boolean }> {
  return sql`select seq, valid from (${cellsSql(batch, from, until)}) as found order by seq`
}

/**
 * The rows `from` and after, before `until`, as a query of BatchRow. Postgres reads the blocks, so that no event loop that
 * carries calls has to, however wide the file is.
 * @param mostBytes what the variables may have; past it they are cut, value by value
 */
export function rowsSql(batch: BatchFile, from: number, until: number, mostBytes = ANY_BYTES): RawBuilder<BatchRow> {
  const keys = batch.columns.map((name) => metadataKeyOf(name) ?? null)
  const externalAt = batch.columns.findIndex(isExternalId) + 1
  const externalId = sql`left(nullif(cells ->> (${sql.lit(externalAt)} + skipped), ''), ${sql.lit(MAX_EXTERNAL_ID_CHARS)})`
  return sql`
    select seq, phone_number as "phoneNumber", valid, coalesce(variables.json, '{}') as variables,
      coalesce(variables.metadata, '{}') as metadata, ${externalAt === 0 ? sql`null` : externalId} as "externalId",
      coalesce(variables.cut, false) as cut
    from (${cellsSql(batch, from, until)}) as found
    left join lateral (
      select (json_object_agg(name, left(value, greatest(0, ${mostBytes} - before)::int) order by place)
          filter (where key is null))::text as json,
        (json_object_agg(key, value order by place) filter (where key is not null and value <> ''))::text as metadata,
        bool_or(before + octet_length(value) > ${mostBytes}) filter (where key is null) as cut
      from (
        select name, key, value, place, sum(octet_length(name) + octet_length(value))
          over (partition by key is null order by place) - octet_length(value) as before
        from (
          select name, key, place, coalesce(cells ->> (place::int + skipped), '') as value
          from unnest(${batch.columns}::text[], ${keys}::text[]) with ordinality as columns (name, key, place)
        ) as named
      ) as measured
    ) as variables on true
    order by seq`
}

const isExternalId = (name: string): boolean => /^\s*external[\s_-]+id\s*$/i.test(name)

/** The id of a row: its batch's, with the row's number in the last 32 bits. */
export function itemId(batchId: string, seq: number): string {
  return batchId.slice(0, -8) + seq.toString(16).padStart(8, '0')
}
