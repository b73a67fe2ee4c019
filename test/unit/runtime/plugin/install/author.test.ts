import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { initializeLogger } from '@livekit/agents'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import { loadPlugins } from '../../../../../runtime/plugin/host.ts'
import { runPluginsCommand } from '../../../../../runtime/plugin/install/cli.ts'
import { SCAFFOLD_KINDS } from '../../../../../runtime/plugin/install/scaffold.ts'
import { waitUntil } from '../../../../support/world/wait-until.ts'

initializeLogger({ pretty: false, level: 'silent' })
const ROOT = join(import.meta.dirname, '../../../../..')

/** An empty folder outside the checkout. */
function outside(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-author-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** `patchbay plugins …`, called in a folder by npm. */
const patchbay = (folder: string, ...words: string[]): Promise<string> =>
  runPluginsCommand({
    words,
    flags: { grant: 'all', noTest: false, replace: false, all: false, force: words.includes('--force') },
    config: { dataDir: join(folder, 'data') },
    env: { INIT_CWD: folder, TINCAN_URL: 'http://127.0.0.1:9', TINCAN_KEY: 'k' },
    say: () => undefined,
    usersOf: async (name) => (name === 'used' ? ['Front desk (Hotel Aurora)'] : []),
  })

for (const kind of SCAFFOLD_KINDS) {
  test(`a new ${kind} plugin lies where its author is, passes its own test and the suite, and has strict types`, async (t) => {
    const folder = outside(t)
    t.match(await patchbay(folder, 'new', kind, './deep/my-plugin'), /Wrote .*deep\/my-plugin/)
    const place = join(folder, 'deep/my-plugin')
    const options = { cwd: place, timeout: 120_000 }
    await promisify(execFile)('npm', ['install', '--offline', '--no-audit', '--no-fund'], options)
    const { stdout } = await promisify(execFile)('npm', ['test'], options)
    t.match(stdout, /pass 1/)
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const { stdout: faults } = await promisify(execFile)(process.execPath, [tsc, '-p', '.'], options).catch(
      (error) => error,
    )
    t.equal(faults, '')
    const suite = await patchbay(folder, 'test', './deep/my-plugin')
    t.match(suite, new RegExp(`^ok +${kind} `, 'm'))
    t.notMatch(suite, /FAILED/)
    t.match(await patchbay(folder, 'add', 'deep/my-plugin'), /Installed my-plugin 1\.0\.0/)
    await t.rejects(patchbay(folder, 'new', kind, 'deep/my-plugin'), { message: /is there already/ })
  })
}

test('the suite says which behaviour a plugin lacks', async (t) => {
  const folder = outside(t)
  await patchbay(folder, 'new', 'tts', 'mute')
  const mod = `import { definePlugin } from '@patchbay/plugin'
export default definePlugin({ tts: () => ({ sampleRateHz: 16000, async *speak(text) {
  if (text.length > 100) for (;;) { yield new Int16Array(160); await new Promise((resolve) => setTimeout(resolve, 20)) }
  yield new Uint8Array(2)
} }) })
`
  writeFileSync(join(folder, 'mute/mod.ts'), mod)
  await t.rejects(patchbay(folder, 'test', 'mute'), {
    message:
      /FAILED {2}tts speaks in 16-bit samples: .*it yielded a Uint8Array(.|\n)*FAILED {2}tts stops when its signal aborts: It went on for more than 1000 ms/,
  })
})

test('a manifest for a later contract or another Patchbay is refused with what it needs', async (t) => {
  const folder = outside(t)
  await patchbay(folder, 'new', 'embedding', 'later')
  const file = join(folder, 'later/plugin.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  for (const [more, words] of [
    [{ specification: 2 }, /written for specification 2 of plugins, and this Patchbay has 1/],
    [{ engines: { patchbay: '>=99.0.0' } }, /needs Patchbay >=99\.0\.0, and this is/],
    [{ engines: { patchbay: '>=0.0.1 <0.0.2' } }, /needs Patchbay >=0\.0\.1 <0\.0\.2/],
  ] as const) {
    writeFileSync(file, JSON.stringify({ ...manifest, ...more }))
    await t.rejects(patchbay(folder, 'add', 'later'), { message: words })
  }
})

/** How many processes of plugins in a folder run (Linux). */
function processesIn(folder: string): number {
  const isIts = (pid: string): boolean => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`deno-main.ts\0${folder}`)
    } catch {
      return false
    }
  }
  return readdirSync('/proc').filter(isIts).length
}

test('a change of a plugin that is being written counts for the next session, and a running one ends as it began', async (t) => {
  const folder = outside(t)
  await patchbay(folder, 'new', 'embedding', 'draft')
  const write = (value: number) =>
    writeFileSync(
      join(folder, 'draft/mod.ts'),
      `import { definePlugin } from '@patchbay/plugin'
export default definePlugin({ embedding: () => ({ dimensions: 1, embed: async (texts) => {
  if (texts[0] === 'slow') await new Promise((resolve) => setTimeout(resolve, 4000))
  return texts.map(() => [${value}])
} }) })
`,
    )
  write(1)
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const { signal } = stop
  const logged: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line).msg) })
  const config = { dataDir: join(folder, 'data'), devPlugins: [join(folder, 'draft')] }
  const registry = await loadPlugins({ config, env: {}, log, signal, createTimeoutMs: 60_000 })
  const ask = async (text: string) => {
    const [vector] = await (await registry.create('embedding', 'draft')).embed([text], signal)
    return vector?.[0]
  }
  t.equal(await ask('now'), 1)
  t.equal(processesIn(folder), 1)
  const running = ask('slow')
  await sleep(300)
  write(2)
  await waitUntil(
    async () => (await ask('now')) === 2,
    () => 'the changed plugin',
    { everyMs: 50, timeoutMs: 30_000 },
  )
  t.equal(await running, 1)
  t.ok(logged.some((line) => line === 'Plugin "draft" changed: sessions that begin now run the new code'))
  writeFileSync(join(folder, 'draft/mod.ts'), 'throw new Error("not yet")\n')
  const soon = { everyMs: 50, timeoutMs: 20_000 }
  await waitUntil(() => logged.some((line) => line.includes('not yet')), undefined, soon)
  await t.rejects(
    registry.create('embedding', 'draft').then((made) => made.embed(['x'], signal)),
    { message: /not yet/ },
  )
  await waitUntil(
    () => processesIn(folder) === 0,
    () => 'the end of processes whose code is broken',
    soon,
  )
  write(3)
  await waitUntil(async () => (await ask('now').catch(() => 2)) !== 2, undefined, soon)
  t.equal(await ask('now'), 3, 'it runs again once it is mended')
})

test('a plugin is built into one file, with the packages it depends on, and installed from it', async (t) => {
  const folder = outside(t)
  await patchbay(folder, 'new', 'embedding', 'packed')
  const place = join(folder, 'packed')
  const own = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
  const brought = join(folder, 'one.tgz')
  mkdirSync(join(folder, 'package'))
  writeFileSync(
    join(folder, 'package/package.json'),
    JSON.stringify({ name: 'one', version: '1.2.3', exports: './one.mjs' }),
  )
  writeFileSync(join(folder, 'package/one.mjs'), 'export default 1\n')
  execFileSync('tar', ['-czf', brought, '-C', folder, 'package'])
  writeFileSync(join(place, 'package.json'), JSON.stringify({ ...own, dependencies: { one: `file:${brought}` } }))
  const mod = `import { definePlugin } from '@patchbay/plugin'
import one from 'one'
export default definePlugin({ embedding: () => ({ dimensions: one, embed: async (texts) => texts.map(() => [one]) }) })
`
  writeFileSync(join(place, 'mod.ts'), mod)
  t.match(
    await patchbay(folder, 'build', 'packed'),
    /^ok .*gives a vector(.|\n)*one@1\.2\.3\nWrote .*packed-1\.0\.0\.tgz \(sha512-/,
  )
  rmSync(brought)
  t.match(await patchbay(folder, 'add', 'packed-1.0.0.tgz'), /Installed packed 1\.0\.0/)
  writeFileSync(join(place, 'mod.ts'), mod.replace('[one]', "['x']"))
  rmSync(join(folder, 'packed-1.0.0.tgz'))
  writeFileSync(join(place, 'package.json'), JSON.stringify(own))
  await t.rejects(patchbay(folder, 'build', 'packed'))
  t.notOk(existsSync(join(folder, 'packed-1.0.0.tgz')), 'what fails its suite is not packed')
})

test('a plugin that agents name is removed by force alone', async (t) => {
  const folder = outside(t)
  for (const name of ['used', 'free']) {
    await patchbay(folder, 'new', 'embedding', name)
    await patchbay(folder, 'add', name)
  }
  t.match(await patchbay(folder, 'remove', 'free'), /Removed free/)
  await t.rejects(patchbay(folder, 'remove', 'used'), {
    message: /is not removed: agents name it, whose calls would fail: Front desk \(Hotel Aurora\); .*--force/,
  })
  t.match(await patchbay(folder, 'remove', 'used', '--force'), /Removed used/)
})
