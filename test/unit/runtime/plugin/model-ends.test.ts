import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { checkChoice } from '../../../../runtime/plugin/catalogue.ts'
import { defaultProviders } from '../../../../runtime/plugin/default-providers.ts'
import { describeDefaults } from '../../../../runtime/plugin/describe-defaults.ts'
import { loadPlugins, ROOT } from '../../../../runtime/plugin/host.ts'
import { parseManifest, readPluginSettings } from '../../../../runtime/plugin/manifest.ts'
import { faultOfEnd } from '../../../../runtime/plugin/model-ends.ts'
import { testFolder } from '../../../support/instance/services.ts'

const NOVEMBER = Date.parse('2026-11-28T12:00:00Z')
const APRIL = Date.parse('2027-04-26T12:00:00Z')
const log = pino({ level: 'silent' })

async function registryAt(
  nowMs: number,
  env: Record<string, string> = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' },
  ttsModel?: string,
) {
  const options = ttsModel === undefined ? {} : { settingsFile: await settingsWith(ttsModel) }
  return loadPlugins({ config: {}, env, log, signal: new AbortController().signal, nowMs: () => nowMs, ...options })
}

/** The operator's settings with this model as OpenAI's voice. */
async function settingsWith(ttsModel: string): Promise<string> {
  const shipped = await readPluginSettings(join(ROOT, 'config/plugins.json'))
  const settingsFile = join(await testFolder(t), 'plugins.json')
  await writeFile(settingsFile, JSON.stringify({ ...shipped, openai: { ...shipped.openai, options: { ttsModel } } }))
  return settingsFile
}

t.test('no default of ours has an end within a year, and nothing listed is past its own', async (t) => {
  for (const name of await readdir(join(ROOT, 'plugins'))) {
    const manifest = parseManifest(name, await readFile(join(ROOT, 'plugins', name, 'plugin.json'), 'utf8'))
    for (const [kind, provides] of Object.entries(manifest.provides)) {
      for (const model of provides?.models ?? []) {
        t.equal(faultOfEnd(name, provides ?? {}, model, NOVEMBER), undefined, `${name} ${kind} ${model}`)
      }
      const end = provides?.ends?.[provides.defaultModel ?? '']
      t.equal(end, undefined, `the default of ${name} ${kind} stays`)
    }
  }
})

t.test('a model that is gone is an error that names its successor, before anything is asked', async (t) => {
  const registry = await registryAt(APRIL)
  const failure = await registry.create('llm', 'openai', { model: 'gpt-4.1-mini' }).catch((error: unknown) => error)
  t.match(failure, { code: 'plugin', message: /OpenAI switched "gpt-4.1-mini" off on 2027-01-14; use "gpt-6-luna"/ })
  t.ok(await registry.create('llm', 'openai'), 'the default still answers')
  t.ok(await registry.create('tts', 'openai'), 'so does the default voice')
  const old = await registryAt(APRIL, { OPENAI_API_KEY: 'k' }, 'gpt-4o-mini-tts')
  const voice = await old.create('tts', 'openai').catch((error: unknown) => error)
  t.match(voice, { message: /"gpt-4o-mini-tts" off on 2027-01-06; use "gpt-realtime-2.1-mini"/ })
  t.ok(
    await (await registryAt(NOVEMBER)).create('llm', 'openai', { model: 'gpt-4.1-mini' }),
    'as it does before that day',
  )
})

t.test('another server in the provider’s place has models of its own, and no end of them', async (t) => {
  const registry = await registryAt(APRIL, { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' })
  t.ok(await registry.create('llm', 'openai', { model: 'gpt-4.1-mini' }))
})

t.test('an agent that names a model that is gone is refused with the successor', async (t) => {
  const { catalogue } = await registryAt(APRIL)
  const refused = checkChoice(catalogue, 'llm', { provider: 'openai', model: 'gpt-4.1-mini' }, APRIL)
  t.match(refused, { field: 'model', ended: /use "gpt-6-luna"/ })
  t.notOk(refused?.available.includes('gpt-4o'), 'what has ended is not offered')
  t.equal(checkChoice(catalogue, 'llm', { provider: 'openai', model: 'gpt-4.1-mini' }, NOVEMBER), undefined)
})

t.test('start-up warns sixty days before a default ends', async (t) => {
  const registry = await registryAt(NOVEMBER, { OPENAI_API_KEY: 'k' }, 'gpt-4o-mini-tts')
  const defaults = { ...defaultProviders(registry, {}), tts: { provider: 'openai', reason: 'setting' as const } }
  t.match(
    describeDefaults(registry, defaults, NOVEMBER).join('\n'),
    /OpenAI switches "gpt-4o-mini-tts" off on 2027-01-06/,
  )
  const early = Date.parse('2026-11-01T00:00:00Z')
  t.notMatch(describeDefaults(registry, defaults, early).join('\n'), /switches/)
})
