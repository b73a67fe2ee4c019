import type { FaultProxy } from './fault-proxy.ts'

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

interface Stores {
  readonly database: FaultProxy
  readonly redis: FaultProxy
  /** Asks Postgres past the proxy, over a connection that was there before any fault. */
  askPostgres(statement: string): Promise<unknown>
  readonly databaseName: string
  /** Asks Redis past the proxy. */
  askRedis(...command: string[]): Promise<unknown>
}

/** Each fault that a network or a server of its own may have, but a failover to another server. */
export function faultsOfStores({ database, redis, askPostgres, databaseName, askRedis }: Stores): StoreFault[] {
  return [
    ...faultsOfNetwork(database).map((fault) => ({ ...fault, dependency: 'PostgreSQL' as const })),
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
    {
      ...{ dependency: 'Redis', name: 'full: refuses writes' },
      begin: () => askRedis('CONFIG', 'SET', 'maxmemory', '1'),
      end: () => askRedis('CONFIG', 'SET', 'maxmemory', '0'),
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
