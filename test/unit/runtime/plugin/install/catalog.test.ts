import { execFile } from 'node:child_process'
import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, createReadStream, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { type Test, test } from 'tap'
import { findListed, readCatalogs } from '../../../../../runtime/plugin/install/catalog.ts'
import { runPluginsCommand } from '../../../../../runtime/plugin/install/cli.ts'
import { startNpmRegistry } from '../../../../support/providers/doubles/downloads/npm-registry.ts'
import { makeAuthority } from '../../../../support/sip/certificates.ts'

const MAIN = join(import.meta.dirname, '../../../../../main.ts')
const PARROT = join(import.meta.dirname, '../../../../../examples/plugins/parrot')
const DIGEST = `sha512-${Buffer.alloc(64).toString('base64')}`
const ENTRY = {
  ...{ name: 'bird', version: '1.0.0', package: 'bird', digest: DIGEST, publisher: 'Birds Inc.', kinds: ['llm'] },
  ...{ description: 'Says back what it read.', permissions: { env: ['PARROT_URL'] } },
  conformance: { specification: 1, on: '2026-11-20' },
}
const CATALOG = { title: 'Birds', expires: '2126-01-01', plugins: [ENTRY] }

/** A publisher of catalogs: writes them into a folder, signed. */
function publisher(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-catalog-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
  const publish = (catalog: object, file = 'catalog.json'): string => {
    const bytes = Buffer.from(JSON.stringify(catalog))
    writeFileSync(join(folder, file), bytes)
    writeFileSync(join(folder, `${file}.sig`), `${sign(null, bytes, privateKey).toString('base64')}\n`)
    return `${key}@${join(folder, file)}`
  }
  return { folder, key, publish }
}

test('a catalog counts as its publisher signed it, until it expires', async (t) => {
  const { folder, key, publish } = publisher(t)
  const other = publisher(t)
  const nowMs = Date.parse('2026-11-29')
  const place = publish(CATALOG)
  const { plugins, faults } = await readCatalogs([place], nowMs)
  t.same(plugins, [{ ...ENTRY, catalog: 'Birds', source: `catalog:bird#${key}` }])
  t.same(faults, [])
  const wrong = [
    [`${other.key}@${join(folder, 'catalog.json')}`, /its signature is not one of the key/],
    [publish({ ...CATALOG, expires: '2026-11-29' }, 'old.json'), /it counted until 2026-11-29/],
    [publish({ ...CATALOG, expires: '2026-99-99' }, 'never.json'), /it counted until/],
    [
      publish({ ...CATALOG, plugins: [{ ...ENTRY, package: '../x' }] }, 'odd.json'),
      /it is no catalog \(\/plugins\/0\/package/,
    ],
    [`${key}@${join(folder, 'none.json')}`, /ENOENT/],
    [`${key}@http://127.0.0.1:1/catalog.json`, /has to begin with https/],
    ['catalog.json', /it is written as <public key in base64>@/],
  ] as const
  for (const [place, why] of wrong) t.match((await readCatalogs([place], nowMs)).faults, [why], place)
  const all = await readCatalogs([...wrong.map(([place]) => place), place], nowMs)
  t.equal(all.plugins.length, 1, 'one that can’t be read takes no other with it')

  const twice = await readCatalogs([place, other.publish({ ...CATALOG, title: 'Others' })], nowMs)
  t.throws(() => findListed(twice, 'catalog:bird'), {
    message: /more than one catalog lists it; name one: catalog:bird#/,
  })
  t.match(findListed(twice, `catalog:bird#${other.key}`), { catalog: 'Others' })
  t.throws(() => findListed(twice, 'catalog:none'), { message: /no catalog lists it/ })
})

test('a plugin is found in a catalog, installed as it is listed there, and updated by it', async (t) => {
  const registry = await startNpmRegistry(t)
  process.env.npm_config_registry = registry.url
  t.teardown(() => delete process.env.npm_config_registry)
  const { folder, publish } = publisher(t)
  const source = join(folder, 'bird')
  cpSync(PARROT, source, { recursive: true })
  const release = async (version: string): Promise<string> => {
    const manifest = { name: 'bird', version, provides: { llm: {} }, permissions: ENTRY.permissions }
    writeFileSync(join(source, 'plugin.json'), JSON.stringify(manifest))
    writeFileSync(join(source, 'package.json'), JSON.stringify({ name: 'bird', version, type: 'module' }))
    await registry.publish(source)
    const { versions } = (await (await fetch(`${registry.url}bird`)).json()) as {
      versions: Record<string, { dist: { integrity: string } }>
    }
    return versions[version]?.dist.integrity ?? ''
  }
  const list = (version: string, digest: string): string =>
    publish({
      ...CATALOG,
      plugins: [
        { ...ENTRY, version, digest },
        { ...ENTRY, name: 'fish', publisher: 'Fish Inc.' },
      ],
    })
  const place = list('1.0.0', DIGEST)
  const run = (...words: string[]): Promise<string> =>
    runPluginsCommand({
      words,
      flags: { grant: 'all', noTest: false, replace: false, all: words.includes('--all'), force: false },
      config: { dataDir: join(folder, 'data'), pluginCatalogs: [place] },
      env: { INIT_CWD: folder },
      say: () => undefined,
      usersOf: async () => [],
    })
  t.equal(
    await run('search', 'LLM', 'birds'),
    `bird 1.0.0  llm  by Birds Inc.
  Says back what it read. Wants to read the variable PARROT_URL. Passed the suite of contract 1 on 2026-11-20.
  In "Birds": patchbay plugins add catalog:bird`,
  )
  t.equal((await run('search')).match(/^ {2}In/gm)?.length, 2)
  t.equal(await run('search', 'cat'), 'No catalog lists such a plugin.')

  const first = await release('1.0.0')
  await t.rejects(run('add', 'catalog:bird'), { message: /its digest is not the one that was expected, sha512-AAAA/ })
  await t.rejects(run('add', 'catalog:fish'), { message: /digest|lists it as "fish"/ })
  list('1.0.0', first)
  t.match(await run('add', 'catalog:bird'), /Installed bird 1\.0\.0/)
  await release('2.0.0')
  t.equal(await run('outdated'), 'Every installed plugin is what its source has.', 'npm has more than the catalog')
  list('2.0.0', await release('2.0.0'))
  t.equal(await run('outdated'), 'bird  1.0.0 -> 2.0.0  (the catalog "Birds")')
  t.match(await run('update', 'bird'), /Updated bird from 1\.0\.0 to 2\.0\.0/)
  await t.rejects(run('add', 'npm:bird'), { message: /a plugin of that name was installed from "catalog:bird#/ })
  t.match(await run('rollback', 'bird'), /Went back from bird 2\.0\.0 to 1\.0\.0/)
})

test('a catalog is read from its server, as far as it may go on', async (t) => {
  const { folder, key, publish } = publisher(t)
  publish(CATALOG)
  const authority = makeAuthority()
  writeFileSync(join(folder, 'authority.pem'), authority.cert)
  const server = createServer(authority.issue(['127.0.0.1']), ({ url = '' }, response) => {
    const file = join(folder, basename(url))
    if (url === '/endless.json') response.end(Buffer.alloc(5 << 20, ' '))
    else if (url === '/endless.json.sig') response.end('c2lnbmVk')
    else if (existsSync(file)) createReadStream(file).pipe(response)
    else response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const places = ['catalog.json', 'none.json', 'endless.json'].map((file) => `${key}@${url}/${file}`)
  const env = {
    ...{ PATH, NODE_COMPILE_CACHE, HOME: folder, NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') },
    ...{ PATCHBAY_DATA_DIR: join(folder, 'data'), PATCHBAY_PLUGIN_CATALOGS: places.join(',') },
  }
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'plugins', 'search', 'bird'], { env })
  t.match(stdout, /^bird 1\.0\.0 {2}llm {2}by Birds Inc\.$/m)
  t.match(stdout, /none\.json can't be used: its server answered 404/)
  t.match(stdout, /endless\.json can't be used: it is larger than 4194304 bytes/)
})
