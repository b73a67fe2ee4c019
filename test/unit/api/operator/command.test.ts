import t from 'tap'
import { setupToken } from '../../../../api/auth/setup-token.ts'
import { runAdmin } from '../../../../api/operator/command.ts'
import { loadConfig } from '../../../../config/load.ts'
import { ApiClient, startTestApi } from '../../../support/instance/api.ts'
import { testFolder } from '../../../support/instance/services.ts'

t.test('an operator who is locked out helps themselves from the shell', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const admin = (...words: string[]) => runAdmin(words, { config: loadConfig({}), databaseUrl: api.databaseUrl })

  t.match(await admin(), /Usage: patchbay admin/)
  t.match(await admin('users'), `${ada.email}  Ada Lovelace  operator`)
  await t.rejects(admin('user'), { code: 'configuration', message: /did you mean "users"/ })
  await t.rejects(admin('suspend', 'x'), { message: /takes other arguments/ })
  await t.rejects(admin('reset-password', 'nobody@example.com'), { code: 'configuration' })

  const said = await admin('reset-password', ada.email)
  const [, token] = /#token=([\w-]+)/.exec(said) ?? []
  const reset = await api.client().post('/auth/password/reset', { body: { token, new_password: 'battery staple' } })
  t.equal(reset.status, 200, said)
  const client = new ApiClient(api.url)
  const login = await client.post('/auth/login', { body: { email: ada.email, password: 'battery staple' } })
  t.equal(login.status, 200)

  await admin('remove-operator', ada.email)
  t.equal((await client.get('/operator/settings')).status, 403)
  await admin('make-operator', ada.email)
  t.equal((await client.get('/operator/settings')).status, 200)

  t.equal(await admin('signup'), 'signup: default')
  t.equal(await admin('signup', 'open'), 'signup: open')
  t.equal((await client.get('/operator/settings')).body.signup, 'open')
  await t.rejects(admin('signup', 'ajar'), { message: /none of open, invitation, closed, default/ })

  const [workspace] = (await client.get('/workspaces')).body
  t.match(await admin('workspaces'), workspace.slug)
  await admin('suspend', workspace.slug, 'unpaid', 'bills')
  const refused = await client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'p' } })
  t.same([refused.status, refused.body], [403, { detail: 'Workspace is suspended' }])
  await admin('resume', workspace.slug)
  t.equal((await client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'p' } })).status, 201)

  const log = await admin('audit-log')
  for (const action of ['reset-password', 'make-operator', 'signup', 'suspend']) t.match(log, `admin ${action}`)
})

t.test('the shell has the link of the first user, as long as there is none', async (t) => {
  const api = await startTestApi(t)
  const { jwtApiSecret, publicUrl } = api.config
  const env = { JWT_API_SECRET: jwtApiSecret, PUBLIC_URL: publicUrl }
  const admin = (...words: string[]) => runAdmin(words, { config: loadConfig(env), databaseUrl: api.databaseUrl })
  const said = await admin('setup-token')
  t.match(said, `${publicUrl}/#setup=${setupToken(jwtApiSecret)}`)
  await api.signUp()
  await t.rejects(admin('setup-token'), { code: 'configuration', message: /There is a user already/ })
})

t.test('without a secret there is no setup token yet', async (t) => {
  const api = await startTestApi(t)
  const config = loadConfig({ PATCHBAY_DATA_DIR: await testFolder(t) })
  await t.rejects(runAdmin(['setup-token'], { config, databaseUrl: api.databaseUrl }), {
    message: /start Patchbay once/,
  })
})
