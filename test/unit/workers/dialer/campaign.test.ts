import { createServer } from 'node:http'
import t from 'tap'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { anyHour } from '../../../support/world/any-hour.ts'

const ANY_TIME = { earliest_prospect_time: '00:00:00', latest_prospect_time: '23:59:59', dialer_interval: 2 }

async function upload(user: TestUser, list: string, content: string | Uint8Array<ArrayBuffer>, dedupe?: boolean) {
  const form = new FormData()
  form.append('original_data', new Blob([content], { type: 'text/csv' }), 'leads.csv')
  if (dedupe !== undefined) form.append('dedupe', String(dedupe))
  return user.client.post(`/api/v/upload/${list}/`, { form })
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field
async function when(user: TestUser, path: string, wanted: (body: any) => boolean, timeoutMs = 300_000): Promise<any> {
  const untilMs = performance.now() + timeoutMs
  for (;;) {
    const { body } = await user.client.get(path)
    if (wanted(body)) return body
    if (performance.now() > untilMs) throw new Error(`${path} is still ${JSON.stringify(body)}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

t.test('campaigns from CSV to results', async (t) => {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { phone_number } = JSON.parse(text)
    asked.push(phone_number)
    response.end(JSON.stringify({ dial: phone_number !== '+12125550143', reason: 'a customer already' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const env = {
    PATCHBAY_CALLING_RULES: await anyHour(t),
    PATCHBAY_TOOLS_ALLOW_NET: `127.0.0.1:${port}`,
    PATCHBAY_INBOUND_RESERVE: '0',
  }
  const api = await startTestApi(t, { env })
  const user = await api.signUp()
  const { client } = user
  const phone = await startPhone(api, user)
  await startTestJobs(t, api)
  await linkWorker(t, api, { capacity: 10 })
  const make = async (fields: Record<string, unknown>) =>
    (await client.post('/api/v/campaign/', { body: { agent_id: phone.agentId, ...ANY_TIME, ...fields } })).body

  await t.test('a file is loaded as it is, whatever its numbers look like, and says what it left out', async (t) => {
    const { slug } = await make({ name: 'Loading', paused: true })
    await client.post('/do-not-call', { body: { phone_number: '+12125550160' } })
    const csv = [
      '\ufeffFirst Name;Phone;Plan;consent_at;state',
      'Ada;(212) 555-0142;gold;2026-01-02T00:00:00Z;NY',
      'Ada again;+1 212 555 0142;;;',
      'Bob;1-212-555-0143;"a;b";;TX',
      'Eve;not a number;;;',
      'Zoe;2125550160;;;',
      'Max;212.555.0145;;yesterday;',
      'Sam;00442079460018;;;',
    ].join('\r\n')
    const taken = await upload(user, slug, Buffer.from(csv, 'utf16le') as Uint8Array<ArrayBuffer>)
    t.match(taken, { status: 201, body: { message: 'Loading 7 rows in 1 batch', upload: { filename: 'leads.csv' } } })
    const done = await when(user, `/api/v/upload/${taken.body.uuid}/`, ({ status }) => status === 'completed')
    t.match(done, {
      rows: { total: 7, loaded: 3, duplicates: 1, invalid: 2, do_not_call: 1 },
      batches: { total: 1, done: 1 },
      error: null,
    })
    const rejects = (await client.get(`/api/v/upload/${taken.body.uuid}/rejects/`)).text.trim().split('\r\n')
    t.same(
      rejects.map((line) => line.split(',').slice(0, 2).join(',')),
      [
        'line,reason',
        '3,Prospect already exists',
        '5,Invalid phone number format',
        '6,Phone number is on the do-not-call list',
        '7,consent_at is no ISO 8601 date or time',
      ],
    )
    const { body } = await client.get(`/api/v/campaign/${slug}/prospects/`)
    t.match(body.items, [
      {
        primary_phone: '+12125550142',
        first_name: 'Ada',
        variables: { Plan: 'gold' },
        consent_at: '2026-01-02T00:00:00.000Z',
      },
      { primary_phone: '+12125550143', variables: { Plan: 'a;b' } },
      { primary_phone: '+442079460018', timezones: ['Europe/London'] },
    ])
    const [one, two] = await Promise.all([upload(user, slug, csv), upload(user, slug, csv)])
    for (const { body } of [one, two]) {
      const again = await when(user, `/api/v/upload/${body.uuid}/`, ({ status }) => status === 'completed')
      t.match(again.rows, { loaded: 0, duplicates: 4 }, 'the same file twice at once')
    }
    t.match((await client.post(`/api/v/upload/${one.body.uuid}/retry/`)).body, { success: false })
    const whole = await upload(user, slug, csv, false)
    const kept = await when(user, `/api/v/upload/${whole.body.uuid}/`, ({ status }) => status === 'completed')
    t.match(kept.rows, { loaded: 4, duplicates: 0 }, 'without dedupe each row is a prospect')
  })

  await t.test('a file that is none is refused in a sentence, and nothing of it is kept', async (t) => {
    const { slug } = await make({ name: 'Bad files', paused: true })
    const wide = `primary_phone,${Array.from({ length: 100_000 }, (_, i) => `c${i}`).join(',')}\n+12125550142\n`
    const cases: [string, string, number, string][] = [
      ['no such column', 'name\nAda\n', 400, 'CSV must have a primary_phone column'],
      ['an empty file', '', 400, 'CSV must have a primary_phone column'],
      ['no rows', 'primary_phone,name\n', 400, 'CSV has no rows'],
      ['100,000 columns', wide, 400, 'CSV has a row of more than 64 KiB'],
      [
        'a cell without end',
        `primary_phone,n\n+12125550142,"${'x'.repeat(70_000)}"\n`,
        400,
        'CSV has a row of more than 64 KiB',
      ],
      ['an open quote', 'primary_phone,n\n+12125550142,"open\n', 400, 'Malformed body'],
    ]
    for (const [what, csv, status, detail] of cases)
      t.match(await upload(user, slug, csv), { status, body: { detail } }, what)
    t.match(await upload(user, 'nobody', 'primary_phone\n+12125550142\n'), { status: 404 })
    t.equal((await client.post(`/api/v/upload/${slug}/`, { form: new FormData() })).status, 422)
    const { rows } = await api.store.pool.query(
      `select count(*)::int as n from prospect_uploads u join prospect_lists l on l.id = u.list_id where l.slug = $1`,
      [slug],
    )
    t.equal(rows[0].n, 0)
  })

  await t.test('every outcome leads where it should, and everybody is called once', async (t) => {
    const { slug } = await make({ name: 'Outcomes' })
    const csv = `primary_phone,name\n${['9901', '9902', '9903', '9904', '9905', '9906', '9907', '9909'].map((end) => `+1212555${end},Ada`).join('\n')}\n`
    t.equal((await upload(user, slug, csv)).status, 201)
    const settled = await when(
      user,
      `/api/v/campaign/${slug}/prospects/`,
      ({ items }) =>
        items.length === 8 &&
        items.every(
          (item: { disposition: string | null; status: string }) =>
            item.disposition !== null && item.status !== 'calling',
        ),
      150_000,
    )
    const of = (end: string) =>
      settled.items.find((item: { primary_phone: string }) => item.primary_phone.endsWith(end))
    t.match(of('9901'), { status: 'waiting', disposition: 'busy', attempts: 1, held: { reason: 'retry_wait' } })
    t.match(of('9902'), { status: 'waiting', disposition: 'no_answer', attempts: 1 })
    t.match(of('9903'), { status: 'waiting', disposition: 'voicemail', attempts: 1 })
    t.match(of('9904'), { attempts: 1 })
    t.match(of('9905'), { status: 'resolved', resolution: 'do_not_call', disposition: 'declined' })
    t.match(of('9906'), { status: 'resolved', resolution: 'invalid_number', disposition: 'invalid_number' })
    t.match(of('9907'), { disposition: 'fault', attempts: 0 })
    t.match(of('9909'), { status: 'waiting', disposition: 'blocked', attempts: 0 })
    t.equal((await client.get('/do-not-call', { query: { q: '9909' } })).body.total, 0)
    const waitMs = Date.parse(of('9903').next_attempt_at) - Date.parse(of('9903').last_attempt_at)
    t.ok(waitMs >= 4 * 3_600_000, 'a voicemail waits four hours')
    t.match((await client.get('/do-not-call', { query: { q: '9905' } })).body, {
      total: 1,
      items: [{ source: 'call' }],
    })
    const one = (await client.get(`/api/v/prospect/${of('9901').uuid}/`)).body
    t.match(one.history, [
      { n: 1, from: phone.number, outcome: 'busy', charged: true, checks: { do_not_call: 'not listed' } },
    ])
    const call = (await client.get(`/calls/${one.history[0].call_log_id}`)).body
    t.match(call, { campaign_slug: slug, to_number: '+12125559901', dynamic_variables: { name: 'Ada' } })
    const status = (await client.get(`/api/v/campaign/${slug}/status/`)).body
    t.match(status, { prospects: { total: 8 }, today: { abandoned: 0 }, pacing: { effective_ratio: 1 } })
    // At midnight they are of two days.
    const { rows: days } = await api.store.pool.query<{ attempts: number }>(
      'select d.attempts from campaign_days d join campaigns c on c.id = d.campaign_id where c.slug = $1',
      [slug],
    )
    const attempts = days.reduce((sum, day) => sum + day.attempts, 0)
    t.ok(attempts >= 8, `${attempts} attempts`)
    await client.post(`/api/v/campaign/${slug}/pause/`)
  })

  await t.test('a webhook that says no keeps its reason, and charges no attempt', async (t) => {
    const { slug } = await make({ name: 'Asked', webhook_before_dial: `http://127.0.0.1:${port}/may` })
    await upload(user, slug, 'primary_phone\n+12125550143\n')
    const { items } = await when(
      user,
      `/api/v/campaign/${slug}/prospects/`,
      ({ items }) => items[0]?.next_attempt_at != null,
    )
    const { history, attempts } = (await client.get(`/api/v/prospect/${items[0].uuid}/`)).body
    t.equal(attempts, 0)
    t.match(history[0], {
      outcome: 'skipped',
      charged: false,
      skipped: { reason: 'webhook', sentence: 'webhook_before_dial: a customer already' },
    })
    t.ok(asked.includes('+12125550143'))
    await client.post(`/api/v/campaign/${slug}/pause/`)
  })

  await t.test('a carrier that always fails pauses the campaign, which says so', async (t) => {
    const { slug } = await make({ name: 'Broken line', stop_when: { failure_rate: 1, window: 2 } })
    await upload(user, slug, 'primary_phone\n+12135559907\n+12145559907\n')
    const status = await when(user, `/api/v/campaign/${slug}/status/`, ({ reason }) => reason === 'too_many_failures')
    t.match(status, { status: 'Stopped', prospects: { unresolved: 2 } })
    t.match((await client.get(`/api/v/campaign/${slug}/`)).body, { paused: true, pause_reason: 'too_many_failures' })
  })
})
