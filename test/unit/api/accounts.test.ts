import t from 'tap'
import { ApiClient, startTestApi } from '../../support/instance/api.ts'

t.test('a changed password ends every other session, and a wrong one changes nothing', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const other = new ApiClient(api.url)
  await other.post('/auth/login', { body: { email: ada.email, password: ada.password } })
  const change = (current_password: string) =>
    ada.client.post('/auth/password', { body: { current_password, new_password: 'battery staple' } })
  t.equal((await change('wrong horse')).status, 401)
  t.equal((await ada.client.get('/auth/sessions')).body.length, 2)
  t.equal((await change(ada.password)).status, 200)
  t.equal((await other.get('/auth/me')).status, 401)
  t.match((await ada.client.get('/auth/sessions')).body, [{ is_current: true }])
  const login = (password: string) =>
    new ApiClient(api.url).post('/auth/login', { body: { email: ada.email, password } })
  t.same([(await login(ada.password)).status, (await login('battery staple')).status], [401, 200])
})

t.test('the operator hands out a link by which a password is chosen, once, on a page of its own', async (t) => {
  const api = await startTestApi(t)
  const [boss, eve] = [await api.signUp(), await api.signUp('Eve')]
  const made = await boss.client.post(`/operator/users/${eve.id}/password-reset`)
  t.equal(made.status, 201)
  const page = await fetch(made.body.link.replace(/^.*\/account/, `${api.url}/account`), { redirect: 'manual' })
  t.same([page.status, page.headers.get('location')], [302, '/console/welcome/reset'])
  const reset = () =>
    api.client().post('/auth/password/reset', { body: { token: made.body.token, new_password: 'battery staple' } })
  t.equal((await reset()).status, 200)
  t.equal((await eve.client.get('/auth/me')).status, 401, 'every session ended')
  t.same([(await reset()).status, (await reset()).body], [400, { detail: 'Link is used, expired or unknown' }])
})

t.test('guessing from one address is slowed, and locks nobody out elsewhere', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const login = (password: string, address: string) =>
    api.client().post('/auth/login', {
      body: { email: ada.email, password },
      headers: { 'x-forwarded-for': address },
    })
  for (let i = 0; i < 10; i++) t.equal((await login('wrong horse', '203.0.113.66')).status, 401)
  const slowed = await login(ada.password, '203.0.113.66')
  t.equal(slowed.status, 429)
  t.ok(Number(slowed.headers.get('retry-after')) > 0)
  t.equal((await login(ada.password, '198.51.100.7')).status, 200)
})

t.test('a deleted account is gone with the workspaces nobody else is in', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  t.equal((await ada.client.post('/auth/delete-account', { body: { password: 'wrong' } })).status, 401)
  t.equal((await ada.client.post('/auth/delete-account', { body: { password: ada.password } })).status, 200)
  const { rows } = await api.store.pool.query('select deleted_at is not null as gone from workspaces')
  t.same(rows, [{ gone: true }])
  t.equal((await api.client().post('/auth/login', { body: { email: ada.email, password: ada.password } })).status, 401)
})

t.test('a name and a phone number are changed, and what is left out stays', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const change = (body: object) => ada.client.patch('/auth/me', { body })
  const before = (await ada.client.get('/auth/me')).body
  t.match(await change({ name: 'Ada King' }), { status: 200, body: { ...before, name: 'Ada King' } })
  t.match((await change({ phone_number: '+1 415 555 0177' })).body, { name: 'Ada King', phone_number: '+14155550177' })
  t.match((await ada.client.get('/auth/me')).body, { name: 'Ada King', phone_number: '+14155550177' })
  t.same([(await change({ name: ' ' })).status, (await change({ phone_number: '12' })).status], [422, 400])
  t.equal((await ada.client.get('/auth/me')).body.email, before.email)
})
