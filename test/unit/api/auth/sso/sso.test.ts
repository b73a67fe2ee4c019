import t, { type Test } from 'tap'
import { openIdentityProvider } from '../../../../../api/auth/sso/identity-provider.ts'
import { deriveConfig } from '../../../../../config/effective.ts'
import { loadConfig } from '../../../../../config/load.ts'
import { freePort } from '../../../../../scripts/demo/free-port.ts'
import { startTestApi } from '../../../../support/instance/api.ts'
import { type Account, CLIENT, SsoBrowser, startIdentityProvider } from '../../../../support/world/identity-provider.ts'

const GRACE: Account = { name: 'Grace Hopper', email: 'grace@example.com', email_verified: true, groups: ['eng'] }

async function start(t: Test, accounts: Record<string, Account>, env: Record<string, string> = {}) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const issuer = await startIdentityProvider(t, { redirectUris: [`${url}/auth/sso/callback`], accounts })
  const api = await startTestApi(t, {
    env: {
      PORT: String(port),
      PUBLIC_URL: url,
      PATCHBAY_SSO_ISSUER: issuer,
      PATCHBAY_SSO_CLIENT_ID: CLIENT.id,
      PATCHBAY_SSO_CLIENT_SECRET: CLIENT.secret,
      PATCHBAY_SSO_NAME: 'Acme',
      ...env,
    },
  })
  const ask = async <T>(cookie: string, path: string) =>
    (await (await fetch(`${url}${path}`, { headers: { cookie } })).json()) as T
  const signIn = (name: string) => new SsoBrowser().signIn(`${url}/auth/sso`, name, url)
  return { api, url, ask, signIn }
}

t.test('who signs in at the identity provider has an account, the same one each time', async (t) => {
  const { api, url, ask, signIn } = await start(t, { grace: GRACE }, { PATCHBAY_SIGNUP: 'closed' })
  t.match(await ask('', '/auth/signup'), { sso: 'Acme' })
  const first = await signIn('grace')
  t.equal(first.page.href, `${url}/console/`)
  t.notMatch(first.cookies, /sso_flow/, 'the flow is over')
  const me = await ask<{ id: string }>(first.cookies, '/auth/me')
  t.match(me, { name: 'Grace Hopper', email: 'grace@example.com', language: 'sv' })
  GRACE.email = 'hopper@example.com'
  const again = await signIn('grace')
  t.equal((await ask<{ id: string }>(again.cookies, '/auth/me')).id, me.id, 'also where the address is another by now')
  GRACE.email = 'grace@example.com'
  const events = await api.store.global.selectFrom('security_log').select(['kind', 'user_id']).orderBy('id').execute()
  t.same(
    events.map(({ kind, user_id }) => [kind, user_id]),
    [
      ['signup', me.id],
      ['login', me.id],
      ['login', me.id],
    ],
  )
})

t.test('an account that is there is taken by a vouched address alone', async (t) => {
  const accounts = {
    ada: { email: '', email_verified: true },
    mallory: { email: '', email_verified: false },
    nobody: {},
    bob: {} as Account,
  }
  const { api, url, ask, signIn } = await start(t, accounts)
  const ada = await api.signUp()
  accounts.ada.email = ada.email.toUpperCase()
  accounts.mallory.email = ada.email
  for (const name of ['mallory', 'nobody']) {
    const refused = await signIn(name)
    t.equal(refused.page.href, `${url}/console/?sso_error=sso_email_unverified`, name)
    t.notMatch(refused.cookies, /access_token/)
  }
  t.equal((await ask<{ id: string }>((await signIn('ada')).cookies, '/auth/me')).id, ada.id)
  t.equal((await ada.client.get('/auth/me')).status, 401, 'whose address nobody had verified: its sessions end')
  const login = () => api.client().post('/auth/login', { body: { email: ada.email, password: ada.password } })
  t.equal((await login()).status, 401, 'and its password is nobody’s')

  const bob = await api.signUp('Bob')
  await api.store.global.updateTable('users').set({ email_verified_at: new Date() }).where('id', '=', bob.id).execute()
  accounts.bob = { email: bob.email, email_verified: true }
  t.equal((await ask<{ id: string }>((await signIn('bob')).cookies, '/auth/me')).id, bob.id)
  t.equal((await bob.client.get('/auth/me')).status, 200, 'a verified account keeps its sessions and password')
})

t.test('groups give roles at each sign-in, and take them', async (t) => {
  const accounts = { grace: { ...GRACE, groups: ['eng', 'cn=ops,ou=groups'] } }
  const { api, ask, signIn } = await start(t, accounts, {
    PATCHBAY_SSO_ROLES: 'eng=sales:member,cn=ops=sales:developer,eng=support:member,eng=missing:admin',
  })
  const ada = await api.signUp()
  const slugs: string[] = []
  for (const name of ['Sales', 'Support']) {
    slugs.push((await ada.client.post('/workspaces', { body: { name } })).body.slug)
  }
  t.same(slugs, ['sales', 'support'])
  const rolesAfter = async (groups: string[]) => {
    accounts.grace.groups = groups
    const { cookies } = await signIn('grace')
    const workspaces = await ask<{ slug: string; role: string }[]>(cookies, '/workspaces')
    return workspaces.filter(({ slug }) => slugs.includes(slug)).map(({ slug, role }) => `${slug} ${role}`)
  }
  t.same(await rolesAfter(['eng']), ['sales member', 'support member'])
  t.same(await rolesAfter(['eng', 'cn=ops']), ['sales developer', 'support member'], 'the highest counts')
  t.same(await rolesAfter([]), [], 'what groups gave they take')
})

t.test('an answer that no sign-in of this browser asked for is refused', async (t) => {
  const { url, signIn } = await start(t, { grace: GRACE })
  const get = (path: string, cookie = '') => fetch(`${url}${path}`, { redirect: 'manual', headers: { cookie } })
  const begun = await get('/auth/sso')
  t.equal(begun.status, 302)
  const flow = begun.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state')
  for (const [path, cookie] of [
    ['/auth/sso/callback?code=x&state=y', ''],
    ['/auth/sso/callback?code=x&state=y', flow],
    [`/auth/sso/callback?code=x&state=${state}`, flow],
    [`/auth/sso/callback?error=access_denied&state=${state}`, flow],
    [`/auth/sso/callback?code=x&state=${state}`, `${flow}x`],
  ] as const) {
    const answer = await get(path, cookie)
    t.same([answer.status, answer.headers.get('location')], [302, '/console/?sso_error=sso_failed'], path)
    t.notMatch(String(answer.headers.getSetCookie()), /access_token/)
  }
  t.match((await signIn('grace')).cookies, /access_token/, 'a real one still works')
})

t.test('without an identity provider there is no such sign-in', async (t) => {
  const api = await startTestApi(t)
  t.equal((await api.client().get('/auth/sso')).status, 404)
  t.equal((await api.client().get('/auth/signup')).body.sso, null)
})

t.test('a wrong setting says why', async (t) => {
  const wrong: [Record<string, string>, RegExp][] = [
    [{ PATCHBAY_SSO_ISSUER: 'https://login.example.com' }, /PATCHBAY_SSO_CLIENT_ID/],
    [{ PATCHBAY_SSO_ISSUER: 'http://login.example.com', PATCHBAY_SSO_CLIENT_ID: 'a' }, /https/],
    [
      {
        PATCHBAY_SSO_ISSUER: 'https://login.example.com',
        PATCHBAY_SSO_CLIENT_ID: 'a',
        PATCHBAY_SSO_ROLES: 'eng=sales',
      },
      /group=workspace:role/,
    ],
  ]
  for (const [env, message] of wrong) t.throws(() => openIdentityProvider(deriveConfig(loadConfig(env))), { message })
})
