import { pino } from 'pino'
import t from 'tap'
import { runAdmin } from '../../../../api/operator/command.ts'
import { loadConfig } from '../../../../config/load.ts'
import { admissionRefusals } from '../../../../runtime/admission/refusals.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { startBatches } from '../../../../workers/batch/start.ts'
import { ApiClient, startTestApi } from '../../../support/instance/api.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { TwilioDouble } from '../../../support/providers/doubles/carriers/twilio.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const refusedRows = async () => {
  const { values } = await admissionRefusals.get()
  return values.reduce((sum, { labels, value }) => (labels.kind === 'row' ? sum + value : sum), 0)
}

const TO = '+14155552671'
const SENTENCE = 'The database is being moved'

t.test('in maintenance no call begins by any way, and those that run go on', async (t) => {
  const twilio = await TwilioDouble.start(t)
  const api = await startTestApi(t, { env: { PUBLIC_URL: 'http://127.0.0.1:0', ...twilio.env } })
  const [boss, user] = [await api.signUp(), await api.signUp('Eve')]
  const phone = await startPhone(api, user, {}, 'twilio')
  twilio.own(phone.number, `${api.url}/telephony/twilio/voice`)
  await linkWorker(t, api)
  const { client } = user
  await client.patch(`/agents/${phone.agentId}`, { body: { public: { origins: ['*'] } } })
  const dial = () => {
    const body = { agent_phone_number: phone.number, phone_number_to_dial: TO }
    return client.post('/calls/outbound_call', { body })
  }
  const running = (await dial()).body.call_log_id
  await callWhen(user, running, ({ status }) => status === 'in_progress')

  t.same((await api.client().get('/maintenance')).body, { maintenance: null })
  t.equal((await client.put('/operator/maintenance', { body: { message: SENTENCE } })).status, 403)
  const begun = await boss.client.put('/operator/maintenance', { body: { message: SENTENCE } })
  t.match(begun.body, { maintenance: { message: SENTENCE } })
  t.same((await api.client().get('/maintenance')).body, begun.body, 'everybody may know')

  const asks = {
    'a phone call': dial,
    'a web session': () => client.get('/calls/generate-token', { query: { agent_id: phone.agentId } }),
    'a visitor': () =>
      new ApiClient(api.url, { origin: 'https://shop.example' }).post(`/public/agents/${phone.agentId}/session`),
  }
  for (const [name, ask] of Object.entries(asks)) {
    const refused = await ask()
    t.match([refused.status, refused.body.detail], [503, `Maintenance, no new call is taken: ${SENTENCE}`], name)
    t.equal(refused.headers.get('retry-after'), '60', name)
  }
  const incoming = await twilio.callIn('+14155550123', phone.number)
  await waitUntil(() => incoming.over)
  t.equal(incoming.rejectedFor, 'busy')
  t.same(incoming.streams, [], 'unanswered')
  t.equal((await client.get('/agents')).status, 200, 'all else is served')
  t.equal((await client.get(`/calls/${running}`)).body.status, 'in_progress')
  await client.post(`/calls/${running}/hangup`)
  t.match(await callWhen(user, running, isOver), { status: 'completed', end_reason: 'api_hangup' })

  t.same((await boss.client.delete('/operator/maintenance')).body, { maintenance: null })
  t.equal((await dial()).status, 201)
  const log = await boss.client.get('/operator/audit-log')
  const actions = log.body.items.map(({ action }: { action: string }) => action)
  t.ok(actions.includes('PUT /operator/maintenance') && actions.includes('DELETE /operator/maintenance'), `${actions}`)
})

t.test('what waits when it begins goes on when it is over: no row of a batch is dialled, none is lost', async (t) => {
  const api = await startTestApi(t)
  const log = pino({ level: 'silent' })
  const redis = await createRedis(api.redisUrl, log)
  t.teardown(() => redis.destroy())
  const { store, config } = api
  const runner = startBatches({ store, redis, clock: systemClock, log, config, sweepIntervalMs: 50 })
  t.teardown(() => runner.stop(1_000))
  await linkWorker(t, api)
  const user = await api.signUp()
  const phone = await startPhone(api, user)
  const admin = (...words: string[]) => runAdmin(words, { config: loadConfig({}), databaseUrl: api.databaseUrl })

  t.equal(await admin('maintenance'), 'maintenance: off')
  t.match(await admin('maintenance', 'on', 'Back', 'soon'), /^maintenance: on since .*: Back soon$/)
  const form = new FormData()
  form.append('file', new Blob(['phone_number\n+14155552000\n+14155552001\n']), 'numbers.csv')
  form.append('name', 'March')
  form.append('agent_id', phone.agentId)
  form.append('agent_phone_number', phone.number)
  const { body: batch } = await user.client.post('/batch/upload', { form })
  t.equal((await user.client.post(`/batch/${batch.batch_id}/send`)).status, 200)
  const counts = async () => (await user.client.get(`/batch/${batch.batch_id}`)).body.counts
  const before = await refusedRows()
  await waitUntil(async () => (await refusedRows()) >= before + 5)
  t.match(await counts(), { pending: 2 }, 'nobody is dialled')

  t.equal(await admin('maintenance', 'off'), 'maintenance: off')
  await waitUntil(async () => (await counts()).pending === 0)
  await t.rejects(admin('maintenance', 'of'), { message: /neither "on/ })
  t.match(await admin('audit-log'), 'admin maintenance')
})
