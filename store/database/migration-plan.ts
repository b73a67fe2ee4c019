import type { Client } from 'pg'
import type { Migration } from '../migrations/index.ts'

/** What of a table waits for a migration: its reads and writes, or its writes alone. */
export interface TableLock {
  readonly table: string
  readonly waits: 'reads and writes' | 'writes' | 'nothing'
  readonly rows: number
  readonly bytes: number
  /** About how long it is held, once it was had. */
  readonly aboutMs: number
}

/** Of reading a table through, or building an index. On a small server; a fast one takes less. */
const BYTES_A_MS = 40_000
/** Changing a row, with its indexes. */
const ROWS_A_MS = 20

type Effort = 'none' | 'scan' | 'rewrite' | 'rows'

interface Claim {
  readonly table: string
  readonly waits: TableLock['waits']
  readonly effort: Effort
}

const NAME = '(?:only )?"?([a-z_][a-z0-9_]*)"?'

/** The tables that exist by now and that a migration locks or reads through. */
export async function planMigration(client: Client, migration: Migration): Promise<TableLock[]> {
  const statements = 'sql' in migration ? statementsOf(migration.sql) : []
  const claims = [
    ...('sql' in migration ? statements.flatMap(claimsOf) : concurrentClaims(migration.indexes)),
    ...(await referencedByDropped(client, statements)),
  ]
  const tableOf = await tablesOfIndexes(client, claims)
  const byTable = new Map<string, Claim[]>()
  for (const claim of claims) {
    const table = tableOf.get(claim.table) ?? claim.table
    byTable.set(table, [...(byTable.get(table) ?? []), claim])
  }
  const { rows } = await client.query<{ table: string; rows: string; bytes: string }>(
    `select c.relname as table, coalesce(sum(greatest(p.reltuples, 0)), 0)::bigint as rows,
            coalesce(sum(pg_table_size(t.relid)), 0) as bytes
       from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = current_schema()
       cross join lateral (select c.oid as relid union select relid::oid from pg_partition_tree(c.oid)) t
       join pg_class p on p.oid = t.relid
      where c.relname = any ($1) and c.relkind in ('r', 'p') group by c.relname`,
    [[...byTable.keys()]],
  )
  return rows
    .map(({ table, rows, bytes }) => lockOf(table, byTable.get(table) ?? [], Number(rows), Number(bytes)))
    .filter(({ waits, aboutMs }) => waits !== 'nothing' || aboutMs > 1_000)
}

function lockOf(table: string, claims: readonly Claim[], rows: number, bytes: number): TableLock {
  const waits = (['reads and writes', 'writes'] as const).find((kind) => claims.some((one) => one.waits === kind))
  const msOf: Record<Effort, number> = {
    none: 0,
    scan: bytes / BYTES_A_MS,
    rewrite: (2 * bytes) / BYTES_A_MS,
    rows: rows / ROWS_A_MS,
  }
  return {
    table,
    waits: waits ?? 'nothing',
    rows,
    bytes,
    aboutMs: claims.reduce((sum, { effort }) => sum + msOf[effort], 0),
  }
}

export function describeLocks(locks: readonly TableLock[]): string {
  return locks
    .map(({ table, waits, rows, bytes, aboutMs }) => {
      const size = `${(bytes / 1e6).toFixed(1)} MB, ${rows} rows`
      const time = aboutMs < 1_000 ? 'a moment' : `about ${Math.ceil(aboutMs / 1_000)} s`
      return `${waits} of ${table} (${size}) ${waits === 'nothing' ? 'waits; it takes' : 'wait for'} ${time}`
    })
    .join('; ')
}

/** Indexes named by `drop index`, and what they are of. */
async function tablesOfIndexes(client: Client, claims: readonly Claim[]): Promise<Map<string, string>> {
  const { rows } = await client.query<{ index: string; table: string }>(
    `select i.relname as index, t.relname as table
       from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
       join pg_namespace n on n.oid = i.relnamespace and n.nspname = current_schema()
      where i.relname = any ($1)`,
    [claims.map(({ table }) => table)],
  )
  return new Map(rows.map(({ index, table }) => [index, table]))
}

/** With a foreign key goes its trigger on the table it leads to. */
async function referencedByDropped(client: Client, statements: readonly string[]): Promise<Claim[]> {
  const named = (pattern: string) =>
    statements.flatMap((statement) => [...statement.matchAll(new RegExp(pattern, 'g'))].map(([, name]) => name))
  const { rows } = await client.query<{ table: string }>(
    `select distinct r.relname as table from pg_constraint k
       join pg_class t on t.oid = k.conrelid join pg_class r on r.oid = k.confrelid
       join pg_namespace n on n.oid = t.relnamespace and n.nspname = current_schema()
      where k.contype = 'f' and (t.relname = any ($1) or k.conname = any ($2))`,
    [named(`drop table (?:if exists )?${NAME}`), named(`drop constraint (?:if exists )?${NAME}`)],
  )
  return rows.map(({ table }) => ({ table, waits: 'reads and writes', effort: 'none' }))
}

function concurrentClaims(indexes: readonly { readonly on: string }[]): Claim[] {
  return indexes.map(({ on }) => ({ table: /^\w+/.exec(on)?.[0] ?? '', waits: 'nothing', effort: 'rewrite' }))
}

/** Text between semicolons, outside of bodies, strings and comments. */
function statementsOf(sql: string): string[] {
  const parts = sql.matchAll(/--[^\n]*|\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|"[^"]*"|;|[^-$'";]+|[-$]/g)
  const statements = ['']
  for (const [part] of parts) {
    if (part.startsWith('--')) continue
    if (part === ';') statements.push('')
    else statements.push(`${statements.pop()}${/^(\$|')/.test(part) ? "''" : part}`)
  }
  return statements.map((text) => text.replaceAll(/\s+/g, ' ').trim().toLowerCase()).filter((text) => text !== '')
}

function claimsOf(statement: string): Claim[] {
  const first = (pattern: string): string | undefined => new RegExp(`^${pattern}`).exec(statement)?.[1]
  const claim = (table: string | undefined, waits: Claim['waits'], effort: Effort): Claim[] =>
    table === undefined ? [] : [{ table, waits, effort }]
  const references = [...statement.matchAll(/\breferences "?([a-z_][a-z0-9_]*)"?/g)].flatMap(([, table]) =>
    claim(table, 'writes', 'none'),
  )
  const altered = first(`alter table (?:if exists )?${NAME}`)
  if (altered !== undefined) return [...claim(altered, 'reads and writes', effortOf(statement)), ...references]
  if (/^create (table|unlogged table)/.test(statement)) return references
  return [
    ...claim(first(`create (?:unique )?index (?:if not exists )?[a-z0-9_]+ on ${NAME}`), 'writes', 'scan'),
    ...claim(first(`create (?:or replace )?(?:constraint )?trigger .*? on ${NAME}`), 'writes', 'none'),
    ...claim(first(`drop trigger (?:if exists )?[a-z0-9_]+ on ${NAME}`), 'reads and writes', 'none'),
    ...claim(first(`drop (?:index|table) (?:if exists )?${NAME}`), 'reads and writes', 'none'),
    ...claim(first(`truncate (?:table )?${NAME}`), 'reads and writes', 'none'),
    ...claim(first(`lock table ${NAME}`), 'reads and writes', 'none'),
    ...claim(first(`update ${NAME}`), 'nothing', 'rows'),
    ...claim(first(`delete from ${NAME}`), 'nothing', 'rows'),
    ...claim(/^insert into .*? select .*? from "?([a-z_][a-z0-9_]*)"?/.exec(statement)?.[1], 'nothing', 'scan'),
  ]
}

function effortOf(statement: string): Effort {
  if (/ (type|using) /.test(statement)) return 'rewrite'
  if (/add (constraint \w+ )?(primary key|unique)/.test(statement)) return 'rewrite'
  const checks = /add (constraint \w+ )?(foreign key|check)|set not null|add column [^,]* (check|references) /.test(
    statement,
  )
  return checks && !/ not valid/.test(statement) ? 'scan' : 'none'
}
