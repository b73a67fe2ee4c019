import { createHmac } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createLogger } from '../../../runtime/process/log.ts'
import { openRealtime } from '../../../scripts/demo/realtime.ts'
import { startEmbedded } from '../../../store/embedded/embedded.ts'
import { type ApiNode, type Role, roleWhen, startInstallation } from '../../support/instance/installation.ts'
import { runMain } from '../../support/instance/instance.ts'
import { testDataDir } from '../../support/instance/services.ts'
import { NodesClient } from '../../support/world/nodes-client.ts'
import { connectAdmin, passwordRoleName } from '../../support/world/password-role.ts'
import { startReceiver } from '../../support/world/webhook-receiver.ts'

const LIMIT_MS = 900_000
const CALLERS = 4
const TURNS_A_CALL = 2
const ACCESS_TOKEN_TTL_S = 10
const ANSWER_LIMIT_MS = 30_000
const HEADER = 'Bearer a-secret-of-the-shop'

const secret = (name: string): string => name.padEnd(32, '-')
type Settings = Record<string, string>

/** The three rolls of docs/operations.md, "Changing secrets", for all of them at once: `api` is for api nodes alone. */
function rolls(urls: Record<'a' | 'b', string>): readonly { api: Settings; store: Settings; voice: Settings }[] {
  const before = { JWT_API_SECRET: secret('jwt-1'), PATCHBAY_DATA_KEY: secret('data-1') }
  const after = { JWT_API_SECRET: secret('jwt-2'), PATCHBAY_DATA_KEY: secret('data-2') }
  const known = ({ JWT_API_SECRET, PATCHBAY_DATA_KEY }: typeof before) => ({
    JWT_API_SECRET_VERIFY: JWT_API_SECRET,
    PATCHBAY_DATA_KEY_OLD: PATCHBAY_DATA_KEY,
  })
  const [first, second] = ['link-token-of-before', 'link-token-of-afterwards']
  const link = (token: string) => ({ PATCHBAY_LINK_TOKEN: token })
  return [
    { store: { ...before, DATABASE_URL: urls.a }, api: {}, voice: link(first) },
    {
      store: { ...before, ...known(after), DATABASE_URL: urls.a },
      api: { PATCHBAY_LINK_TOKEN_VERIFY: second },
      voice: link(first),
    },
    {
      store: { ...after, ...known(before), DATABASE_URL: urls.b },
      api: { PATCHBAY_LINK_TOKEN_VERIFY: first },
      voice: link(second),
    },
    { store: { ...after, DATABASE_URL: urls.b }, api: {}, voice: link(second) },
  ]
}

/** A database that asks for passwords, and whose owner two roles act as, as docs/operations.md makes them. */
async function startDatabase(t: Test) {
  const log = createLogger({ level: 'silent', name: 'test' })
  const dataDir = await testDataDir(t)
  const services = { dataDir, log, searchPath: process.env.PATH, postgres: true, redis: false }
  const embedded = await startEmbedded({ ...services, postgresSettings: { fsync: 'off' } })
  t.teardown(() => embedded.stop(5_000))
  const url = new URL(embedded.databaseUrl ?? '')
  const admin = await connectAdmin(url.href)
  t.teardown(() => admin.end())
  const [nodeA, nodeB] = [await passwordRoleName(admin), await passwordRoleName(admin)]
  const docs = await readFile(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8')
  const block = /```sql\n(create role node_a[\s\S]*?)```/.exec(docs)?.[1] ?? ''
  const printed = block.replace("'patchbay'", `'${url.username}'`).replace('role patchbay;', `role ${url.username};`)
  const of = (role: string, password: string): string => {
    const one = new URL(url)
    Object.assign(one, { username: role, password })
    return one.href
  }
  await admin.query(printed.replaceAll('node_a', nodeA))
  await admin.query(printed.replaceAll('node_a', nodeB).replace("'first'", "'second'"))
  const wrong = new pg.Client({ connectionString: of(nodeA, 'another') })
  await t.rejects(wrong.connect(), /password authentication failed/, 'the database asks for the password')
  return { admin, nodeA, urls: { a: of(nodeA, 'first'), b: of(nodeB, 'second') } }
}

t.test(
  'all secrets are changed under load: nobody is logged out, no call is lost, and every sealed row is read',
  { timeout: LIMIT_MS },
  async (t) => {
    const { admin, nodeA, urls } = await startDatabase(t)
    const settings = rolls(urls)
    /** Requests of agents' tools, and webhooks, that came with a wrong secret. */
    const strangers: string[] = []
    let hookSecret = ''
    const shop = await startReceiver(t, ({ headers, text }, response, request) => {
      if (request.url === '/hook') {
        const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
        const key = Buffer.from(hookSecret.replace('whsec_', ''), 'base64')
        const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
        if (headers['webhook-signature'] !== signature) strangers.push(`webhook ${headers['webhook-signature']}`)
      } else if (headers.authorization !== HEADER) strangers.push(`tool ${headers.authorization}`)
      response.setHeader('content-type', 'application/json').end('"shipped today"')
    })
    const origin = new URL(shop.url).origin
    const installation = await startInstallation(t, {
      ...{ calls: CALLERS, limitMs: LIMIT_MS, database: Promise.resolve(urls.a) },
      ...{ voiceDrainMs: 500, leaveMs: 500 },
    })
    const common = {
      PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1',
      PATCHBAY_ACCESS_TOKEN_TTL_S: String(ACCESS_TOKEN_TTL_S),
    }
    const start = async (kind: 'a' | 'b' | 'voice' | 'jobs', roll: number): Promise<ApiNode | Role> => {
      const { api, store, voice } = settings[roll]!
      const own = { ...common, ...store, ...voice }
      const role =
        kind === 'voice'
          ? await installation.voice(undefined, voice)
          : kind === 'jobs'
            ? await installation.jobs(undefined, own)
            : await installation.api(kind, undefined, { ...own, ...api })
      return role
    }
    const running = {
      a: (await start('a', 0)) as ApiNode,
      b: (await start('b', 0)) as ApiNode,
      voice: await start('voice', 0),
      jobs: await start('jobs', 0),
    }
    for (const role of Object.values(running)) await roleWhen(role, 'ready')
    const nodes = [running.a.url, running.b.url]

    const user = new NodesClient(nodes)
    const [email, password] = ['ada@example.com', 'a-long-password-of-ada']
    await user.send('POST', '/auth/signup', { name: 'Ada', email, password, phone_number: '+14155550100' })
    await user.send('POST', '/auth/login', { email, password })
    const { workspace_id } = await user.send('POST', '/workspaces', { name: 'Ada', type: 'business' })
    await user.send('POST', `/workspaces/${workspace_id}/switch`)
    const http = { url: `${origin}/orders`, headers: { authorization: HEADER } }
    const script = [{ question: 'Where is my order', tool: { name: 'orders', arguments: {} }, answer: '{output}' }]
    const { agent_id } = await user.send('POST', '/agents', {
      ...{ agent_name: 'Ava', system_prompt: 'Be kind.', first_message: 'Hi.' },
      ...{ LLM_provider: 'sim', LLM_model: JSON.stringify({ script }), TTS_provider: 'sim', TTS_voice: 'tone' },
      tools: [{ type: 'http', name: 'orders', description: 'Finds an order', http }],
    })
    hookSecret = (await user.send('POST', '/webhooks', { url: shop.url, types: ['call.ended'] })).secret
    const { key } = await user.send('POST', '/api-keys', { name: 'CRM', scopes: ['read', 'calls'] })

    const stopping = new AbortController()
    const lost: string[] = []
    let calls = 0
    const during = async (everyMs: number, work: () => Promise<unknown>): Promise<void> => {
      while (!stopping.signal.aborted) {
        await work()
        await sleep(everyMs)
      }
    }
    const talk = async (rest: NodesClient, number: number): Promise<void> => {
      const { token } = await rest.send('GET', `/calls/generate-token?agent_id=${agent_id}`)
      const told = new EventEmitter()
      const node = nodes[number % nodes.length]?.replace(/^http/, 'ws')
      // One that drains, or starts, takes nobody.
      const session = await openRealtime(`${node}/realtime?token=${token}`, {
        message: (message) => void told.emit(message.type, message),
        audio: () => {},
        closed: (code) => void told.emit('closed', code),
      }).catch(() => undefined)
      if (session === undefined) return
      const limit = () => ({ signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })
      await once(told, 'session.started', limit())
      calls++
      for (let turn = 0; turn < TURNS_A_CALL; turn++) {
        const answered = new Promise<void>((resolve) => {
          told.on('transcript', ({ role, text }) => {
            if (role === 'assistant' && /shipped today/.test(text)) resolve()
          })
        })
        const isOver = once(told, 'closed', limit()).then(([code]) => {
          throw new Error(`The call ended by itself with ${code}`)
        })
        isOver.catch(() => {})
        session.send({ type: 'text', text: 'Where is my order' })
        await Promise.race([answered, isOver])
        told.removeAllListeners('transcript')
        await sleep(400)
      }
      const ended = once(told, 'closed', limit())
      session.send({ type: 'end' })
      await ended
    }
    const byKey = new NodesClient(nodes, { 'x-api-key': key })
    const guest = new NodesClient(nodes)
    let trunks = 0
    const load = Promise.all([
      during(50, () => user.send('GET', `/agents/${agent_id}`)),
      during(50, () => byKey.send('GET', '/calls/logs')),
      during(1_000, () => guest.send('POST', '/auth/login', { email, password })),
      during(500, () => {
        const trunk = { name: `trunk-${++trunks}`, host: `sip-${trunks}.example.com`, username: 'ada' }
        return user.send('POST', '/trunks', { ...trunk, password: `password-${trunks}` })
      }),
      ...Array.from({ length: CALLERS }, (_, caller) => {
        let number = caller
        return during(200, () => talk(byKey, number++).catch((error) => lost.push(String(error))))
      }),
    ])

    const replace = async (kind: keyof typeof running, roll: number): Promise<void> => {
      const old = running[kind]
      // Beside the old one, where it has no port of its own.
      const next = kind === 'voice' || kind === 'jobs' ? await start(kind, roll) : undefined
      if (next !== undefined) await roleWhen(next, 'ready')
      old.child.kill('SIGTERM')
      t.equal(await old.ended, 0, `${kind} ends`)
      const now = next ?? (await start(kind, roll))
      await roleWhen(now, 'ready')
      Object.assign(running, { [kind]: now })
    }
    for (let roll = 1; roll < settings.length; roll++) {
      await Promise.all([replace('a', roll), replace('jobs', roll)])
      await Promise.all([replace('b', roll), replace('voice', roll)])
      if (roll !== 2) continue
      const { code, stdout, stderr } = await runMain(['data-key', 'status'], {
        ...settings[roll]!.store,
        REDIS_URL: 'redis://127.0.0.1:1',
      })
      t.equal(code, 0, stderr)
      t.match(stdout, /No earlier key is needed any more/)
      await admin.query(`drop role ${nodeA}`)
      await sleep(ACCESS_TOKEN_TTL_S * 1_000)
    }
    // Everything under the new ones alone.
    await sleep(2_000)
    stopping.abort()
    await load

    for (const [name, client] of Object.entries({ user, byKey, guest }))
      t.same(client.wrong, [], `${name}: nothing wrong`)
    t.same(lost, [], 'no call is lost')
    t.same(strangers, [], 'every tool and webhook had its secret')
    const status = await runMain(['data-key', 'status'], {
      ...settings.at(-1)!.store,
      REDIS_URL: 'redis://127.0.0.1:1',
    })
    // Those of the trunks, of which one may be there whose answer was not waited for, of the webhook, and of the tool in the agent and
    // in its version.
    const made = await admin.query<{ n: number }>('select count(*)::int as n from trunks')
    const secrets = made.rows[0]!.n + 3
    t.match(status.stdout, new RegExp(`^${secrets} secrets are sealed under PATCHBAY_DATA_KEY$`, 'm'))
    t.notMatch(status.stdout, /NO key/)
    const { rows } = await admin.query<{ ended: string; n: number }>(
      `select status || ' ' || coalesce(end_reason, '') as ended, count(*)::int as n from calls where status <> 'queued' group by 1`,
    )
    t.same(
      rows.map(({ ended }) => ended),
      ['completed caller_hangup'],
    )
    t.ok(shop.received.some(({ body }) => body?.type === 'call.ended'))
    t.comment(`${user.answered + byKey.answered + guest.answered} requests, ${calls} calls, ${secrets} sealed secrets`)
    t.ok(calls > CALLERS)
  },
)
