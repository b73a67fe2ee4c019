import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { dataKeyStatus, describeDataKeys, resealAll } from '../../../api/data-key.ts'
import { SEALED_COLUMNS } from '../../../api/sealed-columns.ts'
import { toolSecrets } from '../../../api/tools/tool-calls.ts'
import { keyLabel, trunkSecrets } from '../../../api/trunks/book.ts'
import { createLogger } from '../../../runtime/process/log.ts'
import { ApiClient, startTestApi, type TestApi } from '../../support/instance/api.ts'
import { upgradeStatus } from '../../support/instance/realtime-node.ts'

const NEW_KEY = 'another-data-key-another-data-key-another'
const log = createLogger({ level: 'silent', name: 'test' })

t.test('secrets sealed under an earlier key are sealed anew, after which that key opens nothing', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const { dataKey: old, jwtApiSecret } = api.config
  const tool = {
    type: 'http',
    name: 'orders',
    description: 'd',
    http: { url: 'https://example.com/', headers: { authorization: 'Bearer secret' } },
  }
  const agent = await ada.client.post('/agents', {
    body: { agent_name: 'Ada', system_prompt: 'You answer.', tools: [tool] },
  })
  const trunk = await ada.client.post('/trunks', {
    body: { name: 'main', host: 'sip.example.com', username: 'ada', password: 'trunk secret' },
  })
  t.same([agent.status, trunk.status], [201, 201])
  const { pool } = api.store
  const sealed = async () => {
    const { rows } = await pool.query(`select (select password from trunks) as password,
      (select tools -> 0 -> 'http' -> 'headers' ->> 'authorization' from agents) as header`)
    return rows[0] as { password: string; header: string }
  }
  const openedBy = async (key: string) => {
    const { password, header } = await sealed()
    return [
      trunkSecrets(key).open(password, trunk.body.trunk_id),
      toolSecrets(key).open(header, `tool headers of ${ada.workspaceId}`),
    ]
  }
  t.same(await openedBy(old), ['trunk secret', 'Bearer secret'])
  t.not(keyLabel(trunk.body.trunk_id), trunk.body.trunk_id)

  const rotated = { dataKey: NEW_KEY, dataKeyOld: ['a key of long ago', old], jwtApiSecret }
  t.same(
    await resealAll(api.store, rotated, log),
    { resealed: 3 },
    'the header of the agent, of its version, and the trunk',
  )
  t.same(await openedBy(NEW_KEY), ['trunk secret', 'Bearer secret'])
  t.same(await openedBy(old), [undefined, undefined])
  const after = await sealed()
  t.same(await resealAll(api.store, rotated, log), { resealed: 0 }, 'a second start changes nothing')
  t.same(await sealed(), after)

  const lost = { dataKey: 'a third key, and nobody named the second one', dataKeyOld: [], jwtApiSecret }
  t.same(await resealAll(api.store, lost, log), { resealed: 0 })
  t.same(await sealed(), after, 'what no key opens is left as it is')
})

const SEALED = /\bv1\.[\w-]{38,}/

t.test('every column that holds a sealed secret is sealed anew', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const headers = { authorization: 'Bearer secret' }
  const made = [
    await ada.client.post('/agents', {
      body: {
        ...{ agent_name: 'Ada', system_prompt: 'You answer.' },
        tools: [
          { type: 'http', name: 'orders', description: 'd', http: { url: 'https://example.com/', headers } },
          { type: 'mcp', url: 'https://example.com/mcp', headers },
        ],
      },
    }),
    await ada.client.post('/trunks', {
      body: { name: 'main', host: 'sip.example.com', username: 'ada', password: 'trunk secret' },
    }),
    await ada.client.post('/extensions', { body: { name: 'desk' } }),
    await ada.client.post('/webhooks', { body: { url: 'https://example.com/hook', types: ['call.ended'] } }),
    await ada.client.post('/phone-numbers', {
      body: { phone_number: '+14155550100', provider: 'sim', inbound_webhook: 'https://example.com/who' },
    }),
    await ada.client.put('/operator/providers/twilio/keys', { body: { keys: { TWILIO_AUTH_TOKEN: 'a-token' } } }),
    await ada.client.put('/providers/deepgram/keys', { body: { keys: { DEEPGRAM_API_KEY: 'a-key' } } }),
  ]
  t.same(
    made.map(({ status }) => status),
    [201, 201, 201, 201, 201, 200, 200],
  )
  const { pool } = api.store
  const webhook = `/webhooks/${made[3]!.body.webhook_id}`
  t.match((await ada.client.post(`${webhook}/rotate-secret`)).status, /^20/)
  const trunk = made[1]!.body.trunk_id
  const key = trunkSecrets(api.config.dataKey).seal('a private key', keyLabel(trunk))
  await pool.query('update trunks set tls_key = $1', [key])

  // From what lies in the database, not from the table that is tested.
  const { rows: columns } = await pool.query<{ table: string; column: string }>(`
    select table_name as table, column_name as column from information_schema.columns join information_schema.tables
    using (table_schema, table_name) where table_schema = current_schema() and table_type = 'BASE TABLE'
    and data_type in ('text', 'jsonb', 'json', 'ARRAY', 'character varying')`)
  const sealedTexts = async () => {
    const found = new Map<string, string[]>()
    for (const { table, column } of columns) {
      const { rows } = await pool.query(
        `select "${column}"::text as value from "${table}" where "${column}" is not null`,
      )
      const texts = rows.flatMap(({ value }) => String(value).match(new RegExp(SEALED, 'g')) ?? [])
      if (texts.length > 0) found.set(`${table}.${column}`, texts)
    }
    return found
  }
  const before = await sealedTexts()
  t.same([...before.keys()].sort(), SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort())
  const count = [...before.values()].flat().length
  t.equal(count, 12, 'two headers of the agent and of its version, and one of each other column')

  const { dataKey: old, jwtApiSecret } = api.config
  t.same(await resealAll(api.store, { dataKey: NEW_KEY, dataKeyOld: [old], jwtApiSecret }, log), { resealed: count })
  const after = await sealedTexts()
  t.equal([...after.values()].flat().length, count)
  t.same(
    [...after.values()].flat().filter((text) => [...before.values()].flat().includes(text)),
    [],
  )
  t.same(await resealAll(api.store, { dataKey: NEW_KEY, dataKeyOld: [], jwtApiSecret }, log), { resealed: 0 })
})

t.test('nothing is sealed but where the table of sealed columns says so', async (t) => {
  const uses = new Map<string, number>()
  for (const room of ['api', 'cli', 'plugins', 'runtime', 'store', 'workers']) {
    const folder = join(import.meta.dirname, '../../..', room)
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('.ts')) continue
      const count = [...(await readFile(join(folder, name), 'utf8')).matchAll(/\.seal\(/g)].length
      if (count > 0) uses.set(join(room, name), count)
    }
  }
  t.strictSame(Object.fromEntries(uses), {
    // agents.tools
    'api/agents/tool-headers.ts': 1,
    'api/data-key.ts': 1,
    // A cookie of ten minutes.
    'api/auth/sso/routes.ts': 1,
    // Secrets of a chat in Redis, for as long as a visitor needs to go on.
    'api/chats/chat-collecting.ts': 1,
    // Answers that are kept for a day.
    'api/http/keyed-answer.ts': 1,
    // provider_keys.value, workspace_provider_keys.value
    'api/providers/pasted-keys.ts': 1,
    'workers/provider-keys.ts': 1,
    // extensions.password
    'api/extensions/book.ts': 1,
    // phone_numbers.inbound_webhook_secret
    'api/phone-numbers/routes.ts': 1,
    // trunks.password, trunks.tls_key
    'api/trunks/book.ts': 2,
    // webhooks.secret, which becomes old_secret
    'api/webhooks/routes.ts': 2,
    'runtime/lib/secret-box.ts': 1,
  })
})

t.test('secrets of a time when the token’s key sealed them are sealed anew', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const trunk = await ada.client.post('/trunks', {
    body: { name: 'main', host: 'sip.example.com', username: 'ada', password: 'trunk secret' },
  })
  const { dataKey, jwtApiSecret } = api.config
  const id = trunk.body.trunk_id
  await api.store.pool.query('update trunks set password = $1', [trunkSecrets(jwtApiSecret).seal('of old', id)])
  t.same(await resealAll(api.store, { dataKey, dataKeyOld: undefined, jwtApiSecret }, log), { resealed: 1 })
  const { rows } = await api.store.pool.query('select password from trunks')
  t.equal(trunkSecrets(dataKey).open(rows[0].password, id), 'of old')
})

t.test(
  'while the key is changed, nodes with both keys open what either sealed, and the status says when the old one may go',
  async (t) => {
    const api = await startTestApi(t)
    const ada = await api.signUp()
    const trunk = await ada.client.post('/trunks', {
      body: { name: 'main', host: 'sip.example.com', username: 'ada', password: 'trunk secret' },
    })
    const { dataKey: old, jwtApiSecret } = api.config
    const id = trunk.body.trunk_id
    const first = { dataKey: old, dataKeyOld: [NEW_KEY], jwtApiSecret }
    const then = { dataKey: NEW_KEY, dataKeyOld: [old], jwtApiSecret }
    const sealedNow = async (): Promise<string> =>
      (await api.store.pool.query('select password from trunks')).rows[0].password
    const opened = async (config: typeof first) => trunkSecrets(config).open(await sealedNow(), id)

    await resealAll(api.store, first, log)
    t.same([await opened(first), await opened(then)], ['trunk secret', 'trunk secret'])
    t.same((await dataKeyStatus(api.store, then)).byKey, {
      PATCHBAY_DATA_KEY: 0,
      'PATCHBAY_DATA_KEY_OLD, key 1 of 1': 1,
      JWT_API_SECRET: 0,
    })
    t.match(describeDataKeys(await dataKeyStatus(api.store, then)), /Earlier keys are still needed/)
    await resealAll(api.store, then, log)
    t.same(
      [await opened(first), await opened(then)],
      ['trunk secret', 'trunk secret'],
      'a node that was not restarted yet opens it',
    )
    t.match(
      describeDataKeys(await dataKeyStatus(api.store, then)),
      /^1 secrets are sealed under PATCHBAY_DATA_KEY\n0 .*\n0 .*\nNo earlier key is needed/,
    )
    t.match(trunkSecrets(first).seal('x', id), /^v1\./)
    t.equal(trunkSecrets(old).open(trunkSecrets(first).seal('x', id), id), 'x', 'the first key seals')
    const lost = { dataKey: 'a third key, and nobody named the second one', jwtApiSecret }
    t.match(
      describeDataKeys(await dataKeyStatus(api.store, { ...lost, dataKeyOld: [] })),
      /1 secrets of trunks.password open with NO key/,
    )
  },
)

t.test(
  'JWT_API_SECRET and PATCHBAY_LINK_TOKEN are changed in a roll of two nodes without a 401',
  { timeout: 300_000 },
  async (t) => {
    const [old, next] = ['the old secret of at least 32 characters', 'the next secret of at least 32 characters']
    const [oldToken, nextToken] = ['the old link token', 'the next link token']
    const steps = [
      { secret: old, verify: undefined, link: oldToken, alsoLink: undefined },
      { secret: old, verify: [next], link: oldToken, alsoLink: [nextToken] },
      { secret: next, verify: [old], link: nextToken, alsoLink: [oldToken] },
      { secret: next, verify: undefined, link: nextToken, alsoLink: undefined },
    ]
    const first = await startTestApi(t)
    const ada = await first.signUp()
    const started = (step: (typeof steps)[number]) =>
      startTestApi(t, {
        beside: first,
        settings: {
          jwtApiSecret: step.secret,
          jwtApiSecretVerify: step.verify,
          linkToken: step.link,
          linkTokenVerify: step.alsoLink,
        },
      })
    const login = async (node: TestApi) => {
      const client = new ApiClient(node.url)
      const { status } = await client.post('/auth/login', { body: { email: ada.email, password: ada.password } })
      t.equal(status, 200)
      return client
    }
    const tokens: [made: number, client: ApiClient][] = []
    const stepOf = [0, 0]
    const nodes = [await started(steps[0]!), await started(steps[0]!)]
    for (const [at, step] of steps.entries()) {
      for (const which of [0, 1]) {
        // One of the two is restarted after the other, as in a roll.
        if (at > 0) nodes[which] = await started(step)
        stepOf[which] = at
        for (const [n, node] of nodes.entries()) tokens.push([stepOf[n] ?? 0, await login(node)])
        // Tokens of two steps before have run out: their lifetime passes between the steps.
        for (const node of nodes)
          for (const [made, client] of tokens.filter(([made]) => made >= at - 1)) {
            const shown = Object.assign(new ApiClient(node.url), { cookies: new Map(client.cookies) })
            t.equal((await shown.get('/auth/me')).status, 200, `made in step ${made}, shown in step ${at}`)
          }
        for (const node of nodes) {
          const workers = at === 0 ? [oldToken] : at === 3 ? [nextToken] : [oldToken, nextToken]
          // While nodes of two steps run, workers show what both accept.
          const accepted = which === 0 && at === 1 ? [oldToken] : which === 0 && at === 3 ? [nextToken] : workers
          for (const token of accepted)
            t.equal(
              await upgradeStatus({ url: node.url.replace(/^http/, 'ws') }, '/link', {
                authorization: `Bearer ${token}`,
              }),
              101,
              `${token} in step ${at}`,
            )
        }
      }
    }
    const last = nodes[0]!
    const [[, oldest] = []] = tokens
    const shown = Object.assign(new ApiClient(last.url), { cookies: new Map(oldest?.cookies ?? []) })
    t.equal((await shown.get('/auth/me')).status, 401, 'what the first secret signed is over at the end')
    t.equal(
      await upgradeStatus({ url: last.url.replace(/^http/, 'ws') }, '/link', { authorization: `Bearer ${oldToken}` }),
      401,
    )
  },
)
