import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { test } from 'tap'
import { openEmbeddings } from '../../../../runtime/knowledge/embeddings.ts'
import { loadPlugins, ROOT } from '../../../../runtime/plugin/host.ts'
import { installPlugin } from '../../../support/instance/install-plugin.ts'

test('a plugin of others makes nobody’s vectors unless the operator names it', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-embeddings-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  await installPlugin(dataDir, 'parrot', { folder: join(ROOT, 'examples/plugins/parrot') })
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const log = pino({ level: 'silent' })
  const registry = await loadPlugins({ config: { dataDir }, env: {}, log, signal: stop.signal })
  t.ok(registry.catalogue.embedding.has('parrot'))
  t.equal(await openEmbeddings(registry, undefined, log), undefined)
})
