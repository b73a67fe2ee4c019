import { randomBytes } from 'node:crypto'
import { mkdir, rename, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { FaultProxy } from './fault-proxy.ts'
import { makePasswordRole } from './password-role.ts'
import { waitUntil } from './wait-until.ts'

/** What happens to Postgres and Redis of an installation, one at a time. */
export interface StoreFault {
  readonly dependency: 'PostgreSQL' | 'Redis'
  readonly name: string
  begin(): unknown
  end(): unknown
  /** The promise; connections that fell silent for good take a few seconds more to be found out. */
  readonly recoversWithinMs: number
  /** Nothing works while it lasts, so that `/ready` has to say so. */
  readonly isTotal?: boolean
}

const SOON_MS = 5_000
const SILENT_MS = 7_000
/** Where no primary is. */
const NO_PORT = '1'

interface Stores {
  readonly database: FaultProxy
  readonly redis: FaultProxy
  /** Asks Postgres past the proxy, over a connection that was there before any fault. */
  askPostgres(statement: string): Promise<unknown>
  readonly databaseName: string
  /** Asks Redis past the proxy. */
  askRedis(...command: string[]): Promise<unknown>
  readonly passwords: Record<'PostgreSQL' | 'Redis', Password>
}

/** A password that a store asks for, and the file that its clients read it from. */
interface Password {
  readonly file: string
  /** Has the store ask for another one. */
  set(password: string): Promise<unknown>
}

/** Each fault that a network or a server of its own may have, but a failover to another server. */
export function faultsOfStores(stores: Stores): StoreFault[] {
  const { database, redis, askPostgres, databaseName, askRedis, passwords } = stores
  return [
    ...faultsOfNetwork(database).map((fault) => ({ ...fault, dependency: 'PostgreSQL' as const })),
    { ...rotation(database, passwords.PostgreSQL), dependency: 'PostgreSQL' },
    {
      ...{ dependency: 'PostgreSQL', name: 'fails over: connections end, and the address leads to a standby at first' },
      begin: async () => {
        await askPostgres(`alter database ${databaseName} set default_transaction_read_only = on`)
        await askPostgres(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        )
      },
      end: () => askPostgres(`alter database ${databaseName} reset default_transaction_read_only`),
      recoversWithinMs: SOON_MS,
      isTotal: true,
    },
    ...faultsOfNetwork(redis).map((fault) => ({ ...fault, dependency: 'Redis' as const })),
    { ...rotation(redis, passwords.Redis), dependency: 'Redis' },
    {
      ...{ dependency: 'Redis', name: 'full: refuses writes' },
      begin: () => askRedis('CONFIG', 'SET', 'maxmemory', '1'),
      end: () => askRedis('CONFIG', 'SET', 'maxmemory', '0'),
      recoversWithinMs: SOON_MS,
      isTotal: true,
    },
    {
      ...{ dependency: 'Redis', name: "can't save to its disk: refuses writes" },
      ...cannotSave(askRedis),
      recoversWithinMs: SOON_MS,
      isTotal: true,
    },
    {
      ...{ dependency: 'Redis', name: 'is a read-only replica' },
      begin: () => askRedis('REPLICAOF', '127.0.0.1', NO_PORT),
      end: () => askRedis('REPLICAOF', 'NO', 'ONE'),
      recoversWithinMs: SOON_MS,
      isTotal: true,
    },
    {
      ...{ dependency: 'Redis', name: 'restarted empty' },
      begin: async () => {
        await askRedis('FLUSHALL')
        redis.reset()
      },
      end: () => undefined,
      recoversWithinMs: 10_000,
    },
  ]
}

/**
 * A Redis that could not write its last snapshot refuses writes, and pings, with MISCONF: a folder stands where its snapshot is to lie, so
 * that it can't be put into its place.
 */
export function cannotSave(askRedis: Stores['askRedis']): Pick<StoreFault, 'begin' | 'end'> {
  let snapshot = ''
  const aside = () => `${snapshot}.aside`
  return {
    begin: async () => {
      const setting = async (name: string) =>
        String(Object.values((await askRedis('CONFIG', 'GET', name)) as object).at(-1))
      snapshot = join(await setting('dir'), await setting('dbfilename'))
      await rename(snapshot, aside()).catch(() => undefined)
      await mkdir(snapshot)
      await askRedis('CONFIG', 'SET', 'save', '3600 1')
      await askRedis('BGSAVE')
      await waitUntil(async () => /rdb_last_bgsave_status:err/.test(`${await askRedis('INFO', 'persistence')}`))
    },
    end: async () => {
      await askRedis('CONFIG', 'SET', 'save', '')
      await rmdir(snapshot)
      await rename(aside(), snapshot).catch(() => undefined)
    },
  }
}

/** The store knows the new password first, and nobody has a connection of before. */
function rotation(proxy: FaultProxy, { file, set }: Password): Omit<StoreFault, 'dependency'> {
  let next = ''
  return {
    name: 'password rotated, and told to its clients later',
    begin: async () => {
      next = randomBytes(8).toString('hex')
      await set(next)
      proxy.reset()
    },
    end: () => writeFile(file, next),
    recoversWithinMs: SOON_MS,
    isTotal: true,
  }
}

interface Passworded {
  databaseUrl: string
  redisUrl: string
  readonly passwords: Stores['passwords']
}

/** The addresses of stores behind proxies, with passwords in files: what `faultsOfStores` rotates. */
export async function withPasswords(options: {
  database: FaultProxy
  /** Of the superuser; `owner` owns the database. */
  admin: pg.Client
  owner: string
  databaseName: string
  redis: FaultProxy
  setRedisPassword(password: string): Promise<unknown>
  folder: string
}): Promise<Passworded> {
  const { database, admin, owner, databaseName, redis, setRedisPassword, folder } = options
  const first = randomBytes(8).toString('hex')
  const files = { database: join(folder, 'database-password'), redis: join(folder, 'redis-password') }
  for (const file of Object.values(files)) await writeFile(file, first)
  const role = await makePasswordRole(admin, owner, first)
  await setRedisPassword(first)
  return {
    databaseUrl: `postgres://${role}@127.0.0.1:${database.port}/${databaseName}?passwordfile=${files.database}`,
    redisUrl: `redis://127.0.0.1:${redis.port}?passwordfile=${files.redis}`,
    passwords: {
      PostgreSQL: { file: files.database, set: (to) => admin.query(`alter role ${role} password '${to}'`) },
      Redis: { file: files.redis, set: setRedisPassword },
    },
  }
}

function faultsOfNetwork(proxy: FaultProxy): Omit<StoreFault, 'dependency'>[] {
  const end = proxy.mend
  return [
    { name: 'stopped', begin: proxy.refuse, end, recoversWithinMs: SOON_MS, isTotal: true },
    {
      name: 'takes connections and never answers',
      begin: proxy.blackHole,
      end,
      recoversWithinMs: SOON_MS,
      isTotal: true,
    },
    {
      name: 'open connections fall silent for good',
      begin: () => {
        proxy.silence()
        proxy.blackHole()
      },
      end,
      recoversWithinMs: SILENT_MS,
      isTotal: true,
    },
    { name: 'loses its end of all connections', begin: proxy.halfOpen, end, recoversWithinMs: SILENT_MS },
    { name: 'answers after 2 s', begin: () => proxy.delay(1_000), end, recoversWithinMs: SOON_MS },
    {
      name: 'answers after 30 s',
      begin: () => proxy.delay(15_000),
      end,
      recoversWithinMs: SILENT_MS,
      isTotal: true,
    },
    {
      name: 'resets each tenth connection, and all once',
      begin: () => {
        proxy.resetEach(10)
        proxy.reset()
      },
      end,
      recoversWithinMs: SOON_MS,
    },
    {
      name: 'is cut off in the middle of an answer',
      begin: () => proxy.cutInAnswer(20),
      end,
      recoversWithinMs: SOON_MS,
    },
  ]
}
