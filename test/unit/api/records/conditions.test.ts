import t from 'tap'
import { hasTag, namesTag } from '../../../../api/http/while-matching.ts'
import { routes } from '../../../../api/routes.ts'
import { startTestApi } from '../../../support/instance/api.ts'

const AGENT = { agent_name: 'Ada', system_prompt: 'You answer.' }
const api = await startTestApi(t)
const ada = await api.signUp()
const made = await ada.client.post('/agents', { body: AGENT })
const path = `/agents/${made.body.agent_id}`
const read = (headers: Record<string, string> = {}) => ada.client.get(path, { headers })
const tag = async () => (await read()).headers.get('etag') ?? ''

t.test('a resource that is as it was read is 304 without a body, and whole once it changed', async (t) => {
  const etag = await tag()
  t.match(etag, /^"[\w-]{27}"$/)
  t.equal(await tag(), etag, 'the same as long as nothing changes')
  for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const same = await read({ 'if-none-match': header })
    t.equal(same.status, 304, header)
    t.equal(same.text, '')
    t.equal(same.headers.get('etag'), etag)
    t.ok(same.headers.get('x-request-id'))
  }
  const head = await ada.client.request('HEAD', path, { headers: { 'if-none-match': etag } })
  t.equal(head.status, 304)
  await ada.client.put(path, { body: { agent_name: 'Bob' } })
  t.match(await read({ 'if-none-match': etag }), { status: 200, body: { agent_name: 'Bob' } })
})

t.test('a change of what was read by If-Match is made, and one of what changed since is 412', async (t) => {
  const etag = await tag()
  const changed = await ada.client.put(path, { body: { agent_name: 'Cid' }, headers: { 'if-match': etag } })
  t.equal(changed.status, 200)
  t.equal(changed.headers.get('etag'), await tag(), 'the answer to a change has the tag of what it made')
  const late = await ada.client.put(path, { body: { agent_name: 'Dan' }, headers: { 'if-match': etag } })
  t.match(late, { status: 412, code: 'precondition_failed' })
  t.equal(late.headers.get('etag'), await tag())
  t.equal((await read()).body.agent_name, 'Cid')
  t.equal((await ada.client.delete(path, { headers: { 'if-match': etag } })).status, 412)
  t.equal((await ada.client.put(path, { body: { agent_name: 'Eve' }, headers: { 'if-match': '*' } })).status, 200)
  const wrong = await ada.client.put(path, { body: { temperature: 9 }, headers: { 'if-match': etag } })
  t.equal(wrong.status, 422, 'faults of the input come first')
  const gone = '/agents/0197f3a2-7c1e-7000-8000-00000000dead'
  t.equal((await ada.client.put(gone, { body: {}, headers: { 'if-match': etag } })).status, 404)
})

t.test('of many editors of one state one is taken, over two nodes', async (t) => {
  const other = await startTestApi(t, { beside: api, settings: { jwtApiSecret: api.config.jwtApiSecret } })
  const second = other.client()
  for (const [name, value] of ada.client.cookies) second.cookies.set(name, value)
  const etag = await tag()
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, i) =>
      (i % 2 === 0 ? ada.client : second).put(path, {
        body: { agent_name: `Editor ${i}` },
        headers: { 'if-match': etag },
      }),
    ),
  )
  t.same(answers.map(({ status }) => status).sort(), [200, ...Array<number>(15).fill(412)])
})

t.test('what nobody can read is changed by no tag', async (t) => {
  const member = await api.member(ada, 'member')
  const at = `/workspaces/${ada.workspaceId}/members/${member.id}`
  t.equal((await ada.client.delete(at, { headers: { 'if-match': '"x"' } })).status, 412)
  t.equal((await ada.client.delete(at, { headers: { 'if-match': '*' } })).status, 200)
})

t.test('campaigns, webhooks and prospects have tags; lists have none', async (t) => {
  const { body: campaign } = await ada.client.post('/api/v/campaign/', { body: { name: 'Renewals', paused: true } })
  const at = `/api/v/campaign/${campaign.slug}/`
  const etag = (await ada.client.get(at)).headers.get('etag') ?? ''
  t.equal((await ada.client.patch(at, { body: { paused: true }, headers: { 'if-match': etag } })).status, 200)
  await ada.client.patch(at, { body: { email: 'ada@example.com' } })
  t.equal((await ada.client.patch(at, { body: { paused: false }, headers: { 'if-match': etag } })).status, 412)
  t.equal((await ada.client.get('/calls/logs')).headers.get('etag'), null)
  t.equal((await ada.client.get('/agents')).headers.get('etag'), null)
})

t.test('every GET of one resource that can be changed has a tag', async (t) => {
  const changed = new Set(routes.filter(({ method }) => method === 'PUT' || method === 'PATCH').map(({ path }) => path))
  for (const route of routes) {
    if (route.method === 'GET' && changed.has(route.path)) t.ok(hasTag(route), route.path)
  }
})

t.test('a tag is named by itself, as weak, in a list, or by a star', async (t) => {
  for (const header of ['"a"', 'W/"a"', '"b","a"', ' * ']) t.ok(namesTag(header, '"a"'), header)
  for (const header of ['', 'a', '"ab"', 'w/"a"']) t.notOk(namesTag(header, '"a"'), header)
})
