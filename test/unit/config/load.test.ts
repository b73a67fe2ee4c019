import { resolve } from 'node:path'
import t from 'tap'
import { describeConfig } from '../../../config/describe.ts'
import { deriveConfig } from '../../../config/effective.ts'
import { loadConfig } from '../../../config/load.ts'
import { SETTINGS } from '../../../config/schema.ts'

t.test('an empty environment gives every default', async (t) => {
  const config = loadConfig({})
  t.equal(config.port, 8080)
  t.equal(config.dataDir, resolve('.data'))
  t.equal(config.databaseUrl, undefined)
  t.equal(config.webrtcWorker, undefined, 'a path without a default is none')
  t.equal(config.logLevel, 'info')
})

t.test('values are read in their types and an empty variable counts as unset', async (t) => {
  const config = loadConfig({
    PORT: '9000',
    DATABASE_URL: '',
    PATCHBAY_API_URLS: 'ws://a:1, ws://b:2 ,',
    OPENAI_API_KEY: 'of a plugin, not ours',
  })
  t.equal(config.port, 9000)
  t.equal(config.databaseUrl, undefined)
  t.same(config.apiUrls, ['ws://a:1', 'ws://b:2'])
})

t.test('all faults come at once, each with its cure, and no secret is repeated', async (t) => {
  const faults = (): unknown =>
    loadConfig(
      {
        PORT: '80x',
        PATCHBAY_DRAIN_MS: '-1',
        PATCHBAY_LOG_LEVEL: 'loud',
        DATABASE_URL: 'hunter2',
        JWT_API_SECRET: 'too short',
        PATCHBAY_PROT: '1',
        PATCHBAY_VOICE_WORKER: '2',
      },
      ['--allow-nat=x', '--allow-run'],
    )
  t.throws(faults, { code: 'configuration' })
  try {
    faults()
  } catch (error) {
    const message = String(error)
    t.match(message, 'PORT must be a whole number from 0 to 65535, not "80x"')
    t.match(message, 'PATCHBAY_DRAIN_MS must be a whole number of at least 0, not "-1"')
    t.match(message, 'PATCHBAY_LOG_LEVEL must be one of trace, debug, info')
    t.match(message, 'DATABASE_URL must be a URL')
    t.match(message, 'JWT_API_SECRET must have at least 32 characters')
    t.match(message, 'PATCHBAY_PROT is not a setting, did you mean PORT?')
    t.match(message, 'PATCHBAY_VOICE_WORKER is not a setting, did you mean PATCHBAY_VOICE_WORKERS?')
    t.match(message, '--allow-nat is not a flag, did you mean --allow-net?')
    t.match(message, '--allow-run needs a value')
    t.notMatch(message, /hunter2|too short/)
  }
})

t.test('grant flags add to their variables', async (t) => {
  const config = loadConfig({ PATCHBAY_ALLOW_NET: 'a:x:1' }, ['--allow-net=b:y:2,c:z:3', '--allow-net=d:w:4'])
  t.same(config.allowNet, ['a:x:1', 'b:y:2', 'c:z:3', 'd:w:4'])
})

t.test('the description lists every variable with its effective value and masks secrets', async (t) => {
  const secret = 'x'.repeat(40)
  const text = describeConfig(deriveConfig(loadConfig({ PORT: '7000', JWT_API_SECRET: secret })))
  for (const { env } of Object.values(SETTINGS)) t.match(text, env)
  t.match(text, /PATCHBAY_ADMIN_PORT +8000\n/)
  t.match(text, /PUBLIC_URL +http:\/\/localhost:7000\n/)
  t.notMatch(text, secret)
})

t.test('settings have unique variables, a sentence each, and defaults of their type', async (t) => {
  const settings = Object.values(SETTINGS)
  t.equal(new Set(settings.map(({ env }) => env)).size, settings.length)
  for (const setting of settings) {
    t.match(setting.description, /^[A-Z].*\.$/, setting.env)
    if (setting.type === 'integer' && setting.default !== undefined)
      t.ok(Number.isInteger(setting.default), setting.env)
  }
})
