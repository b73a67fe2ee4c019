// biome-ignore-all lint/suspicious/noTemplateCurlyInString: grants name variables this way.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { test } from 'tap'
import { describePlugins } from '../../../../runtime/plugin/describe.ts'
import { PERMISSIONS } from '../../../../runtime/plugin/grants/permissions.ts'
import { loadPlugins, ROOT } from '../../../../runtime/plugin/host.ts'
import { readPluginSettings } from '../../../../runtime/plugin/manifest.ts'

test('each plugin is listed with what it offers, asks for, is granted and lacks', async (t) => {
  const manifest = (name: string, rest: object): string =>
    JSON.stringify({ name, version: '2.1.0', provides: { llm: {} }, permissions: {}, ...rest })
  const root = t.testdir({
    'plugins.json': JSON.stringify({
      talk: { grant: { env: ['TALK_KEY', 'TALK_URL'], net: ['api.talk.example:443'] } },
    }),
    plugins: {
      plain: { 'plugin.json': manifest('plain', {}) },
      talk: {
        'plugin.json': manifest('talk', {
          description: 'Talks.',
          provides: { tts: { voices: ['ada', 'bob'], defaultVoice: 'ada' } },
          permissions: {
            net: ['api.talk.example:443', '${TALK_URL}', '${TALK_PROXY}', 'cdn.talk.example:443'],
            env: ['TALK_KEY', 'TALK_URL', 'TALK_REGION'],
            run: ['sox'],
          },
        }),
      },
      torn: { 'plugin.json': '{' },
    },
  })
  const text = await describePlugins(
    { allowRun: ['talk:sox', 'talk:id'] },
    {
      env: { TALK_KEY: 'sk-secret', TALK_URL: 'http://localhost:9000' },
      dir: join(root, 'plugins'),
      settingsFile: join(root, 'plugins.json'),
    },
  )
  const [plain, talk, torn] = text.split('\n\n')
  t.equal(plain, 'plain 2.1.0\n  llm       any model\n  asks for nothing')
  t.same(talk?.split('\n'), [
    'talk 2.1.0  Talks.',
    '  tts       voices: ada (default), bob',
    '  net       api.talk.example:443  granted',
    '  net       ${TALK_URL}  granted',
    '  net       ${TALK_PROXY}  (TALK_PROXY is not set)',
    '  net       cdn.talk.example:443  MISSING: grant it in config/plugins.json or with --allow-net=talk:cdn.talk.example:443',
    '  env       TALK_KEY  granted',
    '  env       TALK_URL  granted',
    '  env       TALK_REGION  MISSING: grant it in config/plugins.json or with --allow-env=talk:TALK_REGION',
    '  run       sox  granted',
    '  run       id  granted, though not asked for',
  ])
  t.match(torn, /^torn\n {2}broken {2}Plugin "torn" can't be used:/)
  t.notMatch(text, /sk-secret/)
})

test('config/plugins.json writes out what every bundled plugin asks for and nothing else', async (t) => {
  const settings = await readPluginSettings(join(ROOT, 'config/plugins.json'))
  const { plugins } = await loadPlugins({
    config: {},
    env: {},
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  })
  t.same(
    plugins.map(({ name }) => name),
    readdirSync(join(ROOT, 'plugins')).sort(),
  )
  t.same(
    Object.keys(settings).filter((name) => !plugins.some((plugin) => plugin.name === name)),
    [],
  )
  for (const { name, manifest, fault, granted } of plugins) {
    t.equal(fault, undefined, name)
    for (const permission of PERMISSIONS) {
      t.same(granted[permission] ?? [], manifest?.permissions[permission] ?? [], `${name} ${permission}`)
    }
  }
})
