import t from 'tap'
import { startTestApi, type TestApi } from '../../../support/instance/api.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { startSmtpDouble } from '../../../support/providers/doubles/smtp.ts'

const FROM = { 'x-forwarded-for': '203.0.113.9' }
const login = (api: TestApi, email: string, password: string) =>
  api.client().post('/auth/login', { body: { email, password }, headers: FROM })
const signup = (api: TestApi, n: number, headers = FROM) =>
  api.client().post('/auth/signup', {
    body: { name: 'Eve', email: `eve-${n}@example.com`, password: 'correct horse', phone_number: '+14155550123' },
    headers,
  })

t.test('any number of right logins at once is let in, and wrong ones are not counted against others', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const [ada, bob] = [await api.signUp(), await api.signUp()]
  for (let round = 0; round < 8; round++) {
    const logins = Array.from({ length: 30 }, () => login(api, ada.email, ada.password))
    t.strictSame(new Set((await Promise.all(logins)).map(({ status }) => status)), new Set([200]))
  }
  t.equal((await login(api, bob.email, bob.password)).status, 200)
})

t.test(
  'ten wrong passwords of an account from an address lock the pair, also at once; refused tries do not count',
  async (t) => {
    const api = await startTestApi(t, { nodes: 2 })
    const [ada, bob] = [await api.signUp(), await api.signUp()]
    for (let i = 0; i < 9; i++) t.equal((await login(api, ada.email, 'wrong')).status, 401)
    t.equal((await login(api, ada.email, ada.password)).status, 200, 'a right one before the limit')
    const answers = await Promise.all(Array.from({ length: 40 }, () => login(api, ada.email, 'wrong')))
    const statuses = answers.map(({ status }) => status)
    t.same([statuses.filter((s) => s === 401).length, statuses.filter((s) => s === 429).length], [10, 30])
    const locked = await login(api, ada.email, ada.password)
    t.equal(locked.status, 429)
    t.match(locked.headers.get('retry-after'), /^[1-9]\d*$/)
    t.equal((await login(api, bob.email, bob.password)).status, 200, 'others are let in')
    const elsewhere = {
      body: { email: ada.email, password: ada.password },
      headers: { 'x-forwarded-for': '198.51.100.7' },
    }
    t.equal((await api.client().post('/auth/login', elsewhere)).status, 200, 'and so is she elsewhere')
  },
)

t.test('what others try from an address does not lock out who has logged in from it', async (t) => {
  const api = await startTestApi(t)
  const [here, elsewhere] = [await api.signUp(), await api.signUp()]
  t.equal((await login(api, here.email, here.password)).status, 200)
  for (let i = 0; i < 199; i++) await login(api, `nobody-${i}@example.com`, 'wrong')
  t.equal((await login(api, 'nobody@example.com', 'wrong')).status, 401, 'the two hundredth')
  t.equal((await login(api, elsewhere.email, elsewhere.password)).status, 429, 'the address is locked')
  t.equal((await login(api, here.email, here.password)).status, 200, 'and not for them')
  for (let i = 0; i < 10; i++) await login(api, here.email, 'wrong')
  t.equal((await login(api, here.email, here.password)).status, 429, 'their own guesses count')
})

t.test('refused signups take nothing from logins', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const statuses: number[] = []
  for (let i = 0; i < 201; i++) statuses.push((await signup(api, i)).status)
  t.same([statuses[0], statuses.at(-1)], [403, 429])
  t.equal((await login(api, user.email, user.password)).status, 200)
})

t.test('an account gets five password links an hour, and an earlier one still works', async (t) => {
  const smtp = await startSmtpDouble()
  t.teardown(() => smtp.stop())
  const api = await startTestApi(t, { env: { SMTP_URL: smtp.url } })
  const user = await api.signUp()
  const tokens = () =>
    smtp.mails
      .filter(({ text }) => text.includes('Reset your password'))
      .map(({ text }) => /#token=([\w-]+)/.exec(text.replaceAll('=\n', '').replaceAll('=3D', '='))?.[1] ?? '')
  for (let i = 0; i < 8; i++) {
    const asked = await api.client().post('/auth/password/forgotten', {
      body: { email: user.email },
      headers: { 'x-forwarded-for': `203.0.113.${i}` },
    })
    t.equal(asked.status, 200, 'the answer is the same')
    await until(() => tokens().length === Math.min(i + 1, 5))
  }
  const [first = '', second = ''] = tokens()
  const reset = (token: string) =>
    api.client().post('/auth/password/reset', { body: { token, new_password: 'battery staple' } })
  t.equal((await reset(first)).status, 200, 'a stranger who asks for more does not end it')
  t.equal((await reset(second)).status, 400, 'the others end with it')
})

t.test('a token for a call is given to no page of another site that has the cookie', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const { body } = await user.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
  const ask = async (client: typeof user.client, site?: string) =>
    (
      await client.get('/calls/generate-token', {
        query: { agent_id: body.agent_id },
        headers: site === undefined ? {} : { 'sec-fetch-site': site },
      })
    ).status
  t.same([await ask(user.client, 'cross-site'), await ask(user.client, 'same-site')], [403, 403])
  t.equal((await user.client.get('/calls/logs')).body.total, 0, 'nothing was made')
  t.same(
    [await ask(user.client, 'same-origin'), await ask(user.client, 'none'), await ask(user.client)],
    [200, 200, 200],
  )
  t.equal(await ask(await api.keyClient(user), 'cross-site'), 200, 'a key is no cookie')
})
