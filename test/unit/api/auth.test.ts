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

/** Keeps cookies as browsers, curl and requests do: until their Max-Age, for their path. */
class CookieJar {
  readonly #kept = new Map<string, { value: string; path: string; untilMs: number }>()
  readonly #url: string
  readonly #clock: { nowMs(): number }

  constructor(url: string, clock: { nowMs(): number }) {
    this.#url = url
    this.#clock = clock
  }

  async request(method: string, path: string, body?: unknown): Promise<Response> {
    const cookies = [...this.#kept]
      .filter(([, kept]) => kept.untilMs > this.#clock.nowMs() && path.startsWith(kept.path))
      .map(([name, { value }]) => `${name}=${value}`)
    const answer = await fetch(new URL(path, this.#url), {
      method,
      headers: {
        ...(cookies.length > 0 ? { cookie: cookies.join('; ') } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = '', path = ''] = /^(\w+)=([^;]*); Path=([^;]+)/.exec(line) ?? []
      const maxAgeS = Number(/Max-Age=(\d+)/.exec(line)?.[1])
      this.#kept.set(name, { value, path, untilMs: this.#clock.nowMs() + maxAgeS * 1000 })
    }
    return answer
  }
}

/** A clock a test moves by hand. */
function handClock() {
  let nowMs = Date.now()
  return { nowMs: () => nowMs, monotonicMs: () => nowMs, advance: (ms: number) => (nowMs += ms) }
}

t.test('signing up makes a user who is Admin of a workspace of their own', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const client = api.client()
  const signup = await client.post('/auth/signup', { body: { ...SIGNUP, phone_number: '+1 (415) 555-0123' } })
  t.equal(signup.status, 201)
  t.match(signup.body, { name: 'Ada Lovelace', email: 'ada@example.com', phone_number: '+14155550123' })
  t.same(Object.keys(signup.body).sort(), [
    'created_at',
    'current_workspace_id',
    'email',
    'id',
    'language',
    'name',
    'phone_number',
  ])
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
  const api = await startTestApi(t, { nodes: 2 })
  const ada = await api.signUp()
  const client = api.client()
  const { status, headers, body } = await client.post('/auth/login', {
    body: { email: ada.email.toUpperCase(), password: ada.password },
  })
  t.equal(status, 200)
  t.equal(body.user.id, ada.id)
  const [access = '', refresh = ''] = headers.getSetCookie()
  t.match(access, /^access_token=[\w.-]+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/)
  t.match(refresh, /^refresh_token=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/)
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
  const api = await startTestApi(t, {
    nodes: 2,
    env: { PUBLIC_URL: 'https://voice.example.com', PATCHBAY_SIGNUP: 'open' },
  })
  const { headers } = await api
    .client()
    .post('/auth/login', { body: { email: (await api.signUp()).email, password: 'correct horse' } })
  for (const line of headers.getSetCookie()) t.match(line, /; Secure$/)
})

t.test('a token that is missing, forged, expired or of a deleted user gets its own 401', async (t) => {
  const clock = handClock()
  const api = await startTestApi(t, { nodes: 2, clock })
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

t.test(
  'an expired access token still arrives from a cookie jar, and its client refreshes on `Token expired`',
  async (t) => {
    const clock = handClock()
    const api = await startTestApi(t, { nodes: 2, clock })
    const jar = new CookieJar(api.url, clock)
    const ada = await api.signUp()
    await jar.request('POST', '/auth/login', { email: ada.email, password: ada.password })
    for (let quarter = 0; quarter < 4; quarter++) {
      t.equal((await jar.request('GET', '/workspaces')).status, 200)
      clock.advance(15 * 60_000)
      const late = await jar.request('GET', '/workspaces')
      t.same([late.status, ((await late.json()) as { detail: string }).detail], [401, 'Token expired'])
      const refreshed = await jar.request('POST', '/auth/refresh')
      t.equal(refreshed.status, 200)
      t.match(refreshed.headers.getSetCookie(), [/^access_token=/], 'the access token alone is set')
    }
    clock.advance(30 * 86_400_000)
    const over = await jar.request('GET', '/workspaces')
    t.same(
      [over.status, ((await over.json()) as { detail: string }).detail],
      [401, 'Invalid or missing token'],
      'the jar dropped it',
    )
  },
)

t.test('a refresh token is good for its life, however often it is used', async (t) => {
  const clock = handClock()
  const api = await startTestApi(t, { nodes: 2, clock })
  const ada = await api.signUp()
  const cookie = `refresh_token=${ada.client.cookies.get('refresh_token')}`
  const refresh = (header = cookie) => new ApiClient(api.url).post('/auth/refresh', { headers: { cookie: header } })
  for (const waitedMs of [0, 1, 11_000, 86_400_000, 28 * 86_400_000]) {
    clock.advance(waitedMs)
    const { status, body } = await refresh()
    t.same([status, body.user?.id], [200, ada.id])
  }
  t.equal((await refresh(`refresh_token=${'a'.repeat(43)}; ${cookie}`)).status, 200, 'beside one of another path')
  clock.advance(86_400_000)
  t.equal((await refresh()).status, 401)
})

t.test('a new password ends refresh tokens, and tokens of exactly three claims made before it', async (t) => {
  const clock = handClock()
  const api = await startTestApi(t, { nodes: 2, clock })
  const ada = await api.signUp()
  const elsewhere = new ApiClient(api.url)
  await elsewhere.post('/auth/login', { body: { email: ada.email, password: ada.password } })
  const token = (exp: number) =>
    new SignJWT({ sub: ada.id, email: ada.email, exp })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(api.config.jwtApiSecret))
  const inS = (s: number) => Math.floor(clock.nowMs() / 1000) + s
  const me = async (cookie: string) =>
    (await new ApiClient(api.url).get('/auth/me', { headers: { cookie: `access_token=${cookie}` } })).status
  const before = await token(inS(900))
  t.equal(await me(before), 200)
  clock.advance(1_000)
  const body = { current_password: ada.password, new_password: 'battery staple' }
  t.equal((await ada.client.post('/auth/password', { body })).status, 200)
  t.equal((await elsewhere.post('/auth/refresh')).status, 401)
  t.equal(await me(before), 401)
  clock.advance(1_000)
  t.equal(await me(await token(inS(900))), 200, 'one made after it is taken')
})

t.test('an expired, unknown or malformed refresh token is refused', async (t) => {
  const clock = handClock()
  const api = await startTestApi(t, { nodes: 2, clock, env: { PATCHBAY_REFRESH_TOKEN_TTL_S: '60' } })
  const ada = await api.signUp()
  for (const cookie of ['', 'refresh_token=', 'refresh_token=x', `refresh_token=${'a'.repeat(43)}`]) {
    const { status, body } = await api.client().post('/auth/refresh', { headers: { cookie } })
    t.same([status, body], [401, { detail: 'Invalid or missing token' }])
  }
  clock.advance(60_000)
  t.equal((await ada.client.post('/auth/refresh')).status, 401)
})

t.test('two refreshes at once both succeed', async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
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
  const api = await startTestApi(t, { nodes: 2 })
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
  const api = await startTestApi(t, {
    nodes: 2,
    env: { PUBLIC_URL: 'https://voice.example.com', PATCHBAY_SIGNUP: 'open' },
  })
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
  const api = await startTestApi(t, { nodes: 2 })
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
  const api = await startTestApi(t, { nodes: 2 })
  const email = 'İstanbul@example.com'
  t.equal((await api.client().post('/auth/signup', { body: { ...SIGNUP, email } })).status, 201)
  t.equal((await api.client().post('/auth/login', { body: { email, password: SIGNUP.password } })).status, 200)
})
