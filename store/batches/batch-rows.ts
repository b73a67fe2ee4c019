import { type RawBuilder, sql } from 'kysely'
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
  return sql`
    select seq, phone_number as "phoneNumber", valid, coalesce(variables.json, '{}') as variables,
      coalesce(variables.cut, false) as cut
    from (${cellsSql(batch, from, until)}) as found
    left join lateral (
      select json_object_agg(name, left(value, greatest(0, ${mostBytes} - before)::int) order by place)::text as json,
        bool_or(before + octet_length(value) > ${mostBytes}) as cut
      from (
        select name, value, place,
          sum(octet_length(name) + octet_length(value)) over (order by place) - octet_length(value) as before
        from (
          select name, place, coalesce(cells ->> (place::int + skipped), '') as value
          from unnest(${batch.columns}::text[]) with ordinality as columns (name, place)
        ) as named
      ) as measured
    ) as variables on true
    order by seq`
}

/** The id of a row: its batch's, with the row's number in the last 32 bits. */
export function itemId(batchId: string, seq: number): string {
  return batchId.slice(0, -8) + seq.toString(16).padStart(8, '0')
}
