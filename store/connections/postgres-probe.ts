import type pg from 'pg'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { endedBy } from '../../runtime/lib/async/ended-by.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { sharedResult } from '../../runtime/lib/shared-result.ts'
import { postgresOutage } from './outage.ts'
import { postgresClient } from './postgres-client.ts'
import { PROBE_EVERY_MS, PROBE_TIMEOUT_MS } from './redial.ts'

const STANDBY = 'select pg_is_in_recovery() or current_setting(\'transaction_read_only\')::bool as "isReadOnly"'
const WORK = `select pid, state = 'active' as works from pg_stat_activity where state is not null`
const SILENT = 'PostgreSQL does not answer'

/** Asks the database over a connection of its own whether it takes writes, at most once a second. */
export class PostgresProbe {
  readonly #databaseUrl: string
  #client: Promise<pg.Client> | undefined
  #gaveUpAtMs: number | undefined
  #silentAtMs: number | undefined
  /** What is wrong; undefined: it takes writes. */
  readonly fault: () => Promise<string | undefined>

  constructor(databaseUrl: string) {
    this.#databaseUrl = databaseUrl
    this.fault = sharedResult(() => this.#ask(), PROBE_EVERY_MS, systemClock)
  }

  /** When it last fell silent, if it answers again by now. */
  get silentAtMs(): number | undefined {
    return this.#silentAtMs
  }

  /**
   * Whether a process of the server works on a statement, by its number; undefined: the server does not say. Behind a pooler it knows
   * none of the numbers that clients have, not even that of this connection.
   */
  async work(): Promise<((processId: number | undefined) => boolean | undefined) | undefined> {
    const client = this.#client
    if (client === undefined) return undefined
    try {
      const asked = client.then(async (open) => {
        const { rows } = await open.query<{ pid: number; works: boolean }>(WORK)
        const works = new Map(rows.map((row) => [row.pid, row.works]))
        return { works, own: (open as pg.Client & { processID?: number }).processID }
      })
      const { works, own } = await endedBy(asked, signalWithin(PROBE_TIMEOUT_MS))
      const isDirect = own !== undefined && works.has(own)
      return (processId) => (isDirect ? processId !== undefined && works.get(processId) === true : undefined)
    } catch {
      return undefined
    }
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    await client?.then((open) => open.end()).catch(() => {})
  }

  async #ask(): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, PROBE_TIMEOUT_MS, SILENT)
    })
    const fault = await Promise.race([this.#answer(), late])
    clearTimeout(timer)
    if (fault === SILENT) this.#gaveUpAtMs = performance.now()
    else if (this.#gaveUpAtMs !== undefined) {
      this.#silentAtMs = this.#gaveUpAtMs
      this.#gaveUpAtMs = undefined
    }
    if (fault !== undefined) this.#drop()
    return fault
  }

  async #answer(): Promise<string | undefined> {
    try {
      this.#client ??= this.#dial()
      const client = await this.#client
      const { rows } = await client.query<{ isReadOnly: boolean }>(STANDBY)
      return rows[0]?.isReadOnly === false ? undefined : 'PostgreSQL is read-only'
    } catch (error) {
      return postgresOutage(error) ?? `PostgreSQL refused a statement (${(error as Error).message})`
    }
  }

  async #dial(): Promise<pg.Client> {
    const client = postgresClient(this.#databaseUrl, { connectTimeoutMs: PROBE_TIMEOUT_MS })
    client.on(
      'error',
      boundary('database', () => this.#drop(client)),
    )
    await client.connect()
    return client
  }

  /** The next question goes over a connection that leads where the address leads then. */
  #drop(only?: pg.Client): void {
    const client = this.#client
    if (client === undefined) return
    const forget = (): void => {
      if (this.#client === client) this.#client = undefined
    }
    if (only === undefined) forget()
    client.then((open) => {
      if (only !== undefined && only !== open) return
      forget()
      open.connection.stream.destroy()
    }, forget)
  }
}
