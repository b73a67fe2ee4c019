import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { deriveConfig, effectiveConfig, type RoleName } from '../../../config/effective.ts'
import { loadConfig } from '../../../config/load.ts'
import { keepSecret, readSecret } from '../../../config/secrets.ts'

const all: RoleName[] = ['api', 'jobs', 'voice']

t.test('the embedded default makes its secrets once and keeps them private', async (t) => {
  const dataDir = t.testdir()
  const config = loadConfig({ PATCHBAY_DATA_DIR: dataDir })
  const first = await effectiveConfig(config, { roles: all, selfContained: true })
  const second = await effectiveConfig(config, { roles: all, selfContained: true })
  t.ok(first.jwtApiSecret.length >= 32)
  t.not(first.jwtApiSecret, first.linkToken)
  t.ok(first.dataKey.length >= 32)
  t.not(first.dataKey, first.jwtApiSecret)
  t.equal(second.dataKey, first.dataKey)
  t.equal(second.jwtApiSecret, first.jwtApiSecret)
  t.equal((await stat(join(dataDir, 'secrets/jwt_api_secret'))).mode & 0o077, 0)
})

t.test('processes that make a secret at once agree on it', async (t) => {
  const dataDir = t.testdir()
  const made = await Promise.all(Array.from({ length: 20 }, () => keepSecret(dataDir, 'x')))
  t.equal(new Set(made).size, 1)
  t.equal(await readSecret(dataDir, 'x'), made[0])
})

t.test('a database of the operator demands a secret of the operator', async (t) => {
  const config = loadConfig({ PATCHBAY_DATA_DIR: t.testdir(), DATABASE_URL: 'postgres://db/x' })
  await t.rejects(effectiveConfig(config, { roles: all, selfContained: true }), {
    code: 'configuration',
    message: /^JWT_API_SECRET must be set with DATABASE_URL, to the same value on every node/,
  })
})

t.test('a node on its own is told everything it lacks at once', async (t) => {
  const config = loadConfig({ PATCHBAY_DATA_DIR: t.testdir() })
  const failure = effectiveConfig(config, { roles: ['api'], selfContained: false })
  await t.rejects(failure, {
    message: /DATABASE_URL .* REDIS_URL .* JWT_API_SECRET .* PATCHBAY_DATA_KEY .* PATCHBAY_LINK_TOKEN/,
  })
})

t.test('a voice worker needs the link token alone', async (t) => {
  const env = { PATCHBAY_DATA_DIR: t.testdir(), PATCHBAY_LINK_TOKEN: 'sixteen-letters-or-more' }
  const config = await effectiveConfig(loadConfig(env), { roles: ['voice'], selfContained: false })
  t.equal(config.linkToken, env.PATCHBAY_LINK_TOKEN)
  const without = loadConfig({ PATCHBAY_DATA_DIR: t.testdir() })
  await t.rejects(effectiveConfig(without, { roles: ['voice'], selfContained: false }), /PATCHBAY_LINK_TOKEN/)
})

t.test('a voice worker beside npm start finds the token in their data folder', async (t) => {
  const config = loadConfig({ PATCHBAY_DATA_DIR: t.testdir() })
  const { linkToken } = await effectiveConfig(config, { roles: all, selfContained: true })
  const voice = await effectiveConfig(config, { roles: ['voice'], selfContained: false })
  t.equal(voice.linkToken, linkToken)
})

t.test('addresses and the admin port follow the port', async (t) => {
  t.match(deriveConfig(loadConfig({ PORT: '8081' })), {
    adminPort: 9081,
    publicUrl: 'http://localhost:8081',
    apiUrls: ['ws://127.0.0.1:8081'],
  })
  t.equal(deriveConfig(loadConfig({ PORT: '65000' })).adminPort, 64000)
  t.equal(deriveConfig(loadConfig({ PORT: '0' })).adminPort, 0)
  t.same(deriveConfig(loadConfig({ PATCHBAY_HOST: '10.0.0.5' })).apiUrls, ['ws://10.0.0.5:8080'])
})
