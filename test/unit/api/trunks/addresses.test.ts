import { Writable } from 'node:stream'
import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { makeAuthority } from '../../../support/sip/certificates.ts'

let made = 0
const add = (user: TestUser, more: Record<string, unknown>) =>
  user.client.post('/trunks', {
    body: { name: `trunk ${++made}`, host: `sip${made}.example.invalid`, allowed_addresses: [], ...more },
  })
const account = { username: 'aurora', password: 'circle of life' }

t.test('an address of a trunk is one workspace’s, however it is written', async (t) => {
  const api = await startTestApi(t)
  const [boss, owner, stranger] = [await api.signUp(), await api.signUp('Owner'), await api.signUp('Eve')]
  t.equal(
    (await add(owner, { host: '192.0.2.2:5070', allowed_addresses: ['198.51.100.0/25', '2001:db8:1::/64'] })).status,
    201,
  )
  for (const taken of [
    { host: '[::ffff:192.0.2.2]:5070', ...account },
    { host: '[::ffff:c000:202]', ...account },
    { host: 'sip.example.invalid', outbound_proxy: '192.0.2.2', ...account },
    { allowed_addresses: ['192.0.2.0/24'] },
    { allowed_addresses: ['198.51.100.0/24'] },
    { allowed_addresses: ['203.0.113.9', '198.51.100.127'] },
    { allowed_addresses: ['::ffff:198.51.100.7'] },
    { allowed_addresses: ['::ffff:198.51.100.0/120'] },
    { allowed_addresses: ['2001:db8:1::17'] },
    { allowed_addresses: ['2001:DB8:1:0::/48'] },
    { host: '198.51.100.9', ...account },
  ]) {
    const { status, body } = await add(stranger, taken)
    t.match([status, body.detail], [409, /belongs to (a trunk of )?another workspace/], JSON.stringify(taken))
  }
  t.equal((await add(owner, { allowed_addresses: ['198.51.100.7'] })).status, 201, 'its own it may name again')
  t.equal((await add(stranger, { allowed_addresses: ['198.51.100.128/25'] })).status, 201, 'the other half is free')

  const { body: fresh } = await add(stranger, { allowed_addresses: ['203.0.113.0/28'] })
  const patched = await stranger.client.patch(`/trunks/${fresh.trunk_id}`, {
    body: { allowed_addresses: ['192.0.2.2'] },
  })
  t.equal(patched.status, 409)
  t.equal((await add(owner, { allowed_addresses: ['203.0.113.5'] })).status, 409, 'what was refused changed nothing')
  await stranger.client.delete(`/trunks/${fresh.trunk_id}`)
  t.equal((await add(owner, { allowed_addresses: ['203.0.113.5'] })).status, 201, 'a removed trunk has none')

  const approve = { host: '198.51.100.0/25', workspace_id: stranger.workspaceId }
  t.match(await boss.client.post('/operator/trunk-hosts', { body: approve }), {
    status: 201,
    body: { host: approve.host },
  })
  t.equal((await add(stranger, { allowed_addresses: ['198.51.100.0/26'] })).status, 201, 'unless the operator approves')
  t.equal((await add(owner, { allowed_addresses: ['198.51.100.1'] })).status, 409, 'and then it is for them alone')
})

t.test('media addresses may be anybody’s carrier, but no machine of the operator’s network', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_TRUNKS_ALLOW_NET: '127.0.0.1' } })
  const [boss, owner, other] = [await api.signUp(), await api.signUp('Owner'), await api.signUp('Other')]
  for (const media of ['10.0.0.5', '127.0.0.9', '169.254.169.254', '168.0.0.0/8', 'fd00::/64', '::ffff:10.0.0.5']) {
    const { status, body } = await add(owner, { ...account, media_addresses: ['198.51.100.0/24', media] })
    t.match([status, body.detail], [422, [{ loc: ['body', 'media_addresses'], msg: /approve it/ }]], media)
  }
  t.equal(
    (await add(owner, { ...account, media_addresses: ['198.51.100.0/22', '127.0.0.1'] })).status,
    201,
    'ALLOW_NET is open',
  )
  const { status, body } = await add(other, { ...account, media_addresses: ['198.51.100.0/22'] })
  t.equal(status, 201, 'two workspaces may have the same carrier')
  const changed = (media: string) =>
    other.client.patch(`/trunks/${body.trunk_id}`, { body: { media_addresses: [media] } })
  t.equal((await changed('10.0.0.5')).status, 422, 'a change is looked at, too')
  await boss.client.post('/operator/trunk-hosts', { body: { host: '10.0.0.0/24', workspace_id: other.workspaceId } })
  t.equal((await changed('10.0.0.5')).status, 200, 'unless the operator approves')
})

t.test('two workspaces that ask for one address at once do not both get it', async (t) => {
  const api = await startTestApi(t)
  await api.signUp()
  const users = await Promise.all(['A', 'B', 'C', 'D'].map((name) => api.signUp(name)))
  const answers = await Promise.all(users.map((user) => add(user, { allowed_addresses: ['192.0.2.0/24'] })))
  t.same(answers.map(({ status }) => status).sort(), [201, 409, 409, 409])
})

t.test('wide ranges, and any with a machine of the operator’s network in it, need approval', async (t) => {
  const api = await startTestApi(t)
  const [boss, owner] = [await api.signUp(), await api.signUp('Owner')]
  const refused = async (range: string, msg: RegExp) => {
    const { status, body } = await add(owner, { allowed_addresses: ['192.0.2.1', range] })
    t.match([status, body.detail], [422, [{ loc: ['body', 'allowed_addresses'], msg }]], range)
  }
  for (const wide of ['1.0.0.0/8', '192.0.0.0/8', '8.8.8.0/23', '2600::/32', '2600:1:2::/47']) {
    await refused(wide, /wider than \/24 \(IPv6: \/48\); ask the operator/)
  }
  for (const internal of [
    '10.0.0.5',
    '172.31.255.0/24',
    '127.0.0.0/24',
    '::ffff:10.0.0.0/120',
    'fd00::1',
    '::1',
    '198.18.3.4',
    '64:ff9b::a00:5',
  ]) {
    await refused(internal, /operator's own network; ask the operator/)
  }
  const proxy = await add(owner, { outbound_proxy: '127.0.0.1:18140', ...account })
  t.match([proxy.status, proxy.body.detail], [422, [{ loc: ['body', 'outbound_proxy'], msg: /ask the operator/ }]])

  const approved = async (host: string) =>
    (await boss.client.post('/operator/trunk-hosts', { body: { host, workspace_id: owner.workspaceId } })).status
  t.equal(await approved('10.0.0.5'), 201)
  const trunk = await add(owner, { host: '10.0.0.5', ...account })
  t.equal(trunk.status, 201)
  const path = `/trunks/${trunk.body.trunk_id}`
  t.equal(
    (await owner.client.patch(path, { body: { allowed_addresses: ['10.0.0.0/24'] } })).status,
    422,
    'an approved host approves no other address',
  )
  t.equal(await approved('10.0.0.0/8'), 201)
  t.equal((await owner.client.patch(path, { body: { allowed_addresses: ['10.0.0.0/16'] } })).status, 200)
  t.equal(
    (await add(boss, { allowed_addresses: ['8.8.0.0/16', '172.16.0.0/12'] })).status,
    201,
    'the operator need not ask',
  )
  t.equal((await add(owner, { allowed_addresses: ['8.8.8.0/24'] })).status, 409)
})

t.test('a start names the ranges that trunks have from before they needed approval', async (t) => {
  const first = await startTestApi(t)
  const [boss, owner] = [await first.signUp(), await first.signUp('Owner')]
  const trunks = [
    ['wide', '192.0.0.0/8'],
    ['internal', '10.1.2.0/24'],
    ['approved', '10.9.0.0/16'],
    ['fine', '198.51.100.0/24'],
  ] as const
  for (const [name, range] of trunks) {
    t.equal((await add(owner, { name, ...account })).status, 201)
    await first.store.pool.query('update trunks set allowed_addresses = $1 where name = $2', [
      JSON.stringify([range]),
      name,
    ])
  }
  const approve = { host: '10.9.0.0/16', workspace_id: owner.workspaceId }
  t.equal((await boss.client.post('/operator/trunk-hosts', { body: approve })).status, 201)
  const lines: { msg: string; trunk: string; range: string }[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  await startTestApi(t, { beside: first, log: createLogger({ level: 'warn', name: 'api', destination }) })
  const said = lines.filter(({ msg }) => /takes calls from a range/.test(msg))
  t.match(said.map(({ trunk, range, msg }) => [trunk, range, msg]).sort(), [
    ['internal', '10.1.2.0/24', /your own network.*POST \/operator\/trunk-hosts/],
    ['wide', '192.0.0.0/8', /wider than \/24/],
  ])
  t.equal(said.length, 2)
})

t.test('all ranges of a workspace together are bounded', async (t) => {
  const api = await startTestApi(t)
  await api.signUp()
  const owner = await api.signUp('Owner')
  const ranges = (from: number, count: number) => Array.from({ length: count }, (_, i) => `8.${from}.${i}.0/24`)
  t.equal((await add(owner, { allowed_addresses: ranges(1, 60) })).status, 201)
  t.match((await add(owner, { allowed_addresses: ranges(2, 5) })).body.detail, [{ msg: /more addresses than/ }])
  t.equal((await add(owner, { allowed_addresses: ranges(3, 4) })).status, 201)
})

t.test('whoever leads a trunk elsewhere has to send its secrets again', async (t) => {
  const api = await startTestApi(t)
  await api.signUp()
  const owner = await api.signUp('Owner')
  const own = makeAuthority().issue(['sbc.example.com'])
  const tls = { transport: 'tls', tls_cert: own.cert, tls_key: own.key }
  const ca = { tls_ca: makeAuthority().cert }
  const cases: [Record<string, unknown>, Record<string, unknown>][] = [
    [{}, { host: '203.0.113.77' }],
    [{ host: '192.0.2.30' }, { host: '192.0.2.30:5070' }],
    [{}, { outbound_proxy: '203.0.113.78' }],
    [{ outbound_proxy: '203.0.113.79' }, { outbound_proxy: '203.0.113.79:5070' }],
    [{ outbound_proxy: '203.0.113.80' }, { outbound_proxy: null }],
    [{}, { transport: 'tcp' }],
    [{ transport: 'tls' }, ca],
    [{ transport: 'tls', ...ca }, { tls_ca: null }],
  ]
  for (const [before, change] of cases) {
    const { body } = await add(owner, { ...account, ...before })
    const path = `/trunks/${body.trunk_id}`
    t.equal((await owner.client.patch(path, { body: { max_concurrent_calls: 3, ...before } })).body.has_password, true)
    const moved = await owner.client.patch(path, { body: { ...change, allowed_addresses: ['192.0.2.77'] } })
    t.match([moved.status, moved.body.has_password], [200, false], JSON.stringify(change))
    const sent = await owner.client.patch(path, { body: { ...before, password: 'another one' } })
    t.equal(sent.body.has_password, true)
  }
  const { body } = await add(owner, { ...account, ...tls, allowed_addresses: ['192.0.2.78'] })
  const moved = await owner.client.patch(`/trunks/${body.trunk_id}`, { body: { outbound_proxy: '203.0.113.81' } })
  t.match([moved.status, moved.body.detail], [422, [{ loc: ['body', 'tls_key'], msg: /is missing/ }]])
  const again = { outbound_proxy: '203.0.113.81', tls_key: own.key }
  t.match((await owner.client.patch(`/trunks/${body.trunk_id}`, { body: again })).body, {
    has_tls_key: true,
    has_password: false,
  })
})
