import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import type { ObjectStore } from '../../../../../runtime/plugin/contract.ts'
import { loadPlugins, ROOT } from '../../../../../runtime/plugin/host.ts'
import { bytesOfObject, runObjectStoreConformance, sourceOf } from '../../../../conformance/objectstore.ts'
import { installPlugin, type Source } from '../../../../support/instance/install-plugin.ts'
import { startAtticServer } from '../../../../support/providers/doubles/stores/attic-server.ts'

const signal = new AbortController().signal

/** The object store of an installed plugin. */
async function storeOf(t: Test, name: string, source: Source, env: Record<string, string> = {}): Promise<ObjectStore> {
  const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-objects-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const grant = {
    env: Object.keys(env),
    ...(env.ATTIC_URL === undefined ? {} : { net: [new URL(env.ATTIC_URL).host] }),
  }
  await installPlugin(dataDir, name, source, grant)
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const log = pino({ level: 'silent' })
  const registry = await loadPlugins({ config: { dataDir }, env, log, signal: stop.signal, createTimeoutMs: 90_000 })
  if (name === 'attic') t.equal(registry.chosen('objectstore'), 'attic')
  return registry.create('objectstore', name, { folder: {} as never })
}

test('a foreign object store conforms in a process of its own', async (t) => {
  const server = await startAtticServer('k-1')
  t.teardown(() => server.stop())
  const folder = join(ROOT, 'examples/plugins/attic')
  const store = await storeOf(t, 'attic', { folder }, { ATTIC_URL: server.url, ATTIC_KEY: 'k-1' })
  await runObjectStoreConformance(t, { store })
})

test('who stops in the middle of an object releases it, and others go on', async (t) => {
  const server = await startAtticServer('k-1')
  t.teardown(() => server.stop())
  const folder = join(ROOT, 'examples/plugins/attic')
  const store = await storeOf(t, 'attic', { folder }, { ATTIC_URL: server.url, ATTIC_KEY: 'k-1' })
  const bytes = Buffer.alloc(3 << 20, 5)
  await store.put('a', sourceOf(bytes), 'audio/wav', signal)
  for (let n = 0; n < 5; n++) {
    const stored = await store.get('a', signal)
    for await (const piece of stored?.body ?? []) {
      t.ok(piece.length <= 256 << 10)
      break
    }
  }
  const abort = new AbortController()
  const reason = new Error('enough')
  const stored = await store.get('a', abort.signal)
  abort.abort(reason)
  await t.rejects(bytesOfObject(stored), reason)
  t.ok((await bytesOfObject(await store.get('a', signal)))?.equals(bytes))
})

test('a store that lies about what it keeps moves nobody', async (t) => {
  const mod = `import { definePlugin } from '@patchbay/plugin'
export default definePlugin({ objectstore: () => ({
  async put(key, source) { if (key === 'beyond') await source.bytes(0, 1e9) },
  async get(key) { return key === 'sizeless' ? { size: -1, body: [] } : { size: 1, body: (async function* () { throw new Error('lost') })() } },
  async url() { return 'file:///etc/passwd' },
  async remove() { throw new Error('kept') },
}) })
`
  const store = await storeOf(t, 'liar', { provides: { objectstore: { chosenBy: 'LIAR' } }, mod })
  await t.rejects(store.put('beyond', sourceOf(Buffer.from('x')), 'a/b', signal), {
    message: /0 to 1000000000 of 1 bytes/,
  })
  await t.rejects(store.get('sizeless', signal), { message: /no size/ })
  await t.rejects(bytesOfObject(await store.get('lost', signal)), { message: /lost/ })
  await t.rejects(store.url('a', { expiresInS: 1, filename: 'a' }, signal), { message: /no address/ })
  await t.rejects(store.remove('a', signal), { message: /kept/ })
})
