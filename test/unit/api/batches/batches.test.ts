import t from 'tap'
import { startTestApi, type TestApi, type TestUser } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { linkWorker, type Phone, startPhone } from '../../../support/phone/phone.ts'

function form(phone: Phone, csv: string | Uint8Array<ArrayBuffer> | undefined, more: Record<string, string> = {}) {
  const data = new FormData()
  const fields = { name: 'March', agent_id: phone.agentId, agent_phone_number: phone.number, ...more }
  if (csv !== undefined) data.append('file', new Blob([csv], { type: 'text/csv' }), 'numbers.csv')
  for (const [name, value] of Object.entries(fields)) if (value !== '') data.append(name, value)
  return data
}

const rowsStored = async (api: TestApi) =>
  (await api.store.pool.query('select (select count(*) from batches) + (select count(*) from batch_rows) as n')).rows[0]
    .n

async function batchWhen(user: TestUser, id: string, status: string, timeoutMs = 400_000) {
  const untilMs = performance.now() + timeoutMs
  for (;;) {
    const { body } = await user.client.get(`/batch/${id}`)
    if (body.status === status) return body
    if (performance.now() > untilMs) throw new Error(`The batch is still ${JSON.stringify(body)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

t.test('batches', async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_MAX_UPLOAD_BYTES: '400000' } })
  const user = await api.signUp()
  const phone = await startPhone(api, user)
  const upload = (csv: string | undefined, more?: Record<string, string>) =>
    user.client.post('/batch/upload', { form: form(phone, csv, more) })

  await t.test('keep every row of the file, bad numbers and duplicates counted', async (t) => {
    const csv = [
      '\ufeffPhone Number;first_name;note',
      '+14155559901;Ada;"likes; semicolons"',
      '+1 (415) 555-9903;Bob;',
      'not a number;Eve;x',
      '+14155559901;Ada again;',
    ].join('\r\n')
    const { status, body } = await upload(csv)
    t.equal(status, 201)
    t.match(body, {
      name: 'March',
      agent_id: phone.agentId,
      agent_phone_number: phone.number,
      status: 'pending',
      scheduled_time: null,
      timezone: 'UTC',
      counts: { total: 4, pending: 3, in_progress: 0, completed: 0, failed: 1, duplicates: 1 },
      started_at: null,
      finished_at: null,
    })
    const { body: all } = await user.client.get(`/batch/${body.batch_id}/items`)
    t.match(all.items, [
      {
        phone_number: '+14155559901',
        status: 'pending',
        dynamic_variables: { first_name: 'Ada', note: 'likes; semicolons' },
      },
      { phone_number: '+14155559903', status: 'pending', dynamic_variables: { first_name: 'Bob', note: '' } },
      { phone_number: 'not a number', status: 'failed', error: 'Invalid phone number format' },
      { phone_number: '+14155559901', status: 'pending', dynamic_variables: { first_name: 'Ada again' } },
    ])
    t.equal(new Set(all.items.map(({ id }: { id: string }) => id)).size, 4, 'ids are unique')
    const { body: page } = await user.client.get(`/batch/${body.batch_id}/items`, { query: { page: 2, page_size: 3 } })
    t.match(page, {
      total: 4,
      page: 2,
      page_size: 3,
      total_pages: 2,
      items: [{ dynamic_variables: { first_name: 'Ada again' } }],
    })
    t.match((await user.client.get('/batch')).body, [{ batch_id: body.batch_id }])
    t.match(await user.client.delete(`/batch/${body.batch_id}`), { status: 200, body: { detail: 'Batch deleted' } })
    t.match(await user.client.get(`/batch/${body.batch_id}`), { status: 404, body: { detail: 'Batch not found' } })
    t.equal(await rowsStored(api), 0, 'nothing is left')
  })

  await t.test('are told of before they are made: what would be called, what not and why', async (t) => {
    await user.client.post('/do-not-call', { body: { phone_number: '+14155559905' } })
    const csv = 'Name;Handy\nAda;+14155559904\nBob;none\nEve;+14155559905\nAda;+14155559904\n'
    const before = await rowsStored(api)
    const preview = (more: Record<string, string>) => {
      const data = new FormData()
      for (const [name, value] of Object.entries(more)) data.append(name, value)
      data.append('file', new Blob([csv]), 'a.csv')
      return user.client.post('/batch/preview', { form: data })
    }
    t.match((await preview({})).body, { phone_column: null, rows: { total: 4, judged: 0 }, skipped: [] })
    t.match(await preview({ phone_column: 'Handy' }), {
      status: 200,
      body: {
        filename: 'a.csv',
        phone_column: 'Handy',
        columns: [{ name: 'Name', samples: ['Ada', 'Bob', 'Eve'] }, { name: 'Handy' }],
        rows: { total: 4, judged: 4, called: 2, duplicates: 1, invalid: 1, do_not_call: 1 },
        skipped: [
          { line: 3, code: 'invalid_number', reason: 'Invalid phone number format', phone_number: 'none' },
          { line: 4, code: 'do_not_call', phone_number: '+14155559905' },
        ],
      },
    })
    t.match(await preview({ phone_column: 'Phone' }), {
      status: 400,
      body: { detail: 'CSV lacks a column that is named' },
    })
    t.equal(await rowsStored(api), before, 'nothing was kept')
    const { body } = await upload(csv, { phone_column: 'Handy' })
    t.match(body, { counts: { total: 4, pending: 3, failed: 1, duplicates: 1 } })
    const { body: items } = await user.client.get(`/batch/${body.batch_id}/items`)
    t.match(items.items[0], { phone_number: '+14155559904', dynamic_variables: { Name: 'Ada' } })
    t.equal((await user.client.delete(`/batch/${body.batch_id}`)).status, 200)
    t.equal((await user.client.delete('/do-not-call/14155559905')).status, 200)
  })

  await t.test('refuse what is wrong and keep nothing of it', async (t) => {
    const csv = 'phone_number\n+14155552671\n'
    const big = `phone_number\n${'+14155552671\n'.repeat(40_000)}`
    /** A row of so many variables. */
    const wide = (columns: number, nameChars = 4, cellChars = 1) => {
      const names = Array.from({ length: columns }, (_, i) => `${i}`.padStart(nameChars, 'c'))
      return `phone_number,${names.join(',')}\n+14155552671${`,${'x'.repeat(cellChars)}`.repeat(columns)}\n`
    }
    const cases: [string, () => ReturnType<typeof upload>, number, unknown][] = [
      ['no such column', () => upload('number\n+14155552671\n'), 400, 'CSV must have a phone_number column'],
      ['an empty file', () => upload(''), 400, 'CSV must have a phone_number column'],
      ['too many columns', () => upload(`phone_number,${'x,'.repeat(1_000)}\n`), 400, 'CSV has too many columns'],
      ['columns that are more than a call has variables', () => upload(wide(201)), 400, 'CSV has too many columns'],
      ['columns whose names alone are too long', () => upload(wide(200, 400)), 400, /row of more than 64 KiB/],
      ['cells that are more than a call has', () => upload(wide(20, 4, 4_000)), 400, /row of more than 64 KiB/],
      ['a row too long', () => upload(`phone_number\n${'1'.repeat(70_000)}\n`), 400, /row of more than 64 KiB/],
      ['no row', () => upload('phone_number,name\n'), 400, 'CSV has no rows'],
      ['an open quote', () => upload('phone_number,name\n+14155552671,"open\n'), 400, 'Malformed body'],
      ['a file over the limit', () => upload(big), 400, 'File too large'],
      ['an unknown agent', () => upload(csv, { agent_id: 'nobody' }), 404, 'Agent not found'],
      ['an unregistered number', () => upload(csv, { agent_phone_number: '+14155550000' }), 404, 'Agent not found'],
      ['a bad number', () => upload(csv, { agent_phone_number: '12' }), 400, 'Invalid phone number format'],
    ]
    for (const [what, send, status, detail] of cases) t.match(await send(), { status, body: { detail } }, what)
    const faults = async (csv: string | undefined, more: Record<string, string>) => {
      const { status, body } = await upload(csv, more)
      t.equal(status, 422)
      return body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`)
    }
    t.same(await faults(undefined, { name: '' }), ['form.file missing', 'form.name missing'])
    t.same(await faults(csv, { timezone: 'Mars/Olympus' }), ['form.timezone value_error'])
    t.same(
      await faults(csv, { timezone: 'Mars/Olympus', agent_id: '' }),
      ['form.agent_id missing', 'form.timezone value_error'],
      'all at once',
    )
    t.same(await faults(csv, { scheduled_time: 'soon' }), ['form.scheduled_time datetime_parsing'])
    t.same(await faults(csv, { scheduled_time: '2020-01-01T00:00:00Z' }), ['form.scheduled_time value_error'])
    t.equal(await rowsStored(api), 0, 'nothing is kept')
  })

  await t.test('show a page of wide rows cut, each field up to 32 KiB, and call with all of it', async (t) => {
    const columns = Array.from({ length: 200 }, (_, i) => `c${i}`)
    const row = `+14155552671,${columns.map(() => 'é'.repeat(120)).join(',')}`
    const { body } = await upload(`phone_number,${columns.join(',')}\n${row}\n+14155552672,short\n`)
    const { body: page } = await user.client.get(`/batch/${body.batch_id}/items`, { query: { page: 1 } })
    const [wide, narrow] = page.items
    t.same(wide.truncated, ['dynamic_variables'])
    t.equal(Object.keys(wide.dynamic_variables).length, 200)
    t.ok(Buffer.byteLength(Object.values(wide.dynamic_variables).join('')) <= 34 * 1024)
    t.match(narrow, { truncated: undefined, dynamic_variables: { c0: 'short', c1: '' } })
    const { body: all } = await user.client.get(`/batch/${body.batch_id}/items`)
    t.same(Object.keys(all.items[1].dynamic_variables), columns, 'in the order of the file')
    await user.client.delete(`/batch/${body.batch_id}`)
  })

  await t.test('keep nothing of an upload that breaks off', async (t) => {
    const boundary = 'x'
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\nphone_number\r\n`
    const abort = new AbortController()
    const body = new ReadableStream({
      async pull(controller) {
        if (abort.signal.aborted) return controller.error(abort.signal.reason)
        controller.enqueue(Buffer.from(head + '+14155552671\r\n'.repeat(5_000)))
        await new Promise((resolve) => setTimeout(resolve, 300))
        abort.abort()
      },
    })
    const cookie = [...user.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, cookie }
    const sent = fetch(`${api.url}/batch/upload`, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
      signal: abort.signal,
    })
    await t.rejects(sent)
    const openTransactions = async () =>
      (
        await api.store.pool.query(
          "select count(*)::int as n from pg_stat_activity where datname = current_database() and state like 'idle in trans%'",
        )
      ).rows[0].n
    while ((await openTransactions()) > 0) await new Promise((resolve) => setTimeout(resolve, 50))
    t.equal(await rowsStored(api), 0)
  })

  await t.test('read a time without offset in the zone, one with offset as it is', async (t) => {
    const csv = 'phone_number\n+14155552671\n'
    const zone = { timezone: 'America/New_York' }
    const local = await upload(csv, { scheduled_time: '2030-07-01T09:00:00', ...zone })
    t.match(local.body, {
      status: 'scheduled',
      scheduled_time: '2030-07-01T13:00:00.000Z',
      timezone: 'America/New_York',
    })
    const offset = await upload(csv, { scheduled_time: '2030-07-01T09:00:00+02:00', ...zone })
    t.match(offset.body, { scheduled_time: '2030-07-01T07:00:00.000Z' })
    for (const { body } of [local, offset]) await user.client.delete(`/batch/${body.batch_id}`)
  })

  await t.test('belong to their workspace and its developers', async (t) => {
    const { body } = await upload('phone_number\n+14155552671\n')
    const other = await api.signUp()
    const member = await api.member(user, 'member')
    const path = `/batch/${body.batch_id}`
    for (const [method, url] of [
      ['GET', path],
      ['GET', `${path}/items`],
      ['POST', `${path}/send`],
      ['DELETE', path],
    ] as const) {
      t.match(
        await other.client.request(method, url),
        { status: 404, body: { detail: 'Batch not found' } },
        `${method} ${url}`,
      )
    }
    for (const [method, url] of [
      ['POST', `${path}/send`],
      ['DELETE', path],
      ['POST', '/batch/upload'],
    ] as const) {
      t.match(await member.client.request(method, url), { status: 403, body: { detail: 'Insufficient permissions' } })
    }
    t.equal((await member.client.get(path)).status, 200)
    t.equal((await user.client.delete(path)).status, 200)
  })

  await startTestJobs(t, api)
  await linkWorker(t, api, { capacity: 3 })

  await t.test('call every valid number once and end', async (t) => {
    const numbers = ['9901', '9903', '9905', '9906', '9907', '9901', '9903', '9903'].map((end) => `+1415555${end}`)
    const { body } = await upload(`phone_number,name\n${numbers.map((n) => `${n},x`).join('\n')}\nnobody,x\n`)
    const { status, body: sent } = await user.client.post(`/batch/${body.batch_id}/send`)
    t.equal(status, 200)
    t.equal(sent.status, 'running')
    t.match(await user.client.delete(`/batch/${body.batch_id}`), {
      status: 400,
      body: { detail: 'Batch is currently running' },
    })
    t.match(await user.client.post(`/batch/${body.batch_id}/send`), {
      status: 409,
      body: { detail: 'Batch already sent' },
    })
    const done = await batchWhen(user, body.batch_id, 'completed')
    t.match(done.counts, { total: 9, pending: 0, in_progress: 0, completed: 3, failed: 6, duplicates: 3 })
    t.ok(done.started_at && done.finished_at)
    const { body: all } = await user.client.get(`/batch/${body.batch_id}/items`)
    t.match(all.items[0], { status: 'failed', error: 'busy' })
    t.match(all.items[1], { status: 'completed', error: undefined })
    t.notOk(all.items[8].call_log_id, 'no call without a number')
    const { body: call } = await user.client.get(`/calls/${all.items[1].call_log_id}`)
    t.match(call, {
      batch_id: body.batch_id,
      to_number: '+14155559903',
      disposition: 'voicemail',
      dynamic_variables: { name: 'x' },
    })
    const { rows } = await api.store.pool.query('select count(*) as n from calls where batch_id = $1', [body.batch_id])
    t.equal(rows[0].n, 8)
    t.match(await user.client.post(`/batch/${body.batch_id}/send`), {
      status: 409,
      body: { detail: 'Batch already sent' },
    })
  })

  await t.test('start by themselves when their time has come', async (t) => {
    const { body } = await upload('phone_number\n+14155559901\n', { scheduled_time: '2035-01-01T00:00:00Z' })
    t.equal(body.status, 'scheduled')
    await api.store.pool.query('update batches set scheduled_time = now() where id = $1', [body.batch_id])
    t.match((await batchWhen(user, body.batch_id, 'completed')).counts, { total: 1, failed: 1 })
  })

  await t.test('are canceled when their agent is gone', async (t) => {
    const gone = await startPhone(api, user)
    const { body } = await user.client.post('/batch/upload', { form: form(gone, 'phone_number\n+14155559901\n') })
    t.equal((await user.client.delete(`/agents/${gone.agentId}`)).status, 200)
    await user.client.post(`/batch/${body.batch_id}/send`)
    t.match((await batchWhen(user, body.batch_id, 'canceled')).counts, { total: 1, pending: 1 })
  })
})
