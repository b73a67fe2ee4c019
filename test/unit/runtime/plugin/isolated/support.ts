import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { loadPlugins, type PluginRegistry } from '../../../../../runtime/plugin/host.ts'
import { replaceLivekit } from '../../../../../runtime/plugin/install/replace-livekit.ts'

const EXAMPLES = join(import.meta.dirname, '../../../../../examples/plugins')

interface Written {
  mod: string
  provides?: object
  permissions?: object
  /** The schema of its options. */
  options?: object
  links?: Record<string, string>
  /** Files that stand beside it, by their names: where they are copied from. */
  files?: Record<string, string>
  /** A folder whose `node_modules` the plugin brings. */
  packages?: string
}

export interface Foreign {
  /** A plugin of examples/, or the text of a mod.ts. */
  plugin: 'parrot' | Written
  /** It comes from elsewhere, so that `isolation: 'none'` is for this contract. */
  isInstalled?: boolean
  settings?: object
  env?: Record<string, string>
}

/** A registry in which one foreign plugin, `parrot` or `probe`, runs in a process of its own; and what was logged. */
export async function foreign(t: Test, options: Foreign): Promise<{ registry: PluginRegistry; logged: string[] }> {
  const dir = mkdtempSync(join(tmpdir(), 'patchbay-foreign-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const { plugin, settings = {}, env = {}, isInstalled = false } = options
  const name = plugin === 'parrot' ? 'parrot' : 'probe'
  if (plugin === 'parrot') cpSync(join(EXAMPLES, 'parrot'), join(dir, 'plugins/parrot'), { recursive: true })
  else {
    mkdirSync(join(dir, 'plugins/probe'), { recursive: true })
    const { provides = { llm: {} }, permissions = {}, options: schema, links = {}, files = {}, packages } = plugin
    if (packages !== undefined) {
      cpSync(join(packages, 'node_modules'), join(dir, 'plugins/probe/node_modules'), { recursive: true })
      await replaceLivekit(join(dir, 'plugins/probe'))
    }
    for (const [file, target] of Object.entries(links)) symlinkSync(target, join(dir, 'plugins/probe', file))
    for (const [file, from] of Object.entries(files)) cpSync(from, join(dir, 'plugins/probe', file))
    const manifest = { name, version: '1.0.0', provides, permissions, ...(schema && { options: schema }) }
    writeFileSync(join(dir, 'plugins/probe/plugin.json'), JSON.stringify(manifest))
    writeFileSync(join(dir, 'plugins/probe/mod.ts'), plugin.mod)
  }
  const settingsFile = join(dir, 'plugins.json')
  writeFileSync(settingsFile, JSON.stringify({ [name]: { isolation: 'process', ...settings } }))
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line).msg) })
  const config = { dataDir: join(dir, 'data'), devPlugins: isInstalled ? [join(dir, 'plugins', name)] : [] }
  mkdirSync(config.dataDir)
  const registry = await loadPlugins({
    dir: isInstalled ? config.dataDir : join(dir, 'plugins'),
    settingsFile,
    config,
    env,
    log,
    signal: stop.signal,
    createTimeoutMs: 60_000,
  })
  return { registry, logged }
}
