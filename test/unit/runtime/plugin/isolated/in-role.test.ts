import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initializeLogger } from '@livekit/agents'
import { pino } from 'pino'
import t from 'tap'
import { loadPlugins } from '../../../../../runtime/plugin/host.ts'
import { digestOf, pluginLock } from '../../../../../runtime/plugin/install/lock.ts'
import { endNativeRuntime } from '../../../../support/instance/native-runtime.ts'

initializeLogger({ pretty: false, level: 'silent' })
endNativeRuntime()

t.test('an installed plugin that is trusted runs with the role', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-in-role-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const folder = join(dataDir, 'plugins/parrot')
  cpSync(join(import.meta.dirname, '../../../../../examples/plugins/parrot'), folder, { recursive: true })
  const entry = { version: '1.0.0', source: folder, digest: await digestOf(folder), grant: {} }
  await pluginLock.write(dataDir, { plugins: { parrot: entry } })
  const settingsFile = join(dataDir, 'plugins.json')
  writeFileSync(settingsFile, JSON.stringify({ parrot: { isolation: 'none', grant: { env: ['PARROT_URL'] } } }))
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const log = pino({ level: 'silent' })
  const registry = await loadPlugins({ settingsFile, config: { dataDir }, env: {}, log, signal: stop.signal })

  const embedding = await registry.create('embedding', 'parrot')
  const [vector] = await embedding.embed(['aab'], stop.signal)
  t.same(
    Array.from(vector ?? [])
      .slice(0, 3)
      .map((one) => Math.round(one * 100)),
    [89, 45, 0],
  )
  const voice = await registry.create('tts', 'parrot')
  let seconds = 0
  for await (const { frame } of voice.synthesize('hello')) seconds += frame.samplesPerChannel / frame.sampleRate
  t.ok(Math.abs(seconds - 0.25) < 0.02, `${seconds} s`)
  const processes = process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap')
  t.same(processes, [], 'and in no process of its own')
})
