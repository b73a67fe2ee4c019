import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { migrationsOf, quoted, sequencesOf, tablesOf } from './catalog.ts'
import type { DumpHead, Table } from './head.ts'

/** Reads a database as it is at one moment, while it is in use. */
export interface Dump {
  readonly head: DumpHead
  /** The rows of a table, as COPY writes them. Read one after the other. */
  rowsOf(table: Table): Readable
  /** Ends the look. */
  close(): Promise<void>
}

export async function openDump(client: Client): Promise<Dump> {
  await client.query('begin isolation level repeatable read read only')
  const head = {
    migrations: await migrationsOf(client),
    tables: await tablesOf(client),
    sequences: await sequencesOf(client),
  }
  return {
    head,
    rowsOf(table) {
      const columns = table.columns.map(quoted).join(', ')
      const rows = client.query(copyTo(`copy (select ${columns} from ${quoted(table.name)}) to stdout`))
      const out = new PassThrough()
      pipeline(rows, out).catch((error) => out.destroy(error))
      return out
    },
    async close() {
      await client.query('rollback')
    },
  }
}
