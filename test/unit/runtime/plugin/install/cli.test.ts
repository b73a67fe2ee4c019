import { execFile, execFileSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { startNpmRegistry } from '../../../../support/providers/doubles/downloads/npm-registry.ts'

const ROOT = join(import.meta.dirname, '../../../../..')
const PARROT = join(ROOT, 'examples/plugins/parrot')

interface Said {
  out: string
  err: string
  code: number
}

/** `patchbay plugins …` in a data folder of its own. */
function commandLine(
  t: Test,
  more: Readonly<Record<string, string>> = {},
): { folder: string; run(...args: string[]): Promise<Said> } {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-install-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // What one command compiled, the next need not: a new HOME has nothing.
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const env = { PATH, NODE_COMPILE_CACHE, HOME: folder, PATCHBAY_DATA_DIR: join(folder, 'data'), ...more }
  const run = (...args: string[]): Promise<Said> =>
    new Promise((resolve) => {
      const argv = [join(ROOT, 'main.ts'), 'plugins', ...args]
      const child = execFile(process.execPath, argv, { env, cwd: folder, timeout: 600_000 }, (_error, out, err) => {
        resolve({ out, err, code: child.exitCode ?? 1 })
      })
      child.stdin?.end()
    })
  return { folder, run }
}

test('a plugin is installed once it was granted what it asks for and does what it says', async (t) => {
  const { folder, run } = commandLine(t)
  const refused = await run('add', PARROT)
  t.equal(refused.code, 1)
  t.match(refused.err, /parrot 1\.0\.0 wants to connect to \$\{PARROT_URL\}, to read the variable PARROT_URL/)
  t.match(refused.err, /--grant=all/)
  t.notMatch((await run()).out, /^parrot /m)

  const added = await run('add', PARROT, '--grant=all')
  t.equal(added.code, 0, added.err)
  t.match(added.out, /Installed parrot 1\.0\.0/)
  t.match(added.err, /ok +llm: answered "You said: Say hello\."/)
  t.match((await run()).out, /^parrot 1\.0\.0/m)
  t.match((await run('test', 'parrot')).out, /ok +tts: spoke for 0\.3 s/)

  const lock = JSON.parse(readFileSync(join(folder, 'data/plugins/plugins.lock.json'), 'utf8'))
  t.match(lock.plugins.parrot, { version: '1.0.0', source: PARROT, digest: /^sha512-/ })

  const [version = ''] = readdirSync(join(folder, 'data/plugins/parrot'))
  appendFileSync(join(folder, 'data/plugins/parrot', version, 'model.ts'), '\n// changed\n')
  t.match((await run()).out, /parrot\n +broken .*its files were changed since it was installed/)

  t.match((await run('remove', 'parrot')).out, /Removed parrot/)
  t.notOk(existsSync(join(folder, 'data/plugins/parrot')))
  const gone = await run('remove', 'parrot')
  t.match(gone.err, /Plugin "parrot" is not installed; installed are: none/)
})

test('an update that wants more asks again, and leaves what was there when it is not granted', async (t) => {
  const { folder, run } = commandLine(t)
  const source = join(folder, 'bird')
  cpSync(PARROT, source, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(source, 'plugin.json'), 'utf8'))
  const write = (changes: object): void =>
    writeFileSync(
      join(source, 'plugin.json'),
      JSON.stringify({ ...manifest, name: 'bird', provides: { llm: {} }, ...changes }),
    )
  write({})
  t.equal((await run('add', source, '--grant=all')).code, 0)
  write({ version: '1.1.0' })
  t.match(
    (await run('update', 'bird')).out,
    /Updated bird from 1\.0\.0 to 1\.1\.0/,
    'the same wishes are granted still',
  )
  write({ version: '2.0.0', permissions: { net: ['tracker.example:443'] } })
  const refused = await run('update', 'bird')
  t.match(refused.err, /bird 2\.0\.0 wants to connect to tracker\.example:443/)
  t.match((await run()).out, /^bird 1\.1\.0/m)
})

test('what can’t be installed says why, and leaves nothing', async (t) => {
  const { folder, run } = commandLine(t)
  const source = join(folder, 'odd')
  cpSync(PARROT, source, { recursive: true })
  const write = (manifest: object): void =>
    writeFileSync(
      join(source, 'plugin.json'),
      JSON.stringify({ name: 'odd', version: '1.0.0', provides: { llm: {} }, permissions: {}, ...manifest }),
    )
  for (const [what, manifest, why] of [
    ['a name that is taken', { name: 'openai' }, /Patchbay has a plugin of that name/],
    ['programs', { permissions: { run: ['sh'] } }, /wants to run the program sh, which no third-party plugin may/],
    ['a kind that there is not', { provides: { teleporter: {} } }, /teleporter/],
    ['an unknown field', { extra: 1 }, /extra/],
  ] as const) {
    write(manifest)
    const { err, code } = await run('add', source, '--grant=all')
    t.equal(code, 1, what)
    t.match(err, why, what)
  }
  write({})
  writeFileSync(join(source, 'mod.ts'), 'export default {}')
  t.match((await run('add', source, '--grant=all')).err, /does not do what it says|can't make llm/)
  t.match((await run('add', 'no such thing')).err, /no folder, no tarball and no name of a package/)
  t.match((await run('add', folder)).err, /it has no plugin\.json/)
  t.match((await run('bogus')).err, /is no command of patchbay plugins/)
  t.notOk(existsSync(join(folder, 'data/plugins/odd')))
})

test('what a manifest says is shown as it is, not obeyed by the terminal', async (t) => {
  const { folder, run } = commandLine(t)
  const source = join(folder, 'odd')
  cpSync(PARROT, source, { recursive: true })
  const hidden = '\u001b[2K\u001b[1A'
  const manifest = {
    name: 'odd',
    version: `1.0.0${hidden}`,
    description: `kind${hidden}`,
    provides: { llm: { notice: `no${hidden}` } },
    permissions: { read: [`/etc${hidden}`], net: [`unix:/run/docker.sock${hidden}`] },
  }
  writeFileSync(join(source, 'plugin.json'), JSON.stringify(manifest))
  const refused = await run('add', source)
  t.match(refused.err, 'read /etc\\u{1b}[2K')
  t.match(refused.err, 'unix:/run/docker.sock\\u{1b}[2K')
  t.notMatch(refused.err, '\u001b')
  writeFileSync(join(source, 'plugin.json'), JSON.stringify({ ...manifest, [hidden]: 1 }))
  t.notMatch((await run('add', source)).err, '\u001b')
})

test('a new plugin can be installed as it is written', async (t) => {
  const { folder, run } = commandLine(t)
  t.match((await run('new', 'llm', 'my-model')).out, /Wrote /)
  t.equal((await run('add', join(folder, 'my-model'), '--grant=all')).code, 0)
  t.match((await run('new', 'llm')).err, /needs the path of a folder/)
})

test('no script of a package runs while it is installed, wherever it comes from', async (t) => {
  const registry = await startNpmRegistry(t)
  const { folder, run } = commandLine(t, { npm_config_registry: registry.url })
  const source = join(folder, 'eager')
  const marker = join(folder, 'ran')
  cpSync(PARROT, source, { recursive: true })
  const write = (file: string, content: object): void => writeFileSync(join(source, file), JSON.stringify(content))
  write('plugin.json', { name: 'eager', version: '1.0.0', provides: { llm: {} }, permissions: { env: ['PARROT_URL'] } })
  const all = ['preinstall', 'install', 'postinstall', 'prepublish', 'prepare', 'prepack', 'pack', 'postpack']
  const scripts = Object.fromEntries(all.map((name) => [name, `echo ${name} >> ${marker}`]))
  write('package.json', { name: 'eager', version: '1.0.0', type: 'module', scripts })
  const tarball = join(folder, 'eager.tgz')
  execFileSync('tar', ['-czf', tarball, '-C', folder, 'eager'])
  await registry.publish(source)

  for (const [what, from] of [
    ['a package of npm', 'eager'],
    ['a version of one', 'eager@1.0.0'],
    ['a folder', source],
    ['a tarball', tarball],
  ] as const) {
    const { out, err, code } = await run('add', from, '--grant=all', '--replace')
    t.equal(code, 0, `${what}: ${err}`)
    t.match(out, /(Installed eager 1\.0\.0|Updated eager from 1\.0\.0 to 1\.0\.0)/, what)
    t.match(
      err,
      /scripts that npm would run to install it \(preinstall, install, postinstall, prepare\); they are not run/,
      what,
    )
    t.notOk(existsSync(marker), `${what}: ${existsSync(marker) ? readFileSync(marker, 'utf8') : 'nothing'} ran`)
  }
  t.ok(registry.asked.includes('/eager/-/eager-1.0.0.tgz'), 'it did come from the registry')

  t.match((await run('add', 'nowhere')).err, /"nowhere" can't be installed: npm could not fetch it: .*Not [Ff]ound/)
  write('package.json', { name: 'forged', version: '1.0.0', scripts })
  await registry.publish(source, `sha512-${Buffer.alloc(64).toString('base64')}`)
  const forged = await run('add', 'forged', '--grant=all')
  t.equal(forged.code, 1)
  t.match(forged.err, /"forged" can't be installed: npm could not fetch it: .*integrity/, 'what is not what it says')
})
