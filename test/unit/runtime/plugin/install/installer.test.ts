import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { initializeLogger } from '@livekit/agents'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import { SETTINGS } from '../../../../../config/schema.ts'
import { loadPlugins } from '../../../../../runtime/plugin/host.ts'
import {
  type InstallOptions,
  installPlugin,
  removePlugin,
  rollBackPlugin,
} from '../../../../../runtime/plugin/install/installer.ts'
import { pluginLock } from '../../../../../runtime/plugin/install/lock.ts'
import { isOurVariable } from '../../../../../runtime/plugin/install/our-variables.ts'
import { describeOutdated } from '../../../../../runtime/plugin/install/outdated.ts'
import { updateSourceOf } from '../../../../../runtime/plugin/install/source.ts'
import { startNpmRegistry } from '../../../../support/providers/doubles/downloads/npm-registry.ts'

initializeLogger({ pretty: false, level: 'silent' })
const log = pino({ level: 'silent' })
const MOD = `import { definePlugin } from '@patchbay/plugin'
export default definePlugin({ embedding: () => ({ dimensions: 1, embed: async (texts) => texts.map(() => [1]) }) })
`

interface World {
  dataDir: string
  said: string[]
  asked: string[]
  /** Writes a folder with a plugin in it; its path. */
  folder(place: string, manifest?: object, mod?: string): string
  add(source: string, more?: Partial<InstallOptions>): Promise<string>
  grant(name: string): Promise<object | undefined>
}

function world(t: Test): World {
  const root = t.testdir({})
  const dataDir = join(root, 'data')
  const said: string[] = []
  const asked: string[] = []
  return {
    dataDir,
    said,
    asked,
    folder(place, manifest = {}, mod = MOD) {
      const path = join(root, place)
      rmSync(path, { recursive: true, force: true })
      mkdirSync(path)
      const whole = { name: 'acme', version: '1.0.0', provides: { embedding: {} }, permissions: {}, ...manifest }
      writeFileSync(join(path, 'plugin.json'), JSON.stringify(whole))
      writeFileSync(join(path, 'mod.ts'), mod)
      return path
    },
    add: (source, more = {}) =>
      installPlugin(source, {
        dataDir,
        own: {
          names: new Set(['openai']),
          titles: new Set(['openai']),
          keyOwners: new Map([['OPENAI_API_KEY', 'OpenAI']]),
        },
        env: {},
        log,
        granted: () => ({}),
        async ask(_name, _version, wishes) {
          asked.push(...wishes.map(({ sentence }) => sentence))
          return wishes
        },
        say: (line) => said.push(line),
        test: false,
        replace: false,
        ...more,
      }),
    async grant(name) {
      return (await pluginLock.read(dataDir)).plugins[name]?.grant
    },
  }
}

test('a name is its source’s: another folder that claims it is refused, and replacing asks for everything anew', async (t) => {
  const { folder, add, grant, asked } = world(t)
  const permissions = { net: ['api.acme.example:443'], env: ['ACME_KEY'] }
  await add(folder('one', { permissions }))
  const other = folder('other', { permissions })
  await t.rejects(add(other), { message: /a plugin of that name was installed from ".*\/one"; .*--replace/ })
  t.match(await add(folder('one', { permissions, version: '1.1.0' })), /Updated acme from 1\.0\.0 to 1\.1\.0/)
  t.same(
    asked.splice(0),
    ['connect to api.acme.example:443', 'read the variable ACME_KEY'],
    'its own update asks nothing',
  )
  const none = { replace: true, ask: async () => [] }
  await t.rejects(add(other, none), { message: /it was not granted to connect to api\.acme\.example:443/ })
  t.match(await add(other, { replace: true }), /Installed acme 1\.0\.0/)
  t.equal(asked.length, 2)
  t.same(await grant('acme'), permissions)
})

test('grants shrink with what is asked for, and what is dropped is said', async (t) => {
  const { folder, add, grant, said, dataDir } = world(t)
  await add(folder('one', { permissions: { net: ['a.example', 'b.example'], read: ['/etc/hosts'] } }))
  await add(folder('one', { version: '1.1.0', permissions: { net: ['a.example'] } }))
  t.same(await grant('acme'), { net: ['a.example'] })
  const dropped = said.filter((line) => line.includes('that grant is dropped'))
  t.match(dropped, [/no longer asks for net access to b\.example/, /no longer asks for read access to \/etc\/hosts/])
  const settingsFile = join(dataDir, 'plugins.json')
  const load = async (settings: object) => {
    writeFileSync(settingsFile, JSON.stringify({ acme: settings }))
    const signal = new AbortController().signal
    const { plugins } = await loadPlugins({ settingsFile, config: { dataDir }, env: {}, log, signal })
    return plugins.find(({ name }) => name === 'acme')?.granted
  }
  const wide = { read: ['/etc'], net: ['c.example', '10.0.0.0/8:443'], env: ['SECRET'] }
  t.same(
    await load({ grant: wide }),
    { net: ['a.example', '10.0.0.0/8:443'] },
    'what it doesn’t ask for is not granted',
  )
  t.same(await load({ deny: { net: ['a.example'] } }), {}, 'a denial beats a grant')
})

test('what it can do without may be left out, and reasons are shown', async (t) => {
  const { folder, add, grant, asked } = world(t)
  const manifest = {
    permissions: { env: ['ACME_KEY'] },
    optional: { net: ['stats.acme.example'] },
    reasons: { 'stats.acme.example': 'counts its users\u001b[2K' },
  }
  const ask: InstallOptions['ask'] = async (_name, _version, wishes) => {
    asked.push(...wishes.map(({ sentence }) => sentence))
    return wishes.filter(({ isOptional }) => !isOptional)
  }
  t.match(await add(folder('one', manifest), { ask }), /Installed/)
  t.same(asked, ['read the variable ACME_KEY', 'connect to stats.acme.example (counts its users\\u{1b}[2K)'])
  t.same(await grant('acme'), { env: ['ACME_KEY'] })
})

test('Patchbay’s own variables and another plugin’s title can’t be had, and another’s key is named as what it is', async (t) => {
  const { folder, add, asked } = world(t)
  for (const name of ['PATCHBAY_DATA_KEY', 'JWT_API_SECRET', 'DATABASE_URL']) {
    const source = folder('one', { permissions: { env: [name] } })
    await t.rejects(add(source), { message: new RegExp(`wants to read the variable ${name}, which no third-party`) })
  }
  for (const { env } of Object.values(SETTINGS)) t.ok(isOurVariable(env), env)
  await add(folder('one', { title: 'Acme', permissions: { env: ['OPENAI_API_KEY'] } }))
  t.same(asked, ['read the variable OPENAI_API_KEY, which is the key of OpenAI'])
  await t.rejects(add(folder('two', { name: 'two', title: 'OpenAI' })), { message: /calls itself "OpenAI"/ })
  await t.rejects(add(folder('two', { name: 'two', title: 'acme' })), { message: /the title of "acme"/ })
  await t.rejects(add(folder('two', { name: 'two', title: 'A\u001b[2K' })), {
    message: /characters that can’t be printed/,
  })
})

test('two commands at once lose nothing', async (t) => {
  const { folder, add, dataDir } = world(t)
  const names = ['one', 'two', 'three']
  await Promise.all(names.map((name) => add(folder(name, { name }))))
  t.same(Object.keys((await pluginLock.read(dataDir)).plugins).sort(), [...names].sort())
  t.notOk(existsSync(join(dataDir, 'plugins/.changing')))
  writeFileSync(join(dataDir, 'plugins/.changing'), '999999999')
  t.match(await removePlugin(dataDir, 'two'), /Removed two/, 'what a dead command left holds nobody up')
})

test('an update can be taken back, and two versions are kept', async (t) => {
  const { folder, add, dataDir, grant } = world(t)
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
    await add(folder('one', { version, permissions: { net: [`v${version}.example`] } }))
  }
  const versions = () => readdirSync(join(dataDir, 'plugins/acme')).length
  t.equal(versions(), 2)
  t.match(await rollBackPlugin(dataDir, 'acme'), /Went back from acme 1\.2\.0 to 1\.1\.0/)
  t.same(await grant('acme'), { net: ['v1.1.0.example'] }, 'with what was granted to it')
  const signal = new AbortController().signal
  const { plugins } = await loadPlugins({ config: { dataDir }, env: {}, log, signal })
  t.equal(plugins.find(({ name }) => name === 'acme')?.manifest?.version, '1.1.0')
  t.match(await rollBackPlugin(dataDir, 'acme'), /to 1\.2\.0/, 'and forth')
  await add(folder('two', { name: 'two' }))
  await t.rejects(rollBackPlugin(dataDir, 'two'), { message: /has no version to go back to/ })
})

test('files that change beside a running plugin are not run by its next process', async (t) => {
  const { folder, add, dataDir } = world(t)
  await add(folder('one'))
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const { signal } = stop
  const registry = await loadPlugins({ config: { dataDir }, env: {}, log, signal, createTimeoutMs: 60_000 })
  const [version = ''] = readdirSync(join(dataDir, 'plugins/acme'))
  writeFileSync(join(dataDir, 'plugins/acme', version, 'mod.ts'), MOD.replace('[1]', '[666]'))
  await t.rejects(registry.create('embedding', 'acme'), { message: /its files were changed since it was installed/ })
})

test('a plugin of npm comes with its packages, whose scripts don’t run, and says where all of it is from', async (t) => {
  const registry = await startNpmRegistry(t)
  process.env.npm_config_registry = registry.url
  t.teardown(() => delete process.env.npm_config_registry)
  const { folder, add, said, dataDir } = world(t)
  const marker = join(dataDir, '..', 'ran')
  const number = folder('number')
  const scripts = { postinstall: `touch ${marker}` }
  const write = (path: string, manifest: object) => writeFileSync(join(path, 'package.json'), JSON.stringify(manifest))
  const mod = MOD.replace('[1]', '[one]').replace('import {', "import { one } from 'number-one'\nimport {")
  writeFileSync(join(number, 'index.js'), 'export const one = 1\n')
  write(number, { name: 'number-one', version: '3.1.0', type: 'module', exports: './index.js', scripts })
  await registry.publish(number)
  const source = folder('one', {}, mod)
  const dependencies = { 'number-one': '^3.0.0', '@patchbay/plugin': '^1.0.0' }
  write(source, { name: 'acme-plugin', version: '1.0.0', type: 'module', dependencies, scripts })
  await registry.publish(source)
  t.match(await add('npm:acme-plugin@1.0.0', { test: true }), /Installed acme 1\.0\.0/)
  t.match(said, [/^It is acme-plugin@1\.0\.0 of npm, sha512-/, 'Packages of npm that it brings (1): number-one@3.1.0'])
  t.ok(
    said.some((line) => /^ok +embedding/.test(line)),
    'it runs with them',
  )
  t.notOk(existsSync(marker))
  t.notOk(
    registry.asked.some((path) => path.includes('patchbay')),
    'what Patchbay gives is never fetched',
  )
  t.equal(await describeOutdated(dataDir), 'Every installed plugin is what its source has.')
  folder('one', { version: '1.1.0' }, mod)
  write(source, { name: 'acme-plugin', version: '1.1.0', type: 'module', dependencies, scripts })
  await registry.publish(source)
  t.match(await describeOutdated(dataDir), /^acme {2}1\.0\.0 -> 1\.1\.0/)
  t.match(await add(updateSourceOf('npm:acme-plugin@1.0.0')), /Updated acme from 1\.0\.0 to 1\.1\.0/)
})

test('a plugin may be one file, its manifest in a comment', async (t) => {
  const { dataDir, add } = world(t)
  const file = join(dataDir, '..', 'acme.ts')
  writeFileSync(file, MOD)
  await t.rejects(add(file), { message: /has no manifest in a comment/ })
  const manifest = { name: 'acme', version: '1.0.0', provides: { embedding: {} }, permissions: {} }
  writeFileSync(file, `/* plugin.json ${JSON.stringify(manifest)} */\n${MOD}`)
  t.match(await add(file, { test: true }), /Installed acme 1\.0\.0/)
})
