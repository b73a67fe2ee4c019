import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import type { Reloads } from '../process/reloads.ts'
import type { PluginRegistry } from './host.ts'

/** A role of the process (api, jobs, voice), started by main.ts. */
export interface Role {
  readonly name: string
  /** Address this role listens on, with the port it really got: `http://127.0.0.1:8080`. */
  readonly url?: string
  /** A sentence for the person who started it. */
  readonly notice?: string
  /** Resolves once it is given calls, which may be after its start: a voice worker waits for an api node. */
  readonly serving?: Promise<void>
  /** Says that it is not ready, so that new work goes elsewhere; what comes nevertheless is still served. */
  leave?(): void
  /** Calls that run or ring here now. */
  calls?(): number
  /** Takes nothing new, finishes what runs, releases everything. Resolves when done or when `graceMs` is over. */
  stop(graceMs: number): Promise<void>
}

/** What a voice worker gets: it reaches no database and no Redis. */
export interface VoiceContext<Config> {
  /** As the process was started. */
  readonly config: Config
  /** What a reload changes. */
  readonly reloads: Reloads<Config>
  /** The process's environment, for plugins alone: settings are in `config`. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The plugins of this process, loaded once; the guard enforces their grants already. */
  readonly plugins: PluginRegistry
  readonly log: Logger
  readonly clock: Clock
  /** Ends the process as a signal does: its calls may finish. */
  requestStop(reason: string): void
  /** Aborts once every role has drained, or at once when the stop is forced: whatever is still open closes. */
  readonly signal: AbortSignal
}

/** What `startApi` and `startJobs` get. The database is migrated. */
export interface RoleContext<Config> extends VoiceContext<Config> {
  readonly databaseUrl: string
  readonly redisUrl: string
  /** Voice workers run on this machine, with the same data folder. */
  readonly hasOwnWorkers?: boolean
  /** The folder of the built console, soon; rejects with why there is none. Left out: the api serves no console. */
  readonly consoleFolder?: Promise<string>
}
