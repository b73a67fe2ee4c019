import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
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
import { loadPlugins, ROOT } from '../host.ts'
import { installDeno } from '../isolated/deno.ts'
import { readManifests } from '../manifest.ts'
import { installPlugin, notInstalled, type OwnPlugins, removePlugin, rollBackPlugin } from './installer.ts'
import { type InstalledEntry, pluginLock } from './lock.ts'
import type { Wish } from './missing-grants.ts'
import { describeOutdated } from './outdated.ts'
import { selfTest } from './self-test.ts'
import { updateSourceOf } from './source.ts'

export const PLUGINS_USAGE = `Usage: patchbay plugins <command>

  (none)             the plugins, what they offer, ask for and are granted
  add <source>       installs a third-party plugin: npm:<package>[@version], a folder, a tarball
                     or one .ts file
                     --grant=all grants what it asks for, --grant=needed leaves out what it can do
                     without, --allow-net=… and the like grant one thing;
                     --replace takes the place of one of that name from elsewhere;
                     --no-test leaves out trying what it does
  outdated           what could be updated
  update <name>      installs it again from where it came, the newest version of a package; asks
                     where it wants more; --all: every one
  rollback <name>    puts the version back that was there before the last update
  remove <name>      forgets it
  test <name>        has it do once what it is for; its provider may charge for that
  new <kind> <name>  a folder to start from; kinds: stt, tts, llm, embedding
  deno               installs Deno, in which plugins of others run
`

const KINDS = ['stt', 'tts', 'llm', 'embedding'] as const

interface PluginsCommand {
  words: readonly string[]
  flags: { grant: 'all' | 'needed' | undefined; noTest: boolean; replace: boolean; all: boolean }
  config: GrantFlags & { readonly dataDir: string }
  env: Environment
  say(line: string): void
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
        return await add(need('a package of npm, a folder or a tarball'), command)
      case 'outdated':
        return await describeOutdated(dataDir)
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
        return await removePlugin(dataDir, need('the name of an installed plugin'))
      case 'test':
        return await test(need('the name of a plugin'), command)
      case 'new':
        return await create(need('a kind'), name)
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
  return installPlugin(source, {
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

async function test(name: string, { config, env }: PluginsCommand): Promise<string> {
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

/** What the example needs for each kind, and its mod.ts then. */
const STARTS: Readonly<Record<(typeof KINDS)[number], { file: string; imports: string; factory: string }>> = {
  llm: {
    file: 'model.ts',
    imports: "import { chat } from './model.ts'",
    factory: 'llm: (host) => ({ chat: (request, signal) => chat(host, request, signal) }),',
  },
  stt: {
    file: 'ears.ts',
    imports: "import { InboundAudio } from './ears.ts'",
    factory: `stt: () => ({
    sampleRateHz: 16_000,
    async *recognise(audio) {
      const ears = new InboundAudio(16_000)
      for await (const samples of audio) yield* ears.push(samples)
      yield* ears.end()
    },
  }),`,
  },
  tts: {
    file: 'whistle.ts',
    imports: "import { whistle } from './whistle.ts'",
    factory: 'tts: () => ({ sampleRateHz: 16_000, speak: (text, signal) => whistle(text, 16_000, signal) }),',
  },
  embedding: {
    file: 'letters.ts',
    imports: "import { embed } from './letters.ts'",
    factory: 'embedding: () => ({ dimensions: 26, embed: async (texts) => texts.map(embed) }),',
  },
}

/** The example, cut down to one kind. */
async function create(kind: string, name: string | undefined): Promise<string> {
  if (!(KINDS as readonly string[]).includes(kind)) throw usage(`"${kind}" is none of ${KINDS.join(', ')}`)
  if (name === undefined || !/^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/.test(name)) {
    throw usage('patchbay plugins new needs a name of small letters, digits and hyphens')
  }
  const folder = resolve(name)
  const example = join(ROOT, 'examples/plugins/parrot')
  const { file, imports, factory } = STARTS[kind as (typeof KINDS)[number]]
  await mkdir(folder).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'EEXIST' ? usage(`"${folder}" is there already`) : cause
  })
  await cp(join(example, file), join(folder, file))
  const { permissions, provides } = JSON.parse(await readFile(join(example, 'plugin.json'), 'utf8')) as {
    permissions: object
    provides: Record<string, unknown>
  }
  const manifest = {
    name,
    version: '1.0.0',
    description: `A ${kind} plugin.`,
    provides: { [kind]: provides[kind] },
    // Only its model asks for something.
    permissions: kind === 'llm' ? permissions : {},
  }
  const code = `import { definePlugin } from '@patchbay/plugin'\n${imports}\n\nexport default definePlugin({\n  ${factory}\n})\n`
  await writeFile(join(folder, 'plugin.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await writeFile(join(folder, 'mod.ts'), code)
  await writeFile(join(folder, 'README.md'), `# ${name}\n`)
  return `Wrote ${folder}. Change mod.ts, then: npm run patchbay plugins add ${folder}`
}
