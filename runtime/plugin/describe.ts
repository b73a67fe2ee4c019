import { pino } from 'pino'
import { printable } from '../lib/printable.ts'
import { PLUGIN_KINDS, type Provides } from './contract.ts'
import { type Environment, variableOf } from './grants/net-rule.ts'
import { coversRequest, cureOf, type GrantFlags, PERMISSIONS, type Permission } from './grants/permissions.ts'
import { type LoadedPlugin, loadPlugins, ROOT } from './host.ts'
import { wishesOf } from './install/effective-grants.ts'

const MAX_SHOWN = 8

/**
 * The text of `patchbay plugins`: each plugin with its kinds, models and voices, what it asks for, what is granted and
 * what is missing with its cure. Runs no plugin code and shows no variable's value.
 */
export async function describePlugins(
  config: GrantFlags,
  options: { env: Environment; dir?: string; settingsFile?: string },
): Promise<string> {
  const { env, ...files } = options
  const { plugins } = await loadPlugins({
    ...files,
    config,
    env,
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  })
  if (plugins.length === 0) return 'No plugins are installed.'
  return plugins.map((plugin) => describePlugin(plugin, env).map(printable).join('\n')).join('\n\n')
}

function describePlugin(plugin: LoadedPlugin, env: Environment): string[] {
  const { name, manifest, fault } = plugin
  if (!manifest) return [name, `  broken  ${fault?.message}`]
  const lines = [`${name} ${manifest.version}${manifest.description ? `  ${manifest.description}` : ''}`]
  for (const kind of PLUGIN_KINDS) {
    const provides = manifest.provides[kind]
    if (provides) lines.push(...describeKind(kind, provides))
  }
  const before = lines.length
  for (const permission of PERMISSIONS) {
    const needed = manifest.permissions[permission] ?? []
    const requested = wishesOf(manifest)[permission] ?? []
    for (const entry of requested) {
      lines.push(
        `  ${permission.padEnd(9)} ${entry}  ${statusOf(plugin, permission, entry, needed.includes(entry), env)}`,
      )
    }
    for (const entry of plugin.granted[permission] ?? []) {
      if (!requested.includes(entry)) lines.push(`  ${permission.padEnd(9)} ${entry}  granted, though not asked for`)
    }
  }
  if (lines.length === before) lines.push('  asks for nothing')
  return lines
}

function describeKind(
  kind: string,
  { models, voices, languages, defaultModel, defaultVoice, notice }: Provides,
): string[] {
  const lists = [
    ['models', models, defaultModel] as const,
    ['voices', voices, defaultVoice] as const,
    ['languages', languages, undefined] as const,
  ]
  const shown = lists.flatMap(([what, list, preferred]) => {
    if (!list || list.length === 0) return preferred ? [`any of its ${what}, ${preferred} by default`] : []
    const names = list.slice(0, MAX_SHOWN).map((name) => (name === preferred ? `${name} (default)` : name))
    const more = list.length > MAX_SHOWN ? `, … ${list.length} in all` : ''
    return [`${what}: ${names.join(', ')}${more}`]
  })
  const [first = 'any model', ...rest] = notice === undefined ? shown : [...shown, notice]
  return [`  ${kind.padEnd(9)} ${first}`, ...rest.map((line) => `  ${' '.repeat(9)} ${line}`)]
}

function statusOf(
  plugin: LoadedPlugin,
  permission: Permission,
  entry: string,
  isNeeded: boolean,
  env: Environment,
): string {
  const { name, grants, granted } = plugin
  const named = permission === 'net' || permission === 'listen'
  const variable = named ? variableOf(entry) : permission === 'env' ? entry : undefined
  const unset = variable !== undefined && !env[variable]
  if (unset && named) return `(${variable} is not set)`
  if (coversRequest(permission, entry, grants, { env, baseDir: ROOT, literal: granted })) {
    return unset ? 'granted (not set)' : 'granted'
  }
  if (plugin.settings.deny?.[permission]?.includes(entry)) return 'denied in config/plugins.json'
  const cure = cureOf(name, permission, entry)
  return isNeeded ? `MISSING: ${cure}` : `optional, not granted: ${cure}`
}
