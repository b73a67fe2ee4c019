import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { initializeLogger } from '@livekit/agents'
import { dispose } from '@livekit/rtc-node'
import { pino } from 'pino'
import { PatchbayError } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import type { PluginKind } from '../contract.ts'
import type { Environment } from '../grants/net-rule.ts'
import { type GrantFlags, grantsOfFlags } from '../grants/permissions.ts'
import { loadPlugins, type PluginRegistry, ROOT } from '../host.ts'
import { installDeno } from '../isolated/deno.ts'
import { readManifests } from '../manifest.ts'
import { findListed, readCatalogs } from './catalog.ts'
import { describeCatalogs } from './describe-catalogs.ts'
import { wishesOf } from './effective-grants.ts'
import { installPlugin, notInstalled, type OwnPlugins, removePlugin, rollBackPlugin } from './installer.ts'
import { type InstalledEntry, pluginLock } from './lock.ts'
import type { Wish } from './missing-grants.ts'
import { describeOutdated } from './outdated.ts'
import { packPlugin } from './pack-plugin.ts'
import { SCAFFOLD_KINDS, scaffold } from './scaffold.ts'
import { selfTest } from './self-test.ts'
import { fetchPlugin, updateSourceOf } from './source.ts'

export const PLUGINS_USAGE = `Usage: patchbay plugins <command>

  (none)             the plugins, what they offer, ask for and are granted
  search [words]     what the catalogs list that the operator configured
  add <source>       installs a third-party plugin: npm:<package>[@version], a folder, a tarball,
                     one .ts file, or catalog:<name>
                     --grant=all grants what it asks for, --grant=needed leaves out what it can do
                     without, --allow-net=… and the like grant one thing;
                     --replace takes the place of one of that name from elsewhere;
                     --no-test leaves out trying what it does
  outdated           what could be updated
  update <name>      installs it again from where it came, the newest version of a package; asks
                     where it wants more; --all: every one
  rollback <name>    puts the version back that was there before the last update
  remove <name>      forgets it, unless agents name it; --force: then as well
  test <name>        has it do once what it is for; its provider may charge for that
  test <folder>      has the plugin in a folder pass the suite of its kinds, in the sandbox
  build <folder>     has it pass that suite, and packs it with the packages it depends on into one
                     file that "add" takes
  new <kind> <path>  a folder to start from, anywhere; kinds: stt, tts, llm, embedding, tools,
                     telephony
  dev <folder>       starts Patchbay with the plugin in a folder: a change of its files counts for
                     the next session
  deno               installs Deno, in which third-party plugins run
`

interface PluginsCommand {
  words: readonly string[]
  flags: { grant: 'all' | 'needed' | undefined; noTest: boolean; replace: boolean; all: boolean; force: boolean }
  config: GrantFlags & { readonly dataDir: string; readonly pluginCatalogs?: readonly string[] | undefined }
  env: Environment
  say(line: string): void
  /** The agents that name a plugin, in words. */
  usersOf(name: string): Promise<readonly string[]>
}

/** Runs `patchbay plugins <command>`. Returns what to print; throws `plugin` or `configuration`. */
export async function runPluginsCommand(command: PluginsCommand): Promise<string> {
  const [verb = '', subject, name] = command.words
  const { dataDir } = command.config
  const need = (what: string): string => {
    if (subject === undefined) throw usage(`patchbay plugins ${verb} needs ${what}`)
    return subject
  }
  initializeLogger({ pretty: false, level: 'silent' })
  try {
    switch (verb) {
      case 'add':
        return await add(callersSource(need('a package of npm, a folder or a tarball'), command.env), command)
      case 'search':
        return await describeCatalogs(command.config.pluginCatalogs ?? [], command.words.slice(1))
      case 'outdated':
        return await describeOutdated(dataDir, command.config.pluginCatalogs ?? [])
      case 'update': {
        const { plugins } = await pluginLock.read(dataDir)
        if (command.flags.all) return await updateAll(Object.entries(plugins), command)
        const entry = plugins[need('the name of an installed plugin, or --all')]
        if (entry === undefined) throw notInstalled(need(''), Object.keys(plugins))
        return await add(updateSourceOf(entry.source), command)
      }
      case 'rollback':
        return await rollBackPlugin(dataDir, need('the name of an installed plugin'))
      case 'remove':
        return await remove(need('the name of an installed plugin'), command)
      case 'test':
        return await test(need('the name of a plugin, or a folder'), command)
      case 'build':
        return await build(need('a folder'), command)
      case 'new':
        return await create(need('a kind'), name, command.env)
      case 'deno':
        return `Deno is at ${await installDeno(dataDir)}`
      default:
        throw usage(`"${verb}" is no command of patchbay plugins`)
    }
  } finally {
    await dispose()
  }
}

function usage(why: string): PatchbayError {
  return new PatchbayError('configuration', { params: { reason: `${why}\n\n${PLUGINS_USAGE}` } })
}

const silent = pino({ level: 'silent' })

async function remove(name: string, { config, flags, usersOf }: PluginsCommand): Promise<string> {
  const { plugins } = await pluginLock.read(config.dataDir)
  if (plugins[name] === undefined) throw notInstalled(name, Object.keys(plugins))
  const users = flags.force ? [] : await usersOf(name)
  if (users.length === 0) return removePlugin(config.dataDir, name)
  const reason = `Plugin "${name}" is not removed: agents name it, whose calls would fail: ${users.map(printable).join(', ')}; give them another provider, or give --force`
  throw new PatchbayError('plugin', { params: { reason } })
}

/** One that can't be updated holds the others up no longer than it takes to say so. */
async function updateAll(
  plugins: readonly (readonly [name: string, entry: InstalledEntry])[],
  command: PluginsCommand,
): Promise<string> {
  const lines: string[] = []
  let failures = 0
  for (const [name, { source }] of plugins) {
    try {
      lines.push(await add(updateSourceOf(source), command))
    } catch (error) {
      failures++
      lines.push(`${name} was not updated: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const text = lines.join('\n') || 'No plugins are installed.'
  if (failures > 0) throw new PatchbayError('plugin', { params: { reason: text } })
  return text
}

/** What no third-party plugin may be taken for. */
async function ownPlugins(): Promise<OwnPlugins> {
  const folders = await readManifests(join(ROOT, 'plugins'))
  const manifests = folders.flatMap(({ manifest }) => manifest ?? [])
  const titled = manifests.map(({ name, title = name, permissions }) => ({ name, title, keys: permissions.env ?? [] }))
  return {
    names: new Set(titled.map(({ name }) => name)),
    titles: new Set(titled.flatMap(({ name, title }) => [name, title.toLowerCase()])),
    keyOwners: new Map(titled.flatMap(({ title, keys }) => keys.map((key) => [key, title] as const))),
  }
}

async function add(source: string, { config, env, flags, say }: PluginsCommand): Promise<string> {
  const granted = grantsOfFlags(config)
  const listed = source.startsWith('catalog:')
    ? findListed(await readCatalogs(config.pluginCatalogs ?? [], Date.now()), source)
    : undefined
  return installPlugin(listed === undefined ? source : `npm:${listed.package}@${listed.version}`, {
    listed,
    dataDir: config.dataDir,
    own: await ownPlugins(),
    env,
    log: silent,
    granted: (name) => granted.get(name) ?? {},
    say: (line) => say(printable(line)),
    test: !flags.noTest,
    replace: flags.replace,
    ask: (name, version, wishes) => askFor(name, version, wishes, flags.grant, say),
  })
}

/** Which of its wishes a plugin is granted: by the flag, or by what the operator answers. */
async function askFor(
  name: string,
  version: string,
  wishes: readonly Wish[],
  grant: PluginsCommand['flags']['grant'],
  say: PluginsCommand['say'],
): Promise<readonly Wish[]> {
  const needed = wishes.filter(({ isOptional }) => !isOptional)
  const optional = wishes.filter(({ isOptional }) => isOptional)
  const inWords = (some: readonly Wish[]): string => some.map(({ sentence }) => sentence).join(', to ')
  const sentences = [
    ...(needed.length === 0 ? [] : [`${name} ${version} wants to ${inWords(needed)}.`]),
    ...(optional.length === 0 ? [] : [`It would like to ${inWords(optional)}.`]),
  ]
  for (const sentence of sentences) say(printable(sentence))
  if (grant === 'all') return wishes
  if (grant === 'needed') return needed
  if (!process.stdin.isTTY) return []
  const line = createInterface({ input: process.stdin, output: process.stderr })
  const isGranted = async (question: string): Promise<boolean> =>
    /^y(es)?$/i.test((await line.question(`${printable(question)} [y/N] `)).trim())
  try {
    if (needed.length > 0 && !(await isGranted('Grant what it needs?'))) return []
    const granted = [...needed]
    for (const wish of optional) if (await isGranted(`Let it ${wish.sentence}?`)) granted.push(wish)
    return granted
  } finally {
    line.close()
  }
}

async function test(name: string, command: PluginsCommand): Promise<string> {
  const { config, env } = command
  const folder = callersPath(name, env)
  if (existsSync(join(folder, 'plugin.json'))) return testFolder(folder, command)
  const stop = new AbortController()
  try {
    const registry = await loadPlugins({ config, env, log: silent, signal: stop.signal, createTimeoutMs: 90_000 })
    const plugin = registry.plugins.find((one) => one.name === name)
    if (plugin === undefined)
      throw notInstalled(
        name,
        registry.plugins.map((one) => one.name),
      )
    if (plugin.fault !== undefined) throw plugin.fault
    const kinds = Object.keys(plugin.manifest?.provides ?? {}) as PluginKind[]
    const results = await selfTest(registry, name, kinds)
    const lines = results.map(({ kind, said, ok }) => printable(`${ok ? 'ok    ' : 'FAILED'}  ${kind}: ${said}`))
    if (results.every(({ ok }) => ok)) return lines.join('\n') || `${name} has no kind that can be tried so`
    throw new PatchbayError('plugin', { params: { reason: `Plugin "${name}" failed:\n${lines.join('\n')}` } })
  } finally {
    stop.abort()
  }
}

/** Has a plugin in a folder, which is not installed, pass the suite of its author's tests in the sandbox, with what it asks for. */
async function testFolder(folder: string, { config, env }: PluginsCommand): Promise<string> {
  const stop = new AbortController()
  const fetched = await fetchPlugin(folder)
  const { name } = fetched.manifest
  try {
    await installDeno(config.dataDir)
    const registry = await loadPlugins({
      only: { name, dir: fetched.folder, settings: { isolation: 'process', grant: wishesOf(fetched.manifest) } },
      config: { dataDir: config.dataDir },
      env,
      log: silent,
      signal: stop.signal,
      createTimeoutMs: 90_000,
    })
    const [plugin] = registry.plugins
    if (plugin?.fault !== undefined) throw plugin.fault
    return await conformance(registry, name)
  } finally {
    stop.abort()
    await fetched.remove()
  }
}

/** Packs a plugin that passes its suite into the folder where the command was given. */
async function build(path: string, command: PluginsCommand): Promise<string> {
  const folder = callersPath(path, command.env)
  const said = await testFolder(folder, command)
  return `${said}\n${await packPlugin(folder, callersPath('.', command.env))}`
}

const CONFORMANCE_TIMEOUT_MS = 300_000

async function conformance(registry: PluginRegistry, name: string): Promise<string> {
  const results = await registry.conformance(name, CONFORMANCE_TIMEOUT_MS)
  const lines = results.map(({ kind, behaviour, fault }) =>
    printable(fault === undefined ? `ok      ${kind} ${behaviour}` : `FAILED  ${kind} ${behaviour}: ${fault}`),
  )
  if (results.every(({ fault }) => fault === undefined)) return lines.join('\n') || `${name} has no kind with a suite`
  throw new PatchbayError('plugin', { params: { reason: `Plugin "${name}" failed:\n${lines.join('\n')}` } })
}

/** Where a path of the command starts: npm runs in the folder of Patchbay, whichever folder it was called in. */
const callersPath = (path: string, env: Environment): string => resolve(env.INIT_CWD ?? '', path)

/** A path that is there, made absolute; anything else as it is. */
function callersSource(source: string, env: Environment): string {
  const path = callersPath(source, env)
  return existsSync(path) ? path : source
}

/** A folder to start from. */
async function create(kind: string, path: string | undefined, env: Environment): Promise<string> {
  const known = SCAFFOLD_KINDS.find((one) => one === kind)
  if (known === undefined) throw usage(`"${kind}" is none of ${SCAFFOLD_KINDS.join(', ')}`)
  if (path === undefined)
    throw usage('patchbay plugins new needs the path of a folder, whose name is the name of the plugin')
  const folder = callersPath(path, env)
  await scaffold(known, folder)
  return `Wrote ${folder}. Change mod.ts, and see what it does: npm run patchbay plugins dev ${folder}`
}
