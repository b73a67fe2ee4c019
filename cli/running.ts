import type { RoleName } from '../config/effective.ts'
import type { EnvFile } from '../config/env-file.ts'
import type { EffectiveConfig } from '../config/schema.ts'
import type { Role } from '../runtime/plugin/role.ts'
import type { StopRequests } from '../runtime/process/lifecycle.ts'
import type { Logger } from '../runtime/process/log.ts'
import type { Supervised } from '../runtime/process/supervisor.ts'
import type { EmbeddedServices } from '../store/embedded/embedded.ts'
import type { FollowedPrimary } from '../store/redis/follow-primary.ts'
import type { ProcessReloads } from './open-reloads.ts'

/** What is to run. */
export interface Run {
  readonly roles: readonly RoleName[]
  readonly selfContained: boolean
  readonly flags: readonly string[]
  readonly stop: StopRequests
  readonly log: Logger
  readonly envFile: EnvFile | undefined
  readonly config: EffectiveConfig
  readonly reloading: ProcessReloads
}

/** What runs, in the order it was started. */
export interface Running {
  embedded?: EmbeddedServices
  /** Behind Sentinels. */
  followedPrimary?: FollowedPrimary
  /** Those of this process. */
  roles: Role[]
  /** Where it is a process of its own. */
  jobWorker?: Supervised
  voiceWorkers: Supervised[]
  /** It was told to stop: nothing more is started. */
  stopping: boolean
}

/** Progress for the person who typed npm start; stdout carries the log alone. */
export function say(options: Run, line: string): void {
  if (options.selfContained) process.stderr.write(`${line}\n`)
}
