import { loadConfig, rereadEnvironment } from '../config/load.ts'
import { RELOADED_VARIABLES, reloadedConfig } from '../config/reload.ts'
import type { Config, EffectiveConfig } from '../config/schema.ts'
import { boundary, inBackground } from '../runtime/lib/async/boundary.ts'
import type { Logger } from '../runtime/process/log.ts'
import { Reloads } from '../runtime/process/reloads.ts'
import type { Running } from './running.ts'

/** What this process takes anew while it runs, and what it has its child processes take. */
export interface ProcessReloads {
  readonly reloads: Reloads<EffectiveConfig>
  /** The variables that a reload takes, as they are now; what a child starts with. */
  variables(): Readonly<Record<string, string | undefined>>
  /** Reloads at SIGHUP and at the word of the parent process, and has the children of `running` do it, too. */
  listen(running: Running): void
}

interface Started {
  readonly flags: readonly string[]
  /** As it was read, before anything was derived or generated. */
  readonly read: Config
  readonly config: EffectiveConfig
  readonly log: Logger
  /** Told each new configuration: the log's own level. */
  applied(config: EffectiveConfig): void
}

/** Word of a parent process: variables that replace those the child was started with; null unsets. */
interface ReloadMessage {
  reload: Record<string, string | null>
}

export function openReloads({ flags, read, config, log, applied }: Started): ProcessReloads {
  let overlay: Record<string, string | undefined> = {}
  let current = config
  let env = rereadEnvironment({}).env
  const reloads = new Reloads<EffectiveConfig>(() => {
    const reread = rereadEnvironment(overlay)
    const change = reloadedConfig(current, read, loadConfig(reread.env, flags, reread.file))
    env = reread.env
    return change
  }, log)
  reloads.watch(async (next) => () => {
    current = next
    applied(next)
  })
  const variables = () => Object.fromEntries(RELOADED_VARIABLES.map((name) => [name, env[name]]))
  return {
    reloads,
    variables,
    listen(running) {
      reloads.watch(async () => () => {
        const reload = Object.fromEntries(Object.entries(variables()).map(([name, value]) => [name, value ?? null]))
        for (const child of [running.jobWorker, ...running.voiceWorkers]) child?.send({ reload })
      })
      const ask = (reason: string): void => inBackground('process', reloads.reload(reason).then(noted, noted))
      process.on(
        'SIGHUP',
        boundary('process', () => hangsUp() || ask('SIGHUP')),
      )
      process.on(
        'message',
        boundary('process', (message: unknown) => {
          if (!isReload(message)) return
          overlay = Object.fromEntries(
            Object.entries(message.reload).map(([name, value]) => [name, value ?? undefined]),
          )
          ask('the parent process')
        }),
      )
    },
  }
}

/** The log has it. */
const noted = (): void => {}

/** Whether SIGHUP says that the terminal is gone, which ends a program that somebody started in it. */
export function hangsUp(): boolean {
  return process.stdin.isTTY === true
}

function isReload(message: unknown): message is ReloadMessage {
  if (typeof message !== 'object' || message === null || !('reload' in message)) return false
  const { reload } = message
  return typeof reload === 'object' && reload !== null
}
