import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { startPhone } from '../../../support/phone/phone.ts'

t.test('campaigns', async (t) => {
  const api = await startTestApi(t)
  const user = await api.signUp()
  const { client } = user
  const phone = await startPhone(api, user)
  const make = async (body: Record<string, unknown>) => (await client.post('/api/v/campaign/', { body })).body
  const faultsOf = async (body: Record<string, unknown>) => {
    const answer = await client.post('/api/v/campaign/', { body: { name: 'x', ...body } })
    t.equal(answer.status, 422, JSON.stringify(body))
    return answer.body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`)
  }

  await t.test('are made with the defaults of the specification and a list of their own slug', async (t) => {
    const { status, body } = await client.post('/api/v/campaign', { body: { name: 'Frühling & Söhne' } })
    t.equal(status, 201)
    t.match(body, {
      slug: 'fruhling-sohne',
      agent_id: null,
      workspace: user.workspaceId,
      email: null,
      locale_name: 'USCA',
      active: true,
      call_ratio: 1,
      dialer_interval: 10,
      max_active_calls: 0,
      max_number_calls: 10,
      min_time_between_calls: 30,
      dupe_days: 90,
      expire_days: 90,
      earliest_prospect_time: '09:00:00',
      latest_prospect_time: '21:00:00',
      ignore_states: '',
      filter_holidays: true,
      max_wait_time: 60,
      queue_strategy: 'longest-idle-agent',
      wrap_up_time: 3,
      paused: false,
      status: 'Completed',
      stop_when: { failure_rate: 0.5, window: 50 },
      lists: [{ list_slug: 'fruhling-sohne', active: true }],
    })
    t.equal((await make({ name: 'Frühling & Söhne' })).slug, 'fruhling-sohne-2')
    t.match(await client.get('/api/v/campaign/fruhling-sohne'), { status: 200 }, 'without its trailing slash, too')
    t.match((await client.get('/api/v/campaign/nobody/')).body, { detail: 'Campaign not found' })
  })

  await t.test('refuse what breaks a rule, all of it in one answer', async (t) => {
    t.same(await faultsOf({ dialer_interval: 1, call_ratio: 0 }), [
      'body.call_ratio greater_than_equal',
      'body.dialer_interval greater_than_equal',
    ])
    t.same(await faultsOf({ call_ratio: 10.5 }), ['body.call_ratio less_than_equal'])
    t.same(await faultsOf({ dialer_interval: 16 }), ['body.dialer_interval less_than_equal'])
    t.same(await faultsOf({ max_number_calls: 0 }), ['body.max_number_calls greater_than_equal'])
    t.same(await faultsOf({ max_active_calls: -1 }), ['body.max_active_calls greater_than_equal'])
    t.same(await faultsOf({ queue_strategy: 'best' }), ['body.queue_strategy enum'])
    t.same(await faultsOf({ earliest_prospect_time: '25:00' }), ['body.earliest_prospect_time time_parsing'])
    t.same(await faultsOf({ earliest_prospect_time: '21:00:00', latest_prospect_time: '09:00:00' }), [
      'body.earliest_prospect_time value_error',
    ])
    t.same(await faultsOf({ locale_name: 'MARS', ignore_states: 'TX,ZZ', holidays: ['2026-02-30'] }), [
      'body.locale_name enum',
      'body.ignore_states value_error',
      'body.holidays value_error',
    ])
    t.same(await faultsOf({ from_numbers: ['+14155550000'] }), ['body.from_numbers.0 value_error'])
    t.same(await faultsOf({ webhook_before_dial: 'file:///etc/passwd' }), ['body.webhook_before_dial value_error'])
    t.match(await client.post('/api/v/campaign/', { body: { name: 'x', from_numbers: ['12'] } }), {
      status: 400,
      body: { detail: 'Invalid phone number format' },
    })
    t.match(await client.post('/api/v/campaign/', { body: { name: 'x', agent_id: user.id } }), {
      status: 404,
      body: { detail: 'Agent not found' },
    })
  })

  await t.test('keep what a change leaves out, and their slug', async (t) => {
    const { slug } = await make({ name: 'Kept', agent_id: phone.agentId, latest_prospect_time: '18:00' })
    const { body } = await client.put(`/api/v/campaign/${slug}/`, { body: { name: 'Renamed', max_active_calls: 5 } })
    t.match(body, { slug, name: 'Renamed', max_active_calls: 5, latest_prospect_time: '18:00:00' })
    const patch = { body: { earliest_prospect_time: '19:00:00' } }
    t.equal((await client.patch(`/api/v/campaign/${slug}/`, patch)).status, 422, 'compared with what is stored')
    const elsewhere = await client.patch(`/api/v/campaign/${slug}/`, { body: { workspace: user.id } })
    t.match(elsewhere, { status: 422, body: { detail: [{ loc: ['body', 'workspace'] }] } })
  })

  await t.test('of another workspace of the user are reached by its name, those of strangers are not', async (t) => {
    const other = (await client.post('/workspaces', { body: { name: 'Other', type: 'team' } })).body
    await make({ name: 'There', workspace: other.workspace_id, email: 'owner@example.com' })
    const query = { workspace: other.workspace_id }
    t.match((await client.get('/api/v/campaign/', { query })).body, [{ name: 'There', workspace: other.workspace_id }])
    const byMail = { ...query, email: 'nobody@example.com' }
    t.same((await client.get('/api/v/campaign/', { query: byMail })).body, [])
    const stranger = await api.signUp()
    t.match(await stranger.client.get('/api/v/campaign/', { query }), {
      status: 403,
      body: { detail: 'Not a member of this workspace' },
    })
  })

  await t.test('say why they call nobody', async (t) => {
    const statusOf = async (slug: string) => (await client.get(`/api/v/campaign/${slug}/status/`)).body
    const none = await make({ name: 'Reasons', calling_days: [] })
    t.match(await statusOf(none.slug), { status: 'Completed', reason: 'no_prospects', next_call_at: null })
    const prospect = (fields: Record<string, string>, list = none.lists[0].list_uuid) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      return client.post(`/api/v/prospect/${list}/`, { form })
    }
    t.equal((await prospect({ primary_phone: '(212) 555-0142', plan: 'gold' })).status, 201)
    t.match(await statusOf(none.slug), {
      status: 'Stopped',
      reason: 'no_agent',
      prospects: { total: 1, unresolved: 1 },
    })
    await client.patch(`/api/v/campaign/${none.slug}/`, { body: { agent_id: phone.agentId } })
    t.match(await statusOf(none.slug), {
      reason: 'outside_calling_hours',
      next_call_at: null,
      prospects: { callable_now: 0, held: { window: 1 } },
    })
    await client.post(`/api/v/campaign/${none.slug}/pause/`)
    t.match(await statusOf(none.slug), { status: 'Stopped', reason: 'paused' })
    await client.post(`/api/v/campaign/${none.slug}/resume/`)
    await client.patch(`/api/v/campaign/${none.slug}/`, {
      body: { ignore_states: 'ny', calling_days: [1, 2, 3, 4, 5, 6, 7] },
    })
    t.match(await statusOf(none.slug), { reason: 'all_held', prospects: { held: { state: 1 } } })
    await client.patch(`/api/v/campaign/${none.slug}/`, { body: { active: false } })
    t.match(await statusOf(none.slug), { status: 'Inactive', reason: null })
    const { body } = await client.get(`/api/v/campaign/${none.slug}/prospects/`, { query: { held: 'state' } })
    t.match(body, {
      total: 1,
      items: [{ primary_phone: '+12125550142', held: { reason: 'state' }, variables: { plan: 'gold' } }],
    })
  })

  await t.test('take one prospect at a time, and never one twice', async (t) => {
    const { slug, lists } = await make({ name: 'One by one', consent_required: true })
    const list = lists[0].list_uuid
    const add = (text: string) =>
      client.post(`/api/v/prospect/${list}/`, {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: text,
      })
    const { status, body } = await add('primary_phone=%2B1%20415-555-0177&first_name=Ada&state=TX&color=red')
    t.equal(status, 201)
    t.match(body, {
      primary_phone: '+14155550177',
      first_name: 'Ada',
      timezones: ['America/Chicago', 'America/Denver', 'America/Los_Angeles'],
      variables: { color: 'red' },
      status: 'waiting',
      attempts: 0,
    })
    t.match(await add('primary_phone=4155550177'), { status: 409, body: { detail: 'Prospect already exists' } })
    t.match(await add('primary_phone=911'), { status: 400, body: { detail: 'Invalid phone number format' } })
    t.match(await add('first_name=Ada'), { status: 400, body: { detail: 'Invalid phone number format' } })
    await client.post('/do-not-call', { body: { phone_number: '+14155550178', reason: 'asked' } })
    t.match(await add('primary_phone=4155550178'), {
      status: 409,
      body: { detail: 'Phone number is on the do-not-call list' },
    })
    const unknown = (await add('primary_phone=8005550100')).body
    t.match(unknown, { timezones: [], held: { reason: 'unknown_zone', until: null } }, 'nobody knows where 800 is')

    const path = `/api/v/prospect/${body.uuid}/`
    const later = await client.patch(path, { body: { next_attempt_at: '2090-01-01T00:00:00Z' } })
    t.match(later.body, { next_attempt_at: '2090-01-01T00:00:00.000Z', history: [] })
    t.match((await client.patch(path, { body: { resolution: 'canceled' } })).body, {
      status: 'resolved',
      resolution: 'canceled',
      held: null,
    })
    t.match(await client.patch(path, { body: { next_attempt_at: null } }), {
      status: 409,
      body: { detail: 'Prospect is resolved' },
    })
    const csv = await client.get(`/api/v/campaign/${slug}/prospects.csv`)
    t.match(csv.text, /\+14155550177,Ada,.*,resolved,canceled,/)
    t.match(await client.delete(path), { status: 200, body: { detail: 'Prospect deleted' } })
    t.match(await client.get(path), { status: 404, body: { detail: 'Prospect not found' } })
  })

  await t.test('let a number that is listed wait no longer, until it is taken off', async (t) => {
    const { lists } = await make({ name: 'Listed' })
    const form = new FormData()
    form.append('primary_phone', '+14155550190')
    const { body } = await client.post(`/api/v/prospect/${lists[0].list_uuid}/`, { form })
    const prospect = async () => (await client.get(`/api/v/prospect/${body.uuid}/`)).body
    t.match(await client.post('/do-not-call', { body: { phone_number: '1-415-555-0190' } }), { status: 400 })
    const csv = new FormData()
    csv.append('file', new Blob(['Phone Number;reason\n+1 (415) 555-0190;by letter\nnone;x\n']), 'dnc.csv')
    t.match((await client.post('/do-not-call/upload', { form: csv })).body, {
      ...{ rows: 2, added: 1, known: 0, invalid: 1 },
      complete: false,
      message: /^1 of 2 rows are NOT on the do-not-call list/,
      invalid_lines: [{ line: 3, reason: 'It has letters in it' }],
    })
    t.match(await prospect(), { status: 'resolved', resolution: 'do_not_call' })
    const found = await client.get('/do-not-call', { query: { q: 'letter' } })
    t.match(found.body, { total: 1, items: [{ phone_number: '+14155550190', source: 'upload' }] })
    t.equal((await client.delete('/do-not-call/14155550190')).status, 200)
    t.match(await prospect(), { status: 'waiting', resolution: null })
    t.match((await client.delete('/do-not-call/14155550190')).body, {
      detail: 'Phone number is not on the do-not-call list',
    })
  })

  await t.test('tell before an upload what it would load, and keep nothing of it', async (t) => {
    const { body: agent } = await client.post('/agents', {
      body: {
        agent_name: 'Ada',
        system_prompt: 'Today is {{today}}. Their plan is {{plan}}.',
        first_message: 'Hello {{first_name}}, {{nick|friend}}!',
      },
    })
    const { slug, lists } = await make({
      ...{ name: 'Previewed', consent_required: true, ignore_states: 'TX' },
      agent_id: agent.agent_id,
    })
    const one = new FormData()
    one.append('primary_phone', '+14155550150')
    await client.post(`/api/v/prospect/${lists[0].list_uuid}/`, { form: one })
    await client.post('/do-not-call', { body: { phone_number: '+14155550151' } })
    const rows = [
      'Mobile;Given;Notes;agreed',
      '(415) 555-0150;Known;a;',
      '415 555 0151;Listed;b;',
      '12;None;c;',
      '415-555-0152;Ada;d;2026-01-02',
      '4155550152;Twice;e;',
      '2145550153;Texan;f;2026-01-02',
      '4155550154;Silent;g;',
      '4155550155;Odd;h;yesterday',
      '8005550156;Nowhere;i;2026-01-02',
    ].join('\n')
    const preview = async (fields: Record<string, string>) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      form.append('original_data', new Blob([rows]), 'C:\\leads.csv')
      return client.post(`/api/v/campaign/${slug}/preview/`, { form })
    }
    t.match((await preview({})).body, {
      left_out: ['plan', 'first_name'],
      has_phone: false,
      rows: { total: 9, judged: 0, loaded: 0 },
      columns: [{ name: 'Mobile', field: null, variable: 'Mobile', samples: ['(415) 555-0150', '415 555 0151', '12'] }],
    })
    const mapping = JSON.stringify({ Mobile: 'primary_phone', Given: 'first_name', Notes: '', agreed: 'consent_at' })
    const { status, body } = await preview({ mapping })
    t.equal(status, 200)
    t.match(body, {
      filename: 'leads.csv',
      left_out: ['plan'],
      has_phone: true,
      columns: [
        { name: 'Mobile', field: 'primary_phone', variable: null },
        { name: 'Given', field: 'first_name' },
        { name: 'Notes', field: null, variable: null },
        { name: 'agreed', field: 'consent_at' },
      ],
      rows: { total: 9, judged: 9, loaded: 4, duplicates: 2, invalid: 2, do_not_call: 1 },
      held: { unknown_zone: 1, state: 1, consent: 1 },
    })
    t.same(
      body.skipped.map(({ line, code }: { line: number; code: string }) => [line, code]),
      [
        [2, 'duplicate'],
        [3, 'do_not_call'],
        [4, 'invalid_number'],
        [6, 'duplicate'],
        [9, 'invalid_consent'],
      ],
    )
    t.match((await preview({ mapping, consent_attested: 'true' })).body, { held: { consent: 0 } })
    t.match((await preview({ mapping, dedupe: 'false' })).body, { rows: { loaded: 6, duplicates: 0 } })
    const own = await client.get('/api/v/list/', { query: { campaign: slug } })
    t.match(own.body, [{ prospects: 1, uploads: [] }], 'nothing was kept')

    t.match(await preview({ mapping: '{"Handy": "primary_phone"}' }), {
      status: 400,
      body: { detail: 'CSV lacks a column that is named' },
    })
    for (const wrong of ['[', '[]', '{"Mobile": 1}', '{"Mobile": "phone", "Given": "primary_phone"}']) {
      t.match(
        await preview({ mapping: wrong }),
        { status: 422, body: { detail: [{ loc: ['form', 'mapping'] }] } },
        wrong,
      )
    }
  })

  await t.test('keep with an upload what its columns are, and who said that everybody agreed', async (t) => {
    const { slug } = await make({ name: 'Attested' })
    const form = new FormData()
    form.append('mapping', '{"Mobile":"primary_phone"}')
    form.append('consent_attested', 'true')
    form.append('original_data', new Blob(['Mobile\n+14155550157\n']), 'a.csv')
    const { status, body } = await client.post(`/api/v/upload/${slug}/`, { form })
    t.equal(status, 201, JSON.stringify(body))
    t.match(body.upload, { rows: { total: 1 }, consent_attested: { by: String, at: String } })
  })

  await t.test('are copied, paused, with what is not resolved', async (t) => {
    const { slug, lists } = await make({ name: 'First wave', retry: { busy: { after_minutes: 45 } } })
    for (const phone of ['+14155550201', '+14155550202']) {
      const form = new FormData()
      form.append('primary_phone', phone)
      await client.post(`/api/v/prospect/${lists[0].list_uuid}/`, { form })
    }
    const body = { name: 'Second wave', with_unresolved: true }
    const copy = (await client.post(`/api/v/campaign/${slug}/duplicate/`, { body })).body
    t.match(copy, { slug: 'second-wave', paused: true, retry: { busy: { after_minutes: 45 } } })
    t.match((await client.get('/api/v/campaign/second-wave/status/')).body, { prospects: { total: 2 } })
    t.match((await client.delete(`/api/v/campaign/${slug}/`)).body, { detail: 'Campaign deleted' })
    t.equal((await client.get(`/api/v/campaign/${slug}/`)).status, 404)
    t.equal((await make({ name: 'First wave' })).slug, slug, 'the slug is free again')
  })

  await t.test('have lists that are made, renamed, switched off and deleted', async (t) => {
    const { slug } = await make({ name: 'Lists' })
    const made = await client.post('/api/v/list/', { body: { campaign: slug, name: 'March leads' } })
    t.match(made, { status: 201, body: { list_slug: 'march-leads', campaign: slug, active: true, prospects: 0 } })
    const off = await client.patch('/api/v/list/march-leads/', { body: { active: false, name: 'March' } })
    t.match(off.body, { list_slug: 'march-leads', name: 'March', active: false })
    t.equal((await client.get('/api/v/list/', { query: { campaign: slug } })).body.length, 2)
    t.match(await client.delete('/api/v/list/march-leads/'), { status: 200, body: { detail: 'Prospect list deleted' } })
    t.match(await client.get('/api/v/list/march-leads'), { status: 404, body: { detail: 'Prospect list not found' } })
  })
})

t.test('test calls of a campaign have the bounds of other calls, and few of them wait', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_QUEUE_WAIT_MS: '600000' } })
  const user = await api.signUp()
  const { client } = user
  const make = async (name: string, agent: Record<string, unknown> = {}) => {
    const { agentId, number } = await startPhone(api, user, agent)
    const { body } = await client.post('/api/v/campaign/', {
      body: { name, agent_id: agentId, from_numbers: [number], paused: true },
    })
    return (dynamic_variables: Record<string, string> = {}) =>
      client.post(`/api/v/campaign/${body.slug}/test-call/`, {
        body: { phone_number: '+14155559901', dynamic_variables },
      })
  }
  const placed = async () => (await client.get('/calls/logs')).body.total

  const long = await make('Long', { system_prompt: '{{a}}'.repeat(50) })
  t.match(await long({ a: 'x'.repeat(30_000) }), { status: 400, body: { detail: /system_prompt.*KiB/ } })
  t.match(await long({ a: 'ä'.repeat(32_768) }), {
    status: 422,
    body: { detail: [{ loc: ['body', 'dynamic_variables'], msg: /64 KiB/ }] },
  })
  t.equal(await placed(), 0, 'no call is made')

  const short = await make('Short')
  for (let i = 0; i < 20; i++) t.equal((await short()).status, 201)
  t.match(await short(), { status: 403, body: { detail: /20 test calls that wait/ } })
  t.equal((await long()).status, 403, 'all campaigns of a workspace together')
  t.equal(await placed(), 20)
  const [{ call_log_id }] = (await client.get('/calls/logs')).body.items
  t.equal((await client.post(`/calls/${call_log_id}/hangup`)).status, 200)
  t.equal((await short()).status, 201, 'one that waits no more leaves its place')
})
