import { type Client, DatabaseError } from 'pg'
import type { Logger } from '../../runtime/process/log.ts'
import { type IndexMigration, MIGRATIONS, type Migration } from '../migrations/index.ts'
import type { Store } from './database.ts'

/**
 * The migration, its indexes naming the schema of the extension they need, which is made where it is missing. Undefined, with the
 * reason and the cure in the log, where the database doesn't let it be made: then the migration waits for a later start.
 */
export async function withExtension(client: Client, migration: Migration, log: Logger): Promise<Migration | undefined> {
  if ('sql' in migration || migration.extension === undefined) return migration
  const { name } = migration.extension
  let schema = await schemaOf(client, name)
  if (schema === undefined) {
    try {
      await client.query(`create extension if not exists ${name}`)
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error
      log.warn({ migration: migration.name }, lacks(migration.extension, ` (${error.message})`))
      return undefined
    }
    schema = await schemaOf(client, name)
  }
  const on = (text: string): string => text.replaceAll('@extschema@', schema ?? '')
  return { ...migration, indexes: migration.indexes.map((index) => ({ ...index, on: on(index.on) })) }
}

async function schemaOf(client: Client, extension: string): Promise<string | undefined> {
  const { rows } = await client.query<{ schema: string }>(
    'select quote_ident(nspname) as schema from pg_extension e join pg_namespace n on n.oid = extnamespace where extname = $1',
    [extension],
  )
  return rows[0]?.schema
}

type NeededExtension = NonNullable<IndexMigration['extension']>

function lacks({ name, without }: NeededExtension, why = ''): string {
  return `${without}: the database lacks the extension "${name}"${why}. Have a superuser run "CREATE EXTENSION ${name}" in it; the next start builds the index`
}

/** What of the database makes reads slow, a sentence each, with its cure: for `patchbay doctor database`. */
export async function diagnoseDatabase({ pool }: Pick<Store, 'pool'>): Promise<{ ok: boolean; text: string }[]> {
  const { rows } = await pool.query<{ name: string }>('select name from migrations')
  const applied = new Set(rows.map(({ name }) => name))
  const faults = MIGRATIONS.flatMap((one) =>
    'sql' in one || one.extension === undefined || applied.has(one.name) ? [] : [lacks(one.extension)],
  )
  if (faults.length === 0) return [{ ok: true, text: 'every index is there' }]
  return faults.map((text) => ({ ok: false, text }))
}
