import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { migrationsOf, quoted, sequencesOf, tablesOf } from './catalog.ts'
import type { DumpHead, Table } from './head.ts'
import { digesting, type TableDigest } from './table-digest.ts'

const KEYS_AT_ONCE = 10_000

/** Reads a database as it is at one moment, while it is in use. */
export interface Dump {
  readonly head: DumpHead
  /** The rows of a table, as COPY writes them, digested on the way. Read one table after the other. */
  rowsOf(table: Table, digest: TableDigest): Readable
  /** What the tables take on the disk, by name. */
  bytesOf(): Promise<ReadonlyMap<string, number>>
  /** Keys of objects that rows name. */
  objectKeys(): AsyncGenerator<string>
  /** Ends the look. */
  close(): Promise<void>
}

export async function openDump(client: Client): Promise<Dump> {
  // The text of a value depends on these, and a role may have others; a copy of a large table takes long.
  await client.query(
    `set datestyle = 'ISO, YMD'; set timezone = 'UTC'; set intervalstyle = 'postgres'; set bytea_output = 'hex';
     set extra_float_digits = 1; set client_encoding = 'UTF8'; set statement_timeout = 0;
     set idle_in_transaction_session_timeout = 0`,
  )
  await client.query('begin isolation level repeatable read read only')
  const head = {
    migrations: await migrationsOf(client),
    tables: await tablesOf(client),
    sequences: await sequencesOf(client),
  }
  return {
    head,
    rowsOf(table, digest) {
      const columns = table.columns.map(quoted).join(', ')
      const rows = client.query(copyTo(`copy (select ${columns} from ${quoted(table.name)}) to stdout`))
      const out = digesting(digest)
      pipeline(rows, out).catch((error) => out.destroy(error))
      return out
    },
    async bytesOf() {
      const { rows } = await client.query<{ name: string; bytes: string }>(
        `select t.name, sum(pg_table_size(p.relid)) as bytes
           from unnest($1::text[]) as t (name)
           cross join lateral (select to_regclass(quote_ident(t.name))::oid as relid
                               union select relid::oid from pg_partition_tree(to_regclass(quote_ident(t.name)))) p
          group by t.name`,
        [head.tables.map(({ name }) => name)],
      )
      return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]))
    },
    async *objectKeys() {
      let last: string | undefined
      for (;;) {
        const { rows } = await client.query<{ id: string; key: string }>(
          `select id, recording_key as key from calls
            where recording_key is not null and ($1::uuid is null or id > $1) order by id limit ${KEYS_AT_ONCE}`,
          [last],
        )
        for (const { key } of rows) yield key
        last = rows.at(-1)?.id
        if (rows.length < KEYS_AT_ONCE) return
      }
    },
    async close() {
      await client.query('rollback')
    },
  }
}
