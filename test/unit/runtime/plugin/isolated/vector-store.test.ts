import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { test } from 'tap'
import { loadPlugins, ROOT } from '../../../../../runtime/plugin/host.ts'
import { runVectorStoreConformance } from '../../../../conformance/vectorstore.ts'
import { installPlugin } from '../../../../support/instance/install-plugin.ts'

test('a foreign vector store conforms in a process of its own', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-vectors-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  await installPlugin(dataDir, 'shelf', { folder: join(ROOT, 'examples/plugins/shelf') }, { env: ['SHELF'] })
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const log = pino({ level: 'silent' })
  const load = (env: Record<string, string>) =>
    loadPlugins({ config: { dataDir }, env, log, signal: stop.signal, createTimeoutMs: 90_000 })
  t.equal((await load({})).chosen('vectorstore'), 'embedded-vectors')
  const registry = await load({ SHELF: '1' })
  t.equal(registry.chosen('vectorstore'), 'shelf')
  const store = await registry.create('vectorstore', 'shelf', {
    shelf: {} as never,
    embedding: { model: 'test', dimensions: 3 },
  })
  await runVectorStoreConformance(t, {
    store,
    makeScope: async () => ({ workspaceId: randomUUID(), agentId: randomUUID() }),
    makeDocument: async () => randomUUID(),
    ready: async () => undefined,
  })
})
