import { SignJWT } from 'jose'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { ApiClient, startTestApi } from '../../support/instance/api.ts'

const SIGNUP = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  password: 'correct horse',
  phone_number: '+14155550123',
}

/** A clock a test moves by hand. */
function handClock() {
  let nowMs = Date.now()
  return { nowMs: () => nowMs, monotonicMs: () => nowMs, advance: (ms: number) => (nowMs += ms) }
}

t.test('signing up makes a user who is Admin of a workspace of their own', async (t) => {
  const api = await startTestApi(t)
  const client = api.client()
  const signup = await client.post('/auth/signup', { body: { ...SIGNUP, phone_number: '+1 (415) 555-0123' } })
  t.equal(signup.status, 201)
  t.match(signup.body, { name: 'Ada Lovelace', email: 'ada@example.com', phone_number: '+14155550123' })
  t.same(Object.keys(signup.body).sort(), ['created_at', 'current_workspace_id', 'email', 'id', 'name', 'phone_number'])
  await client.post('/auth/login', { body: SIGNUP })
  const workspaces = await client.get('/workspaces')
  t.match(workspaces.body, [{ workspace_id: signup.body.current_workspace_id, role: 'admin' }])

  const again = await client.post('/auth/signup', { body: { ...SIGNUP, email: 'ADA@example.com' } })
  t.same([again.status, again.body], [409, { detail: 'Email already registered' }])
  const badPhone = await client.post('/auth/signup', {
    body: { ...SIGNUP, email: 'b@example.com', phone_number: '12' },
  })
  t.same([badPhone.status, badPhone.body], [400, { detail: 'Invalid phone number format' }])
  const short = await client.post('/auth/signup', { body: { ...SIGNUP, email: 'no', password: 'short', name: 7 } })
  t.equal(short.status, 422)
  t.same(
    short.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => [loc.join('.'), type]),
    [
      ['body.name', 'string_type'],
      ['body.email', 'value_error'],
      ['body.password', 'string_too_short'],
    ],
  )
  const empty = await client.post('/auth/signup', { body: { phone_number: SIGNUP.phone_number } })
  t.same(
    empty.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => [loc[1], type]),
    ['name', 'email', 'password'].map((field) => [field, 'missing']),
  )
})

t.test('logging in sets both cookies; a wrong pair does not tell which half was wrong', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const client = api.client()
  const { status, headers, body } = await client.post('/auth/login', {
    body: { email: ada.email.toUpperCase(), password: ada.password },
  })
  t.equal(status, 200)
  t.equal(body.user.id, ada.id)
  const [access = '', refresh = ''] = headers.getSetCookie()
  t.match(access, /^access_token=[\w.-]+; Path=\/; Max-Age=900; HttpOnly; SameSite=Lax$/)
  t.match(refresh, /^refresh_token=[\w-]{43}; Path=\/auth; Max-Age=2592000; HttpOnly; SameSite=Lax$/)
  for (const body of [
    { email: ada.email, password: 'wrong horse' },
    { email: 'nobody@example.com', password: 'wrong horse' },
  ]) {
    const refused = await client.post('/auth/login', { body })
    t.same([refused.status, refused.body], [401, { detail: 'Invalid email or password' }])
    t.same(refused.headers.getSetCookie(), [])
  }
})

t.test('cookies are Secure when the public address is https', async (t) => {
  const api = await startTestApi(t, { env: { PUBLIC_URL: 'https://voice.example.com', PATCHBAY_SIGNUP: 'open' } })
  const { headers } = await api
    .client()
    .post('/auth/login', { body: { email: (await api.signUp()).email, password: 'correct horse' } })
  for (const line of headers.getSetCookie()) t.match(line, /; Secure$/)
})

t.test('a token that is missing, forged, expired or of a deleted user gets its own 401', async (t) => {
  const clock = handClock()
  const api = await startTestApi(t, { clock })
  const ada = await api.signUp()
  const me = (token: string) => new ApiClient(api.url).get('/auth/me', { headers: { cookie: `access_token=${token}` } })
  const sign = (secret: string, claims: Record<string, unknown>, alg = 'HS256') =>
    new SignJWT(claims).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret))
  const secret = api.config.jwtApiSecret
  const exp = Math.floor(clock.nowMs() / 1000) + 60

  const detail = async (token: string) => {
    const { status, body } = await me(token)
    return `${status} ${body.detail}`
  }
  t.equal(await detail(''), '401 Invalid or missing token')
  t.equal(await detail('garbage'), '401 Invalid or missing token')
  t.equal(
    await detail(await sign(`${secret}x`, { sub: ada.id, email: ada.email, exp })),
    '401 Invalid or missing token',
  )
  t.equal(
    await detail(await sign(secret, { sub: ada.id, email: ada.email, exp }, 'HS512')),
    '401 Invalid or missing token',
  )
  t.equal(await detail(await sign(secret, { email: ada.email, exp })), '401 Invalid or missing token')
  t.equal(await detail(await sign(secret, { sub: 'no uuid', email: ada.email, exp })), '401 Invalid or missing token')
  t.equal(await detail(await sign(secret, { sub: uuidv7(), email: ada.email, exp })), '401 User not found')
  const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ sub: ada.id, email: ada.email, exp })).toString('base64url')}.`
  t.equal(await detail(none), '401 Invalid or missing token')

  const good = await sign(secret, { sub: ada.id, email: ada.email, exp })
  t.equal((await me(good)).status, 200)
  clock.advance(60_000)
  t.equal(await detail(good), '401 Token expired', 'although it was verified before')
})

t.test('a refresh token works once, and its reuse ends the whole family', async (t) => {
  const clock = handClock()
  const api = await startTestApi(t, { clock })
  const ada = await api.signUp()
  const refresh = (token: string | undefined) =>
    new ApiClient(api.url).post('/auth/refresh', { headers: { cookie: `refresh_token=${token}` } })
  const next = (answer: Awaited<ReturnType<typeof refresh>>) =>
    /refresh_token=([\w-]+)/.exec(answer.headers.getSetCookie().join())?.[1]

  const first = ada.client.cookies.get('refresh_token')
  const answer = await refresh(first)
  t.equal(answer.status, 200)
  t.equal(answer.body.user.id, ada.id)
  const second = next(answer)
  t.not(second, first)

  clock.advance(10_000)
  const retry = await refresh(first)
  t.equal(retry.status, 200, 'within the grace of ten seconds a client may try again')
  const sibling = next(retry)

  clock.advance(1)
  const replay = await refresh(first)
  t.same([replay.status, replay.body], [401, { detail: 'Invalid or missing token' }])
  for (const token of [second, sibling]) t.equal((await refresh(token)).status, 401, 'the family is revoked')

  const { client } = await api.signUp()
  const other = client.cookies.get('refresh_token')
  t.equal((await refresh(other)).status, 200, 'another family is not')
})

t.test('an expired, unknown or malformed refresh token is refused', async (t) => {
  const clock = handClock()
  const api = await startTestApi(t, { clock, env: { PATCHBAY_REFRESH_TOKEN_TTL_S: '60' } })
  const ada = await api.signUp()
  for (const cookie of ['', 'refresh_token=', 'refresh_token=x', `refresh_token=${'a'.repeat(43)}`]) {
    const { status, body } = await api.client().post('/auth/refresh', { headers: { cookie } })
    t.same([status, body], [401, { detail: 'Invalid or missing token' }])
  }
  clock.advance(60_000)
  t.equal((await ada.client.post('/auth/refresh')).status, 401)
})

t.test('two refreshes at once both succeed', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const cookie = `refresh_token=${ada.client.cookies.get('refresh_token')}`
  const answers = await Promise.all(
    [1, 2, 3].map(() => new ApiClient(api.url).post('/auth/refresh', { headers: { cookie } })),
  )
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
})

t.test('logging out removes the cookies and ends the refresh tokens', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const token = ada.client.cookies.get('refresh_token')
  const logout = await ada.client.post('/auth/logout')
  t.equal(logout.status, 200)
  t.equal(ada.client.cookies.size, 0)
  const refresh = await api.client().post('/auth/refresh', { headers: { cookie: `refresh_token=${token}` } })
  t.equal(refresh.status, 401)
  t.equal((await api.client().post('/auth/logout')).status, 200, 'without a session it is no error')
})

t.test('a write with cookies from a foreign page is refused', async (t) => {
  const api = await startTestApi(t, { env: { PUBLIC_URL: 'https://voice.example.com', PATCHBAY_SIGNUP: 'open' } })
  const ada = await api.signUp()
  const key = await api.keyClient(ada)
  const write = (client: ApiClient, origin: string) =>
    client.post('/workspaces', { body: { name: 'x' }, headers: { origin } })
  const refused = await write(ada.client, 'https://evil.example')
  t.same([refused.status, refused.body], [403, { detail: 'Cross-origin request refused' }])
  t.equal((await write(ada.client, 'null')).status, 403)
  t.equal((await write(ada.client, 'https://voice.example.com')).status, 201)
  t.equal((await write(ada.client, api.url)).status, 201, 'the host the request went to')
  t.equal((await ada.client.post('/auth/refresh', { headers: { origin: 'https://evil.example' } })).status, 403)
  t.equal((await ada.client.get('/workspaces', { headers: { origin: 'https://evil.example' } })).status, 200)
  t.equal((await write(api.client(), 'https://evil.example')).status, 401, '401 comes first')
  t.equal((await key.get('/agents', { headers: { origin: 'https://evil.example' } })).status, 200)
})

t.test('logging out ends the access token too, wherever a copy of it is', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const [access, refresh] = ['access_token', 'refresh_token'].map((name) => `${name}=${ada.client.cookies.get(name)}`)
  const me = () => new ApiClient(api.url).get('/auth/me', { headers: { cookie: access ?? '' } })
  t.equal((await me()).status, 200)
  await new ApiClient(api.url).post('/auth/logout', { headers: { cookie: access ?? '' } })
  const stolen = await me()
  t.same([stolen.status, stolen.body], [401, { detail: 'Invalid or missing token' }])
  const renewed = await new ApiClient(api.url).post('/auth/refresh', { headers: { cookie: refresh ?? '' } })
  t.equal(renewed.status, 401)
})

t.test('an address is one account in whatever case it is written', async (t) => {
  const api = await startTestApi(t)
  const email = 'İstanbul@example.com'
  t.equal((await api.client().post('/auth/signup', { body: { ...SIGNUP, email } })).status, 201)
  t.equal((await api.client().post('/auth/login', { body: { email, password: SIGNUP.password } })).status, 200)
})
