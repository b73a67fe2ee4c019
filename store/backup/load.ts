import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Client, DatabaseError, escapeLiteral } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { printable } from '../../runtime/lib/printable.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { migrate } from '../database/migrate.ts'
import { MIGRATIONS } from '../migrations/index.ts'
import { quoted, sequencesOf, tablesOf } from './catalog.ts'
import type { DumpHead, Table } from './head.ts'
import { openClient } from './open-client.ts'
import { periodOf } from './partitions.ts'

/**
 * Fills an empty database: with the schema the data had, then the data in one transaction, then what this version changes
 * about both. Nothing is kept of a load that fails, but the empty tables.
 */
export interface Load {
  /** Takes rows as COPY writes them; resolves with how many PostgreSQL took. */
  rows(table: string, data: Readable): Promise<number>
  /** Puts keys and triggers back, which checks the data. */
  check(): Promise<void>
  /** Keeps what was loaded. */
  commit(): Promise<void>
  /** Brings the schema up to date, after the commit. */
  upgrade(): Promise<void>
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
      { exact: true },
    )
    await client.query('begin')
    const tables = await tablesOf(client)
    const columnsOf = columnsToFill(tables, head)
    const sequences = await sequencesOf(client)
    const strange = head.sequences.find(({ name }) => !sequences.some((sequence) => sequence.name === name))
    if (strange !== undefined) throw unfit(`a sequence "${strange.name}"`)
    await taking('The partitions', () => makePartitions(client, head.tables, tables))
    const constraints = await setAsideForeignKeys(client)
    const names = tables.map(({ name }) => quoted(name))
    for (const name of names) await client.query(`alter table ${name} disable trigger user`)
    // What the migrations themselves put in comes with the data.
    if (names.length > 0) await client.query(`truncate ${names.join(', ')}`)
    return {
      async rows(table, data) {
        const columns = columnsOf.get(table)
        if (columns === undefined)
          throw new PatchbayError('configuration', {
            params: { reason: `There is no table "${table}" in the backup's list.` },
          })
        const into = `copy ${quoted(table)} (${columns.map(quoted).join(', ')}) from stdin`
        const copy = client.query(copyFrom(into))
        await taking(`The rows of table "${table}"`, () => pipeline(data, copy))
        return copy.rowCount
      },
      async check() {
        for (const { name, lastValue } of head.sequences) {
          if (lastValue === null) continue
          await taking(`The place of sequence "${name}"`, async () => {
            await client.query('select setval($1::regclass, $2::bigint)', [quoted(name), lastValue])
          })
        }
        await taking('The data', async () => {
          for (const statement of constraints) await client.query(statement)
        })
        for (const name of names) await client.query(`alter table ${name} enable trigger user`)
      },
      async commit() {
        await client.query('commit')
        await client.end()
      },
      upgrade: async () => {
        await migrate(databaseUrl, log)
      },
      async close() {
        // Ends the transaction as well. A query would wait for a COPY, which may never have begun.
        await client.end()
      },
    }
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** What each table takes, by its name. The data have every table and column that the schema of their migrations has, and no other. */
function columnsToFill(tables: readonly Table[], head: DumpHead): Map<string, readonly string[]> {
  const own = new Map(tables.map(({ name, columns }) => [name, columns]))
  const given = new Map(head.tables.map(({ name, columns }) => [name, columns]))
  if (given.size !== head.tables.length) throw unfit('a table twice')
  for (const [name, columns] of given) {
    const known = own.get(name)
    if (known === undefined) throw unfit(`a table "${name}"`)
    const stray = columns.find((column) => !known.includes(column))
    if (stray !== undefined) throw unfit(`a column "${stray}" of table "${name}"`)
  }
  for (const [name, columns] of own) {
    const lacking = columns.find((column) => given.get(name)?.includes(column) !== true)
    if (lacking !== undefined) throw unfit(undefined, `column "${lacking}" of table "${name}"`)
  }
  return given
}

function unfit(stray: string | undefined, lacking?: string): PatchbayError {
  const what = stray === undefined ? `lack ${lacking}` : `have ${stray}, which their migrations did not make`
  return new PatchbayError('configuration', {
    params: { reason: `The data ${what}; use a backup as Patchbay wrote it.` },
  })
}

/** Says which of the data PostgreSQL refuses. */
async function taking(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    if (!(cause instanceof DatabaseError)) throw cause
    const reason = `${what} can't be restored: ${printable(cause.message).slice(0, 300)}; use a backup as Patchbay wrote it.`
    throw new PatchbayError('configuration', { params: { reason }, cause })
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
    for (const { name } of partitions) {
      if (known.has(name)) continue
      const period = periodOf(parent, name)
      if (period === undefined) throw unfit(`a partition "${name}" of table "${parent}"`)
      const [from, to] = [period.from, period.to].map((date) => escapeLiteral(date.toISOString()))
      await client.query(
        `create table ${quoted(name)} partition of ${quoted(parent)} for values from (${from}) to (${to})`,
      )
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
