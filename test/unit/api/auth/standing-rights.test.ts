import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { routes } from '../../../../api/routes.ts'
import { type ApiClient, startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { RealtimeClient } from '../../../support/instance/realtime-node.ts'
import { linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { ownTime } from '../../../support/world/own-time.ts'
import { Supervisor } from '../../../support/world/supervisor.ts'

const WITHIN_MS = 5_000
const ROOT = join(import.meta.dirname, '../../../..')

const api = await startTestApi(t)
await linkWorker(t, api, { capacity: 50 })

async function talk(user: TestUser, client: ApiClient = user.client) {
  const { agentId } = await startPhone(api, user)
  const { body } = await client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const page = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
  await page.got('session.started')
  return { callId: body.call_log_id as string, page }
}

/** Something open: when it is over, and what it brought. */
interface Open {
  readonly ended: Promise<unknown>
  isOver(): boolean
  close(): void
}

async function openStream(client: ApiClient, path: string): Promise<Open> {
  const abort = new AbortController()
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { ...client.headers, ...(cookie === '' ? {} : { cookie }) }
  const response = await fetch(new URL(path, api.url), { headers, signal: abort.signal })
  if (response.status !== 200) throw new Error(await response.text())
  let over = false
  const read = async () => {
    for await (const _ of response.body!);
  }
  const ended = read()
    .catch(() => undefined)
    .then(() => {
      over = true
    })
  return { ended, isOver: () => over, close: () => abort.abort() }
}

async function openListen(client: ApiClient, callId: string): Promise<Open & { supervisor: Supervisor }> {
  const supervisor = await Supervisor.listen(client, callId)
  const { socket } = supervisor
  const ended = once(socket, 'close')
  return { supervisor, ended, isOver: () => socket.readyState === socket.CLOSED, close: () => socket.close() }
}

/** What somebody with the right has open. A new stream or socket is opened here, or said why not below. */
const OPENED: Readonly<Record<string, (client: ApiClient, callId: string) => Promise<Open>>> = {
  'GET /events': (client) => openStream(client, '/events'),
  'GET /calls/{call_log_id}/events/live': (client, callId) => openStream(client, `/calls/${callId}/events/live`),
  '/listen': openListen,
}
const ALL = Object.keys(OPENED)

const setRole = (user: TestUser, role: 'member' | 'admin') =>
  api.store.global
    .updateTable('memberships')
    .set({ role })
    .where('user_id', '=', user.id)
    .where('workspace_id', '=', user.workspaceId)
    .execute()
const setSuspended = (workspaceId: string, suspended_at: Date | null) =>
  api.store.global.updateTable('workspaces').set({ suspended_at }).where('id', '=', workspaceId).execute()

interface Withdrawal {
  holder: 'member' | 'key'
  withdraw(at: { owner: TestUser; holder: TestUser; keyId: string }): Promise<unknown>
  ends: readonly string[]
}

/** A member may listen no more when lowered; suspended, members only read. */
const WITHDRAWALS: Readonly<Record<string, Withdrawal>> = {
  'a member is removed': {
    holder: 'member',
    withdraw: ({ owner, holder }) => owner.client.delete(`/workspaces/${owner.workspaceId}/members/${holder.id}`),
    ends: ALL,
  },
  'a role is lowered': { holder: 'member', withdraw: ({ holder }) => setRole(holder, 'member'), ends: ['/listen'] },
  'somebody logs out': { holder: 'member', withdraw: ({ holder }) => holder.client.post('/auth/logout'), ends: ALL },
  'a session is ended': {
    holder: 'member',
    async withdraw({ holder }) {
      const { body } = await holder.client.get('/auth/sessions')
      await holder.client.delete(`/auth/sessions/${body[0].session_id}`)
    },
    ends: ALL,
  },
  'a password is changed elsewhere': {
    holder: 'member',
    async withdraw({ holder }) {
      const elsewhere = api.client()
      await elsewhere.post('/auth/login', { body: { email: holder.email, password: holder.password } })
      const body = { current_password: holder.password, new_password: 'battery staple' }
      await elsewhere.post('/auth/password', { body })
    },
    ends: ALL,
  },
  'a key is revoked': {
    holder: 'key',
    withdraw: ({ owner, keyId }) => owner.client.delete(`/api-keys/${keyId}`),
    ends: ALL,
  },
  'a workspace is suspended, for its keys': {
    holder: 'key',
    withdraw: ({ owner }) => setSuspended(owner.workspaceId, new Date()),
    ends: ALL,
  },
  'a workspace is suspended, for its members': {
    holder: 'member',
    withdraw: ({ owner }) => setSuspended(owner.workspaceId, new Date()),
    ends: ['/listen'],
  },
}

for (const [what, { holder: kind, withdraw, ends }] of Object.entries(WITHDRAWALS)) {
  t.test(`${what}: what is open ends within five seconds`, async (t) => {
    const owner = await api.signUp()
    const holder = await api.member(owner, 'developer')
    const { body: key } = await owner.client.post('/api-keys', { body: { name: 'CRM' } })
    const client = api.client()
    client.headers = { 'x-api-key': key.key }
    const { callId, page } = await talk(owner)
    const opened = await Promise.all(
      Object.entries(OPENED).map(
        async ([name, open]) => [name, await open(kind === 'key' ? client : holder.client, callId)] as const,
      ),
    )
    const others = await Promise.all(Object.values(OPENED).map((open) => open(owner.client, callId)))
    await sleep(300)
    t.same(
      opened.filter(([, one]) => one.isOver()).map(([name]) => name),
      [],
      'all is open',
    )
    const tookMs = ownTime(t)
    await withdraw({ owner, holder, keyId: key.id })
    await Promise.all(opened.filter(([name]) => ends.includes(name)).map(([, one]) => one.ended))
    t.ok(tookMs() < WITHIN_MS, `${tookMs()} ms`)
    t.same(
      opened.filter(([, one]) => one.isOver()).map(([name]) => name),
      ends,
      'and nothing else',
    )
    if (!what.includes('suspended'))
      t.notOk(
        others.some((one) => one.isOver()),
        'those of others go on',
      )
    for (const one of [...opened.map(([, one]) => one), ...others]) one.close()
    page.send({ type: 'end' })
    await page.closed()
  })
}

t.test('an order of a supervisor whose right has just ended does nothing to the call', async (t) => {
  const owner = await api.signUp()
  const holder = await api.member(owner, 'developer')
  const { callId, page } = await talk(owner)
  const { supervisor, ended } = await openListen(holder.client, callId)
  await setRole(holder, 'member')
  supervisor.send({ type: 'say', text: 'This must not be heard' })
  supervisor.send({ type: 'end' })
  await ended
  t.match(
    supervisor.messages.find(({ type }) => type === 'error'),
    { code: 'insufficient_permissions' },
  )
  t.notOk(supervisor.messages.some(({ type }) => type === 'done'))
  const { body } = await owner.client.get(`/calls/${callId}`)
  t.equal(body.ended_at, null, 'the call goes on')
  page.send({ type: 'end' })
  await page.closed()
})

t.test('a listen token of somebody who was removed opens nothing', async (t) => {
  const owner = await api.signUp()
  const holder = await api.member(owner, 'developer')
  const { callId, page } = await talk(owner)
  const { body } = await holder.client.post(`/calls/${callId}/listen`)
  await owner.client.delete(`/workspaces/${owner.workspaceId}/members/${holder.id}`)
  const [error] = await once(new Supervisor(body.url).socket, 'error')
  t.match(error.message, '403')
  page.send({ type: 'end' })
  await page.closed()
})

t.test('the call of a visitor ends with the public access of its agent; that of a key goes on', async (t) => {
  const owner = await api.signUp()
  const publicCall = async () => {
    const { agentId } = await startPhone(api, owner, { public: { origins: ['*'] } })
    const { body } = await api.client().post(`/public/agents/${agentId}/session`, { headers: { origin: api.url } })
    return { agentId, token: body.token as string }
  }
  const open = async (token: string) => {
    const page = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, token)
    await page.got('session.started')
    return page
  }
  const [kept, withdrawn, unused] = await Promise.all([publicCall(), publicCall(), publicCall()])
  const pages = await Promise.all([open(kept.token), open(withdrawn.token)])
  const { body: key } = await owner.client.post('/api-keys', { body: { name: 'shop' } })
  const shop = api.client()
  shop.headers = { 'x-api-key': key.key }
  const { page: ofKey } = await talk(owner, shop)
  const tookMs = ownTime(t)
  await owner.client.put(`/agents/${withdrawn.agentId}`, { body: { public: null } })
  await owner.client.put(`/agents/${unused.agentId}`, { body: { public: null } })
  await owner.client.delete(`/api-keys/${key.id}`)
  await pages[1]?.closed()
  t.ok(tookMs() < WITHIN_MS, `${tookMs()} ms`)
  await t.rejects(open(unused.token), /404/, 'its unused token opens nothing')
  await sleep(2_500)
  t.equal(pages[0]?.socket.readyState, 1, 'the call of another public agent goes on')
  t.equal(ofKey.socket.readyState, 1, 'and that of the key, in which a customer talks')
  await setSuspended(owner.workspaceId, new Date())
  await pages[0]?.closed()
  t.equal(ofKey.socket.readyState, 1)
  ofKey.send({ type: 'end' })
  await ofKey.closed()
})

/** Sockets of whom nobody can withdraw anything while they are open. */
const NO_RIGHTS: Readonly<Record<string, string>> = {
  '/link': 'voice workers, by the token of the configuration',
  '/realtime': 'visitors by agent, tested above; the call of a member or key is another person’s',
  '/telephony/{provider}/stream': 'carriers',
}

t.test('every socket and every stream is named here', async (t) => {
  const paths = globSync('{api,runtime,plugins}/**/*.ts', {
    cwd: ROOT,
    exclude: (name) => name.includes('node_modules'),
  })
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .filter((text) => text.includes('WebSocketRoute'))
    .flatMap((text) =>
      [...text.matchAll(/\bpath(?:: | = )['`](\/[^'`]+)['`]/g)].map(([, path = '']) => path.replace('${', '{')),
    )
    .filter((path) => !routes.some((route) => route.path === path))
  const known = [...Object.keys(NO_RIGHTS), ...ALL.filter((name) => name.startsWith('/'))]
  t.same([...new Set(paths)].sort(), known.sort())
  const events = routes
    .filter(
      ({ method, success }) => method === 'GET' && (success.contentType === 'text/event-stream' || 'events' in success),
    )
    .map(({ method, path }) => `${method} ${path}`)
  t.same(events.sort(), ALL.filter((name) => name.startsWith('GET ')).sort())
})
