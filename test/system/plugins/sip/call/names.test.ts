import t from 'tap'
import { startTestJobs } from '../../../../support/instance/jobs.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../../../support/phone/phone.ts'
import { addSipNumber, startSipApi } from '../../../../support/sip/sip-phone.ts'
import { anyHour } from '../../../../support/world/any-hour.ts'
import { startPeer } from '../support/carrier.ts'

/** Extensions and SIP URIs are called like numbers: by the API, by batches and by campaigns. */

t.test('extensions and SIP URIs are called, each judged as a number is', async (t) => {
  const sip = await startSipApi(t, { env: { PATCHBAY_CALLING_RULES: await anyHour(t), PATCHBAY_INBOUND_RESERVE: '0' } })
  const { api, user } = sip
  const { client } = user
  await linkWorker(t, api, { capacity: 4 })
  await startTestJobs(t, api)
  const pbx = await startPeer(t, ({ method }) => ({ status: method === 'INVITE' ? 486 : 200 }))
  const host = `127.0.0.1:${pbx.port}`
  const { number, agentId } = await addSipNumber(sip, { name: 'pbx', host })
  const dial = (to: string, from = number) =>
    client.post('/calls/outbound_call', { body: { agent_phone_number: from, phone_number_to_dial: to } })
  const called = () => pbx.requests.flatMap(({ method, uri }) => (method === 'INVITE' ? [uri.user] : []))

  await t.test('by the API', async (t) => {
    for (const to of ['204', 'anna', `sip:205@${host}`]) {
      const { status, body } = await dial(to)
      t.equal(status, 201, to)
      t.match(await callWhen(user, body.call_log_id, isOver), { status: 'busy', to_number: to }, to)
    }
    t.same(called(), ['204', 'anna', '205'])
  })

  await t.test('not a premium number in a URI, nor a host of somebody else', async (t) => {
    for (const [to, why] of [
      [`sip:+19005550123@${host}`, /premium/],
      ['sip:204@sip.example.org', /no host of trunk/],
    ] as const) {
      const { body } = await dial(to)
      t.match(await callWhen(user, body.call_log_id, isOver), { end_reason: 'carrier_error', error: why }, to)
    }
    t.equal(called().length, 3, 'nothing was sent')
  })

  await t.test('what no carrier could call is refused at once', async (t) => {
    const phone = await startPhone(api, user)
    for (const [to, from] of [
      ['not a number', number],
      ['sip:204@pbx;method=REFER', number],
      ['204', phone.number],
    ] as const) {
      t.match(await dial(to, from), { status: 400, body: { detail: 'Invalid phone number format' } }, to)
    }
  })

  await t.test('by batches, whose rows hold SIP URIs', async (t) => {
    const form = new FormData()
    form.append('file', new Blob([`phone_number,name\nsip:301@${host},Ada\n302,Bob\n`]), 'desks.csv')
    for (const [name, value] of Object.entries({ name: 'Desks', agent_id: agentId, agent_phone_number: number })) {
      form.append(name, value)
    }
    const { status, body } = await client.post('/batch/upload', { form })
    t.equal(status, 201, JSON.stringify(body))
    await client.post(`/batch/${body.batch_id}/send`)
    for (;;) {
      const { body: batch } = await client.get(`/batch/${body.batch_id}`)
      if (batch.status === 'completed') {
        t.match(batch.counts, { total: 2, failed: 2 })
        break
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    t.same(called().slice(3), ['301'], 'a bare extension in a file is a broken number')
  })

  await t.test('by campaigns, where the row says where its phone is', async (t) => {
    const fields = { name: 'Desks', agent_id: agentId, dialer_interval: 2, from_numbers: [number] }
    const hours = { earliest_prospect_time: '00:00:00', latest_prospect_time: '23:59:59' }
    const { body: campaign } = await client.post('/api/v/campaign/', { body: { ...fields, ...hours } })
    const form = new FormData()
    const csv = `primary_phone,timezone\nsip:401@${host},America/New_York\nsip:402@${host},\n`
    form.append('original_data', new Blob([csv]), 'desks.csv')
    t.equal((await client.post(`/api/v/upload/${campaign.slug}/`, { form })).status, 201)
    for (;;) {
      const { body } = await client.get(`/api/v/campaign/${campaign.slug}/prospects/`)
      const [one, two] = body.items
      if (one?.disposition === 'busy') {
        t.match(one, { primary_phone: `sip:401@${host}`, attempts: 1 })
        t.match(two, { attempts: 0, held: { reason: 'unknown_zone' } })
        break
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    t.same(called().slice(4), ['401'])
    await client.post(`/api/v/campaign/${campaign.slug}/pause/`)
    const listed = `sip:401@${host}`
    t.equal((await client.post('/do-not-call', { body: { phone_number: listed } })).status, 201)
    t.match(await dial(listed), { status: 409 })
    t.equal((await client.delete(`/do-not-call/${encodeURIComponent(listed)}`)).status, 200)
  })
})
