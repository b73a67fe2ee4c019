import { availableParallelism } from 'node:os'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { healingPool } from '../connections/healing-pool.ts'
import { postgresOutage } from '../connections/outage.ts'
import { postgresConfig } from '../connections/postgres-client.ts'
import type { AllTables, GlobalTables } from './schema.ts'
import { boundTo, globalOnly, type Tenant } from './tenant.ts'
import { turnPools } from './turn-pool.ts'

/** What PostgreSQL calls the connections of nodes. */
export const NODE_CONNECTIONS = 'patchbay'
const MAX_KEPT_TENANTS = 1_000
const INT8_OID = 20
/** Connections a core that work for workspaces at once where Postgres is on this machine: more only take turns with one another. */
const WORKING_PER_CORE = 2
/** One waits for the disk while another computes, however few cores there are. */
const LEAST_WORKING = 4

/** Every door to Postgres. Pick the narrowest: a tenant's, then `global`, and `acrossTenants` only in background jobs. */
export interface Store {
  /** Tables of no workspace; a query that names a tenant table is refused. */
  readonly global: Kysely<GlobalTables>
  /** A handle whose every query is bound to this workspace, joins and subqueries included. */
  tenant(workspaceId: string): Tenant
  /** All tables of all workspaces, unbound: for jobs, the reaper and lookups by a secret or a phone number. */
  readonly acrossTenants: Kysely<AllTables>
  /** For statements on the hottest paths, prepared by name. They carry their own workspace condition. */
  readonly pool: pg.Pool
  /** Why the database can't be used now, asked at most once a second; undefined: it takes writes. */
  fault(): Promise<string | undefined>
  /** Waits for running queries, then closes every connection. */
  close(): Promise<void>
}

interface StoreOptions {
  /** A postgres:// URL; `?host=/folder` reaches a unix socket. */
  databaseUrl: string
  maxConnections?: number
  /** A query running longer is cancelled by Postgres. */
  statementTimeoutMs?: number
  /** Waiting for a free connection longer than this fails. */
  acquireTimeoutMs?: number
  /** Called when an idle connection breaks; the pool replaces it. */
  onIdleError?: (error: Error) => void
}

/** Opens a pool. Connects on first use, so a database that is still starting is no error here. */
export function openStore(options: StoreOptions): Store {
  const { maxConnections = 10, acquireTimeoutMs = 5000 } = options
  const limits = `set statement_timeout = ${options.statementTimeoutMs ?? 30_000}; set idle_in_transaction_session_timeout = 30000`
  const { pool, probe } = healingPool(
    {
      ...postgresConfig(options.databaseUrl),
      connectionString: options.databaseUrl,
      application_name: NODE_CONNECTIONS,
      max: maxConnections,
      connectionTimeoutMillis: acquireTimeoutMs,
      types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
    },
    limits,
  )
  pool.on(
    'error',
    boundary('database', (error) => {
      // The driver hangs its whole connection on the error, secret key of the session included.
      Reflect.deleteProperty(error, 'client')
      options.onIdleError?.(error)
    }),
  )
  const acrossTenants = new Kysely<AllTables>({ dialect: new PostgresDialect({ pool }) })
  const mostAtOnce = isOnThisMachine(options.databaseUrl)
    ? Math.max(LEAST_WORKING, WORKING_PER_CORE * availableParallelism())
    : maxConnections
  const poolOf = turnPools(pool, { connections: maxConnections, mostAtOnce, acquireTimeoutMs })
  const tenants = new Map<string, Tenant>()
  const openTenant = (workspaceId: string): Tenant => {
    const db = new Kysely<AllTables>({ dialect: new PostgresDialect({ pool: poolOf(workspaceId) }) })
    return { workspaceId, db: boundTo(db, workspaceId) }
  }
  return {
    global: globalOnly(acrossTenants),
    tenant(workspaceId) {
      const tenant = tenants.get(workspaceId) ?? openTenant(workspaceId)
      // Those asked for lately are kept; making one anew changes nothing but its cost.
      tenants.delete(workspaceId)
      tenants.set(workspaceId, tenant)
      const [oldest] = tenants.keys()
      if (tenants.size > MAX_KEPT_TENANTS && oldest !== undefined) tenants.delete(oldest)
      return tenant
    },
    acrossTenants,
    pool,
    fault: probe.fault,
    close: async () => {
      await Promise.all([acrossTenants.destroy(), probe.close()])
    },
  }
}

/** Whether it is reached by a unix socket, as the embedded one is. */
const isOnThisMachine = (databaseUrl: string): boolean => /[?&]host=(?:\/|%2f)/i.test(databaseUrl)

/** bigint columns hold counts and milliseconds far below 2^53. */
function parserOf(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (oid === INT8_OID && format !== 'binary') return Number
  return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text')
}

/** The SQLSTATE of an error Postgres raised, else undefined. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** Whether a query failed because there is no database to be had now. */
export function isUnreachable(error: unknown): boolean {
  return postgresOutage(error) !== undefined
}

/** True for a unique violation, of this constraint or index if named. */
export function isDuplicate(error: unknown, constraint?: string): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.code === '23505' &&
    (constraint === undefined || error.constraint === constraint)
  )
}
