import { type Config, type EffectiveConfig, SETTINGS, type Setting } from './schema.ts'

type SettingName = keyof typeof SETTINGS

const names = Object.keys(SETTINGS) as SettingName[]

function isReloaded(name: SettingName): boolean {
  return (SETTINGS[name] as Setting).reload === true
}

/** The variables of the settings that a running process takes anew. */
export const RELOADED_VARIABLES: readonly string[] = names.filter(isReloaded).map((name) => SETTINGS[name].env)

interface Change {
  readonly config: EffectiveConfig
  /** Variables that are taken. */
  readonly changed: readonly string[]
  /** Variables that changed and wait for a restart. */
  readonly needsRestart: readonly string[]
}

/**
 * The configuration with those settings of `next` that may change while a process runs.
 * @param started as it was read at the start, before anything was derived or generated
 */
export function reloadedConfig(current: EffectiveConfig, started: Config, next: Config): Change {
  const differs = (before: Config, name: SettingName): boolean =>
    JSON.stringify(before[name]) !== JSON.stringify(next[name])
  const taken = names.filter(isReloaded)
  return {
    config: { ...current, ...Object.fromEntries(taken.map((name) => [name, next[name]])) },
    changed: taken.filter((name) => differs(current, name)).map((name) => SETTINGS[name].env),
    needsRestart: names.filter((name) => !isReloaded(name) && differs(started, name)).map((name) => SETTINGS[name].env),
  }
}
