import type { Client } from 'pg'
import type { Sequence, Table } from './head.ts'

/** What a database of Patchbay holds, as far as a copy of it must know. */

/** Filled by the migrations themselves. */
const NOT_COPIED = ['migrations']

/** Every table with columns of its own, in the order of their names. */
export async function tablesOf(client: Client): Promise<Table[]> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select c.relname as name,
            array_agg(a.attname::text order by a.attnum) filter (where a.attgenerated = '') as columns
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace and n.nspname = current_schema()
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relkind in ('r', 'p') and not c.relispartition and not c.relname = any($1)
      group by c.relname order by c.relname`,
    [NOT_COPIED],
  )
  const parts = await client.query<{ parent: string; name: string }>(
    `select p.relname as parent, c.relname as name
       from pg_inherits i
       join pg_class c on c.oid = i.inhrelid and c.relispartition
       join pg_class p on p.oid = i.inhparent
       join pg_namespace n on n.oid = p.relnamespace and n.nspname = current_schema()
      order by c.relname`,
  )
  return rows.map(({ name, columns }) => ({
    name,
    columns,
    partitions: parts.rows.filter(({ parent }) => parent === name).map(({ name }) => ({ name })),
  }))
}

export async function sequencesOf(client: Client): Promise<Sequence[]> {
  const { rows } = await client.query<{ name: string; lastValue: string | null }>(
    `select sequencename as name, last_value::text as "lastValue"
       from pg_sequences where schemaname = current_schema() order by sequencename`,
  )
  return rows
}

/** The migrations the database has had, the first one first. */
export async function migrationsOf(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  return rows.map(({ name }) => name)
}

/** A name as SQL writes it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
