import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { type Answer, type Call, startTestApi } from '../../../support/instance/api.ts'

/** What each endpoint of the specification takes, refuses and leaves out, row by row. Written from its text. */

const api = await startTestApi(t, { nodes: 2 })
const ada = await api.signUp()
const bob = await api.signUp('Bob')
const key = await api.keyClient(ada)
const NUMBER = '+14155550100'
const { body: agent } = await ada.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
await ada.client.post('/phone-numbers', { body: { phone_number: NUMBER, provider: 'sim', agent_id: agent.agent_id } })
const agentPath = `/agents/${agent.agent_id}`
const { body: campaign } = await ada.client.post('/api/v/campaign/', { body: { name: 'Spring' } })
const list = campaign.lists[0].list_uuid as string

const faults = ({ body }: Answer): string[] =>
  (body.detail as { loc: string[]; type: string }[]).map(({ loc, type }) => `${loc.join('.')}: ${type}`)

const form = (fields: Record<string, string | Blob>): FormData => {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.append(name, value)
  return data
}

const csv = (text: string): Blob => new Blob([text], { type: 'text/csv' })

const batchForm = (fields: Record<string, string | Blob> = {}): FormData =>
  form({
    ...{ file: csv('phone_number,name\n+14155550111,Ann\nnonsense,Bo\n'), name: 'Calls', agent_id: agent.agent_id },
    ...{ agent_phone_number: NUMBER, scheduled_time: new Date(Date.now() + 3_600_000).toISOString(), ...fields },
  })

t.test('what section 4 gives to the JWT cookie alone takes no API key without a scope', async (t) => {
  const { body: batch } = await ada.client.post('/batch/upload', { form: batchForm() })
  const workspace = `/workspaces/${ada.workspaceId}`
  const paths: readonly (readonly [string, string, Call?])[] = [
    ['POST', '/workspaces', { body: { name: 'X', type: 'team' } }],
    ['GET', '/workspaces'],
    ['POST', `${workspace}/switch`],
    ['GET', `${workspace}/members`],
    ['POST', `${workspace}/invite`, { body: { email: 'x@example.com', role: 'member' } }],
    ['DELETE', `${workspace}/members/${bob.id}`],
    ['DELETE', workspace],
    ['POST', '/batch/upload', { form: batchForm() }],
    ['POST', `/batch/${batch.batch_id}/send`],
    ['DELETE', `/batch/${batch.batch_id}`],
    ['GET', '/api/v/campaign/'],
    ['POST', '/api/v/campaign/', { body: { name: 'By key' } }],
    ['GET', '/api/v/campaign/spring/'],
    ['PUT', '/api/v/campaign/spring/', { body: { paused: true } }],
    ['PATCH', '/api/v/campaign/spring/', { body: { paused: true } }],
    ['DELETE', '/api/v/campaign/spring/'],
    ['GET', '/api/v/campaign/spring/status/'],
    ['POST', '/api/v/upload/spring/', { form: form({ original_data: csv('primary_phone\n+14155550199\n') }) }],
    ['POST', `/api/v/upload/${list}/retry/`],
    ['POST', `/api/v/prospect/${list}/`, { form: form({ primary_phone: '+14155550199' }) }],
  ]
  for (const [method, path, call] of paths) {
    const refused = await key.request(method, path, call)
    t.same([refused.status, refused.body.detail], [401, 'Invalid or missing token'], `${method} ${path}`)
  }
  t.match((await ada.client.get(`/batch/${batch.batch_id}`)).body, { status: 'scheduled' }, 'nothing was done')
  t.match((await ada.client.get('/api/v/campaign/spring/')).body, { paused: false })
})

t.test('a query field of another type is 422, and names the field', async (t) => {
  const wrong: Record<string, Record<string, readonly string[]>> = {
    '/calls/logs': {
      ...{ page: ['x', '1.5', '0'], page_size: ['x', '0', '201'], call_type: ['fax'] },
      ...{ start_date: ['yesterday'], end_date: ['2026-13-01'] },
    },
    '/calls/export-csv': { call_type: ['fax'], start_date: ['yesterday'], end_date: ['soon'] },
    '/chats/logs': { page: ['x'], page_size: ['many'] },
    '/reports/dashboard': { start_date: ['x'], end_date: ['x'], call_type: ['fax'], interval: ['minute'] },
    '/reports/call-summary': { start_date: ['x'], end_date: ['x'], fields: ['total_calls,happiness'] },
    '/reports/disposition': { start_date: ['x'], end_date: ['x'] },
  }
  for (const [path, fields] of Object.entries(wrong)) {
    for (const [field, values] of Object.entries(fields)) {
      for (const value of values) {
        const refused = await ada.client.get(path, { query: { [field]: value } })
        t.equal(refused.status, 422, `${path} ${field}=${value}`)
        t.same(
          refused.body.detail.map(({ loc }: { loc: string[] }) => loc),
          [['query', field]],
        )
      }
    }
  }
})

t.test('filters of calls find what they say, in the list and in the export', async (t) => {
  const eve = await api.signUp('Eve')
  const [one, two] = [uuidv7(), uuidv7()]
  const row = (name: string, agent_id: string, call_type: 'phone' | 'web', day: number) => ({
    ...{ id: uuidv7(), agent_id, agent_name: name, call_type, direction: 'outbound' as const },
    ...{
      status: 'completed' as const,
      disposition: 'completed' as const,
      created_at: new Date(Date.UTC(2026, 0, day)),
      ended_at: new Date(),
    },
  })
  const rows = [row('a', one, 'phone', 1), row('b', two, 'web', 2), row('c', one, 'web', 3)]
  await api.store.tenant(eve.workspaceId).db.insertInto('calls').values(rows).execute()
  for (const [query, expected] of [
    [{}, 'cba'],
    [{ call_type: 'phone' }, 'a'],
    [{ call_type: 'web' }, 'cb'],
    [{ agent_id: one }, 'ca'],
    [{ start_date: '2026-01-02' }, 'cb'],
    [{ end_date: '2026-01-02T12:00:00Z' }, 'ba'],
    [{ start_date: '2026-01-02T02:00:00+02:00', end_date: '2026-01-02T12:00:00Z', call_type: 'web' }, 'b'],
    [{ page: 2, page_size: 2 }, 'a'],
  ] as const) {
    const { body } = await eve.client.get('/calls/logs', { query })
    const names = body.items.map(({ agent_name }: { agent_name: string }) => agent_name).join('')
    t.equal(names, expected, JSON.stringify(query))
    if ('page' in query) continue
    const { text } = await eve.client.get('/calls/export-csv', { query })
    const [head = '', ...lines] = text.trim().split(/\r?\n/)
    const at = head.split(',').indexOf('agent_name')
    const sorted = [...expected].sort().join('')
    t.equal(
      lines
        .map((line) => line.split(',')[at])
        .sort()
        .join(''),
      sorted,
      `export ${JSON.stringify(query)}`,
    )
  }
  const span = { start_date: '2026-01-01', end_date: '2026-01-04' }
  const calls = async (query: Record<string, string>) =>
    (await eve.client.get('/reports/dashboard', { query: { ...span, ...query } })).body.totals.total_calls
  t.same([await calls({}), await calls({ agent_id: one }), await calls({ call_type: 'web' })], [3, 2, 2])
  const summary = await eve.client.get('/reports/call-summary', {
    query: { ...span, fields: 'total_calls,total_cost', agent_id: two },
  })
  t.same([Object.keys(summary.body).sort(), summary.body.total_calls], [['total_calls', 'total_cost'], 1])
  const late = await eve.client.get('/reports/disposition', {
    query: { start_date: '2026-01-03', end_date: '2026-01-04' },
  })
  t.equal(late.body.total, 1)
  for (const interval of ['hour', 'day', 'week', 'month']) {
    const { body } = await eve.client.get('/reports/dashboard', { query: { ...span, interval } })
    t.equal(body.interval, interval)
  }
})

t.test('strings of a campaign of another type are 422, and a change is served by every node at once', async (t) => {
  for (const field of ['name', 'agent_id', 'workspace', 'email']) {
    const body = { name: 'Typed', [field]: 7 }
    t.same(faults(await ada.client.post('/api/v/campaign/', { body })), [`body.${field}: string_type`], field)
    const change = await ada.client.patch('/api/v/campaign/spring/', { body: { [field]: 7 } })
    t.same(faults(change), [`body.${field}: string_type`], `${field} of a change`)
  }
  t.same(faults(await ada.client.post('/api/v/campaign/', { body: {} })), ['body.name: missing'])
  for (const [i, method] of (['PUT', 'PATCH', 'PUT', 'PATCH'] as const).entries()) {
    const changed = await ada.client.request(method, '/api/v/campaign/spring/', { body: { dialer_interval: 3 + i } })
    t.same([changed.status, changed.body.dialer_interval, changed.body.call_ratio], [200, 3 + i, 1], method)
    // Requests go to the nodes in turns.
    for (let node = 0; node < 2; node++) {
      t.equal((await ada.client.get('/api/v/campaign/spring/')).body.dialer_interval, 3 + i)
    }
  }
  await ada.client.post('/api/v/campaign/', { body: { name: 'Short' } })
  t.equal((await ada.client.delete('/api/v/campaign/short/')).status, 200)
  for (let node = 0; node < 2; node++) {
    for (const path of ['/api/v/campaign/short/', '/api/v/campaign/short/status/']) {
      t.match(await ada.client.get(path), { status: 404, body: { detail: 'Campaign not found' } })
    }
    const { body } = await ada.client.get('/api/v/campaign/')
    t.notOk(body.some(({ slug }: { slug: string }) => slug === 'short'))
  }
})

t.test('items of a batch have their fields, and those of calls and faults where there are such', async (t) => {
  for (const field of ['file', 'name', 'agent_id']) {
    const data = batchForm()
    data.delete(field)
    const refused = await ada.client.post('/batch/upload', { form: data })
    t.same([refused.status, faults(refused)], [422, [`form.${field}: missing`]], field)
  }
  const silent = await ada.client.post('/batch/upload', { form: batchForm({ agent_phone_number: '' }) })
  t.match(silent, { status: 400, body: { detail: 'Invalid phone number format' } }, 'a number alone is 400')
  const wrong = await ada.client.post('/batch/upload', { form: batchForm({ file: csv('phone\n+14155550111\n') }) })
  t.equal(wrong.status, 400)
  const { status, body: batch } = await ada.client.post('/batch/upload', { form: batchForm() })
  t.equal(status, 201)
  t.type(batch.batch_id, 'string')
  const { body } = await ada.client.get(`/batch/${batch.batch_id}/items`)
  t.same(Object.keys(body), ['items'])
  const [waiting, failed] = body.items
  for (const field of ['id', 'phone_number', 'status']) t.type(waiting[field], 'string', field)
  t.same(waiting.dynamic_variables, { name: 'Ann' })
  t.notOk(waiting.call_log_id, 'no call was made')
  t.notOk(waiting.error, 'nothing failed')
  t.match(failed, { status: 'failed', error: 'Invalid phone number format' })
  const all = await ada.client.get('/batch')
  const times = all.body.map(({ created_at }: { created_at: string }) => created_at)
  t.same(times, [...times].sort().reverse(), 'by creation date')
  t.equal((await ada.client.delete(`/batch/${batch.batch_id}`)).status, 200)
  t.equal((await ada.client.get(`/batch/${batch.batch_id}`)).status, 404)
})

t.test('fields of signup, login, workspaces and invitations are strings, and required', async (t) => {
  const person = { name: 'Zoe', email: 'zoe@example.com', password: 'long enough', phone_number: '+14155550123' }
  const bodies: readonly (readonly [string, Record<string, string>, string[]?])[] = [
    ['/auth/signup', person, ['phone_number']],
    ['/auth/login', { email: 'zoe@example.com', password: 'long enough' }],
    ['/workspaces', { name: 'North', type: 'of our own kind' }],
    [`/workspaces/${ada.workspaceId}/invite`, { email: 'zoe@example.com', role: 'member' }],
  ]
  for (const [path, body, alone = []] of bodies) {
    for (const field of Object.keys(body)) {
      const { [field]: _, ...rest } = body
      for (const [given, type] of [
        [rest, 'missing'],
        [{ ...body, [field]: 7 }, 'string_type'],
      ] as const) {
        // Any workspace may go without a type.
        if (path === '/workspaces' && field === 'type' && type === 'missing') continue
        const refused = await ada.client.post(path, { body: given })
        // Alone, a wrong number is 400.
        if (alone.includes(field)) t.match(refused, { status: 400, body: { detail: 'Invalid phone number format' } })
        else if (path.endsWith('invite') && field === 'role' && type === 'string_type') t.equal(refused.status, 422)
        else t.same([refused.status, faults(refused)], [422, [`body.${field}: ${type}`]], `${path} ${field}`)
      }
    }
  }
  const made = await ada.client.post('/workspaces', { body: { name: 'North', type: 'of our own kind' } })
  t.match(made, { status: 201, body: { type: 'of our own kind', role: 'admin', slug: 'north' } })
  const capital = await ada.client.post(`/workspaces/${ada.workspaceId}/invite`, {
    body: { email: 'bob@example.com', role: 'Admin' },
  })
  t.equal(capital.status, 422, 'the role is in lowercase')
  const unknown = await ada.client.post(`/workspaces/${ada.workspaceId}/invite`, {
    body: { email: 'nobody@example.com', role: 'developer' },
  })
  t.equal(unknown.status, 200, 'silently ignored')
  const { body: members } = await ada.client.get(`/workspaces/${ada.workspaceId}/members`)
  t.equal(members.length, 1)
  for (const path of [`/workspaces/${bob.workspaceId}/switch`, `/workspaces/${bob.workspaceId}/members`]) {
    const foreign = await ada.client.request(path.endsWith('switch') ? 'POST' : 'GET', path)
    t.same([foreign.status, foreign.body.detail], [403, 'Not a member of this workspace'], path)
  }
})

t.test('an agent of another workspace is not found by any endpoint that names one', async (t) => {
  const question = { query: 'When do you open?' }
  const call = { agent_phone_number: NUMBER, phone_number_to_dial: '+14155550199', dynamic_variables: {} }
  const tries: readonly (readonly [string, string, Call?])[] = [
    ['GET', agentPath],
    ['PUT', agentPath, { body: { temperature: 0.1 } }],
    ['DELETE', agentPath],
    ['POST', `${agentPath}/upload`, { form: form({ files: new Blob(['x']) }) }],
    ['POST', `${agentPath}/query`, { body: question }],
    ['GET', `/calls/generate-token?phone=${encodeURIComponent(NUMBER)}&id=s1`],
    ['POST', '/calls/outbound_call', { body: call }],
    ['POST', '/batch/upload', { form: batchForm() }],
    ['POST', '/chats/interaction', { body: { agent_id: agent.agent_id, message: 'Hello?' } }],
  ]
  for (const [method, path, call] of tries) {
    const answer = await bob.client.request(method, path, call)
    t.same([answer.status, answer.body.detail], [404, 'Agent not found'], `${method} ${path}`)
  }
  t.equal((await ada.client.get(agentPath)).status, 200)
  for (const [body, type] of [
    [{}, 'missing'],
    [{ query: 7 }, 'string_type'],
  ] as const) {
    t.same(faults(await ada.client.post(`${agentPath}/query`, { body })), [`body.query: ${type}`])
  }
  const empty = await ada.client.put(agentPath, { body: {} })
  t.match(empty, { status: 200, body: { agent_name: 'Ada', system_prompt: 'You answer.' } }, 'all are optional')
  for (const field of ['agent_name', 'system_prompt']) {
    const body: Record<string, string> = { agent_name: 'A', system_prompt: 'P' }
    delete body[field]
    t.same(faults(await ada.client.post('/agents', { body })), [`body.${field}: missing`])
  }
})

t.test('a call takes two numbers in international format, and variables of strings', async (t) => {
  const right = { agent_phone_number: NUMBER, phone_number_to_dial: '+14155550199', dynamic_variables: { name: 'Ann' } }
  for (const field of ['agent_phone_number', 'phone_number_to_dial']) {
    for (const value of [undefined, null, '', '12', 'nonsense', '0199']) {
      const refused = await ada.client.post('/calls/outbound_call', { body: { ...right, [field]: value } })
      t.same([refused.status, refused.body.detail], [400, 'Invalid phone number format'], `${field}: ${value}`)
    }
  }
  for (const value of ['text', 7, ['a'], { name: 7 }, { name: { first: 'Ann' } }]) {
    const refused = await ada.client.post('/calls/outbound_call', { body: { ...right, dynamic_variables: value } })
    t.equal(refused.status, 422, JSON.stringify(value))
    t.match(faults(refused), [/^body\.dynamic_variables/])
  }
  for (const query of [{}, { phone: 'nonsense' }] as Record<string, string>[]) {
    const refused = await ada.client.get('/calls/generate-token', { query: { ...query, id: 's2' } })
    t.same([refused.status, refused.body.detail], [400, 'Invalid phone number format'])
  }
  const { status, body } = await ada.client.get('/calls/generate-token', { query: { phone: NUMBER } })
  t.equal(status, 200, '`id` may be left out')
  t.type(body.token, 'string')
  const stranger = await ada.client.get('/calls/generate-token', { query: { phone: '+14155550177', id: 's3' } })
  t.same([stranger.status, stranger.body.detail], [404, 'Agent not found'])
  for (const id of [uuidv7(), 'nonsense']) {
    t.match(await ada.client.get(`/calls/${id}`), { status: 404, body: { detail: 'Call log not found' } })
  }
})

t.test('prospects come as a form of either kind, and uploads as a file of a list that is there', async (t) => {
  const path = `/api/v/prospect/${list}/`
  const several = await ada.client.post(path, {
    form: form({ primary_phone: '+1 415 555 0131', first_name: 'Ann', last_name: 'Lee' }),
  })
  t.match(several, { status: 201, body: { primary_phone: '+14155550131', first_name: 'Ann', last_name: 'Lee' } })
  const encoded = await ada.client.post(path, {
    body: 'primary_phone=%2B14155550132&first_name=Bo',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.match(encoded, { status: 201, body: { primary_phone: '+14155550132', first_name: 'Bo' } })
  for (const fields of [{ first_name: 'Ann' }, { primary_phone: 'nonsense' }] as Record<string, string>[]) {
    const refused = await ada.client.post(path, { form: form(fields) })
    t.same([refused.status, refused.body.detail], [400, 'Invalid phone number format'])
  }
  const missing = await ada.client.post('/api/v/upload/spring/', { form: form({ dedupe: 'true' }) })
  t.same(faults(missing), ['form.original_data: missing'])
  const data = form({ original_data: csv('primary_phone\n+14155550133\n'), dedupe: 'perhaps' })
  t.same(faults(await ada.client.post('/api/v/upload/spring/', { form: data })), ['form.dedupe: bool_type'])
  const upload = () => form({ original_data: csv('primary_phone\n+14155550133\n') })
  t.equal((await ada.client.post('/api/v/upload/none/', { form: upload() })).status, 404)
  t.equal((await ada.client.post(`/api/v/upload/${uuidv7()}/retry/`)).status, 404)
  const strange = await ada.client.post(`/api/v/prospect/${uuidv7()}/`, {
    form: form({ primary_phone: '+14155550134' }),
  })
  t.equal(strange.status, 404)
})
