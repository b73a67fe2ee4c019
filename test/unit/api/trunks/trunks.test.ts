import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { makeAuthority } from '../../../support/sip/certificates.ts'

const AUTHORITY = makeAuthority().cert

t.test('SIP trunks over REST', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const { client } = user
  const trunk = { name: 'main', host: 'sip.example.com', allowed_addresses: ['192.0.2.0/24'] }

  t.test('a trunk is made with defaults, read, changed and removed; its password never comes back', async (t) => {
    const made = await client.post('/trunks', { body: { ...trunk, username: 'aurora', password: 'circle of life' } })
    t.equal(made.status, 201)
    t.match(made.body, { ...trunk, transport: 'udp', register: false, has_password: true, max_concurrent_calls: 100 })
    t.notMatch(JSON.stringify(made.body), /circle/)
    const row = await api.store.tenant(user.workspaceId).db.selectFrom('trunks').selectAll().executeTakeFirstOrThrow()
    t.match(row.password, /^v1\./)
    t.notMatch(JSON.stringify(row), /circle/)
    const path = `/trunks/${made.body.trunk_id}`
    const changed = await client.patch(path, { body: { max_concurrent_calls: 5, password: null, username: null } })
    t.match(changed.body, { max_concurrent_calls: 5, has_password: false, username: null, host: 'sip.example.com' })
    t.same((await client.get('/trunks')).body, [changed.body])
    t.same((await client.get(path)).body, changed.body)
    t.equal((await client.delete(path)).status, 200)
    t.match(await client.get(path), { status: 404, body: { detail: 'Trunk not found' } })
  })

  t.test('a trunk that would let in nobody or anybody is refused', async (t) => {
    const refused = async (body: Record<string, unknown>, field: string) => {
      const { status, body: answer } = await client.post('/trunks', { body: { ...trunk, ...body } })
      t.equal(status, 422, JSON.stringify(body))
      t.same(
        answer.detail.map((fault: { loc: string[] }) => fault.loc),
        [['body', field]],
      )
    }
    await refused({ allowed_addresses: [] }, 'allowed_addresses')
    await refused({ allowed_addresses: [], username: 'aurora' }, 'allowed_addresses')
    await refused({ allowed_addresses: ['0.0.0.0/0'] }, 'allowed_addresses')
    await refused({ allowed_addresses: ['example.com'] }, 'allowed_addresses')
    await refused({ register: true }, 'register')
    await refused({ host: 'not a host' }, 'host')
    await refused({ host: 'a.example:70000' }, 'host')
    await refused({ countries: ['XX'] }, 'countries')
    await refused({ transport: 'tls', tls_ca: 'no certificate' }, 'tls_ca')
    await refused({ transport: 'tls', tls_ca: AUTHORITY.replace(/MII\w{9}/, 'AAAA') }, 'tls_ca')
    await refused({ tls_ca: AUTHORITY }, 'tls_ca')
    await refused({ media_encription: 'sdes' }, 'media_encription')
    await refused({ headers: { From: 'x' } }, 'headers')
    await refused({ fallback_trunk: 'main' }, 'fallback_trunk')
    await refused({ fallback_trunk: 'nowhere' }, 'fallback_trunk')
    await refused({ outbound_proxy: 'not a host' }, 'outbound_proxy')
    await refused({ media_addresses: ['example.com'] }, 'media_addresses')
    await refused({ transport: 'tls', tls_cert: AUTHORITY }, 'tls_key')
    const digest = { allowed_addresses: [], username: 'aurora', password: 'x', name: 'digest' }
    await refused(digest, 'password')
    digest.password = 'xylophone'
    t.equal((await client.post('/trunks', { body: { ...trunk, ...digest } })).status, 201)
  })

  t.test('settings of the account are kept, changed one by one, and the key never comes back', async (t) => {
    const own = makeAuthority().issue(['sbc.example.com'])
    const body = {
      ...trunk,
      name: 'account',
      transport: 'tls',
      tls_cert: own.cert,
      tls_key: own.key,
      from_user: 'acme',
    }
    const made = await client.post('/trunks', { body })
    t.match(made, { status: 201, body: { has_tls_key: true, from_user: 'acme', comedia: false } })
    t.notMatch(JSON.stringify(made.body), /PRIVATE KEY/)
    const changed = await client.patch(`/trunks/${made.body.trunk_id}`, { body: { tech_prefix: '99*' } })
    t.match(changed.body, { from_user: 'acme', tech_prefix: '99*', has_tls_key: true })
    const other = { tls_key: makeAuthority().issue(['other.example']).key }
    t.equal((await client.patch(`/trunks/${made.body.trunk_id}`, { body: other })).status, 422)
  })

  t.test('a trunk over TLS may bring its own authority, and let it go', async (t) => {
    const body = { ...trunk, name: 'tls', transport: 'tls', tls_ca: `${AUTHORITY}\n${makeAuthority().cert}` }
    const made = await client.post('/trunks', { body })
    t.match(made, { status: 201, body: { transport: 'tls', tls_ca: body.tls_ca } })
    const path = `/trunks/${made.body.trunk_id}`
    t.equal((await client.patch(path, { body: { transport: 'udp' } })).status, 422)
    t.match((await client.patch(path, { body: { transport: 'udp', tls_ca: null } })).body, { tls_ca: null })
  })

  t.test('a name is taken once, followed by its numbers, and kept while they name it', async (t) => {
    const { body } = await client.post('/trunks', { body: { ...trunk, name: 'east' } })
    t.match(await client.post('/trunks', { body: { ...trunk, name: 'east' } }), {
      status: 409,
      body: { detail: 'Trunk name already taken' },
    })
    const number = { phone_number: '+14155550100', provider: 'sip', trunk: 'east' }
    t.match(await client.post('/phone-numbers', { body: { ...number, trunk: 'nowhere' } }), {
      status: 404,
      body: { detail: 'Trunk not found' },
    })
    t.equal((await client.post('/phone-numbers', { body: number })).status, 201)
    t.match(await client.delete(`/trunks/${body.trunk_id}`), {
      status: 409,
      body: { detail: 'Trunk is used by phone numbers' },
    })
    await client.patch(`/trunks/${body.trunk_id}`, { body: { name: 'west' } })
    t.equal((await client.get('/phone-numbers/+14155550100')).body.trunk, 'west')
  })

  t.test('members read, developers write, and other workspaces see nothing', async (t) => {
    const { body } = await client.post('/trunks', { body: { ...trunk, name: 'mine' } })
    const member = await api.member(user, 'member')
    t.equal((await member.client.get(`/trunks/${body.trunk_id}`)).status, 200)
    t.equal((await member.client.post('/trunks', { body: { ...trunk, name: 'x' } })).status, 403)
    const stranger = await api.signUp()
    t.equal((await stranger.client.get(`/trunks/${body.trunk_id}`)).status, 404)
    t.equal((await stranger.client.delete(`/trunks/${body.trunk_id}`)).status, 404)
    t.same((await stranger.client.get('/trunks')).body, [])
  })
})
