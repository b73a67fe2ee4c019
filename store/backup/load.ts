import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { PatchbayError } from '../../runtime/errors.ts'
import type { Logger } from '../../runtime/log.ts'
import { migrate } from '../migrate.ts'
import { MIGRATIONS } from '../migrations/index.ts'
import { quoted, type Table, tablesOf } from './catalog.ts'
import type { DumpHead } from './dump.ts'
import { openClient } from './open-client.ts'

/**
 * Fills an empty database: with the schema the data had, then the data in one transaction, then what this version changes
 * about both. Nothing is kept of a load that fails, but the empty tables.
 */
export interface Load {
  /** Rows as COPY writes them. */
  rows(table: string, data: Readable): Promise<void>
  /** Puts keys and triggers back, which checks the data, and brings the schema up to date. */
  finish(): Promise<void>
  /** Gives up. */
  close(): Promise<void>
}

/** @param what the database, for messages */
export async function openLoad(databaseUrl: string, head: DumpHead, log: Logger, what: string): Promise<Load> {
  const had = new Set(head.migrations)
  const unknown = head.migrations.filter((name) => !MIGRATIONS.some((migration) => migration.name === name))
  if (unknown.length > 0) {
    const reason = `The data are of a newer Patchbay (it has "${unknown.join('", "')}"); update this installation first.`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const client = await openClient(databaseUrl, what)
  try {
    await refuseUsed(client, what)
    await migrate(
      databaseUrl,
      log,
      MIGRATIONS.filter(({ name }) => had.has(name)),
    )
    await client.query('begin')
    const tables = await tablesOf(client)
    await makePartitions(client, head.tables, tables)
    const constraints = await setAsideForeignKeys(client)
    const names = tables.map(({ name }) => quoted(name))
    for (const name of names) await client.query(`alter table ${name} disable trigger user`)
    // What the migrations themselves put in comes with the data.
    if (names.length > 0) await client.query(`truncate ${names.join(', ')}`)
    const columnsOf = new Map(head.tables.map(({ name, columns }) => [name, columns]))
    return {
      async rows(table, data) {
        const columns = columnsOf.get(table)
        if (columns === undefined)
          throw new PatchbayError('configuration', {
            params: { reason: `There is no table "${table}" in the backup's list.` },
          })
        await pipeline(
          data,
          client.query(copyFrom(`copy ${quoted(table)} (${columns.map(quoted).join(', ')}) from stdin`)),
        )
      },
      async finish() {
        for (const { name, lastValue } of head.sequences) {
          if (lastValue !== null)
            await client.query('select setval($1::regclass, $2::bigint)', [quoted(name), lastValue])
        }
        for (const statement of constraints) await client.query(statement)
        for (const name of names) await client.query(`alter table ${name} enable trigger user`)
        await client.query('commit')
        await client.end()
        await migrate(databaseUrl, log)
      },
      async close() {
        await client.query('rollback').catch(() => {})
        await client.end()
      },
    }
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** Data are never put over others. */
async function refuseUsed(client: Client, what: string): Promise<void> {
  const used: string[] = []
  for (const { name } of await tablesOf(client)) {
    const { rowCount } = await client.query(`select from ${quoted(name)} limit 1`)
    if (rowCount !== 0) used.push(name)
  }
  const isPatchbay = used.includes('workspaces') || used.includes('users')
  const isForeign = used.length > 0 && !(await hasMigrations(client))
  if (!isPatchbay && !isForeign) return
  const whose = isPatchbay
    ? "already has a Patchbay's data"
    : `has tables of something else ("${used.slice(0, 3).join('", "')}")`
  throw new PatchbayError('configuration', { params: { reason: `${what} ${whose}; name an empty one.` } })
}

async function hasMigrations(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ found: string | null }>(`select to_regclass('migrations')::text as found`)
  return rows[0]?.found != null
}

async function makePartitions(client: Client, wanted: readonly Table[], there: readonly Table[]): Promise<void> {
  const known = new Set(there.flatMap(({ partitions }) => partitions.map(({ name }) => name)))
  for (const { name: parent, partitions } of wanted) {
    for (const { name, bounds } of partitions) {
      if (!known.has(name)) await client.query(`create table ${quoted(name)} partition of ${quoted(parent)} ${bounds}`)
    }
  }
}

/** Takes the keys between tables away, so that tables can be filled in any order; returns what puts them back. */
async function setAsideForeignKeys(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
       from pg_constraint k
       join pg_class c on c.oid = k.conrelid
       join pg_namespace n on n.oid = c.relnamespace and n.nspname = current_schema()
      where k.contype = 'f' and k.conparentid = 0
      order by c.relname, k.conname`,
  )
  for (const { table, name } of rows) await client.query(`alter table ${quoted(table)} drop constraint ${quoted(name)}`)
  return rows.map(
    ({ table, name, definition }) => `alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`,
  )
}
