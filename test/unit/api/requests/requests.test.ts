import { pino } from 'pino'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { RequestLog } from '../../../../api/requests/request-log.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import type { StoredRequest } from '../../../../store/redis/request-log.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { testRedis } from '../../../support/instance/services.ts'

const SECRET = 'hunter2-hunter2'

t.test('what keys ask for is kept, why it was refused too, and nothing that was sent', async (t) => {
  const api = await startTestApi(t)
  const [ada, eve] = [await api.signUp(), await api.signUp('Eve')]
  const [crm, reader] = [await api.keyClient(ada), await api.keyClient(ada, ['read'])]
  const headers = { 'x-request-id': 'mine-1' }
  t.equal((await crm.get('/agents', { headers })).status, 200)
  t.equal((await crm.get('/calls/logs', { query: { page: 0, secret: SECRET } })).status, 422)
  t.equal((await crm.get(`/agents/${SECRET}`)).status, 404)
  t.equal((await reader.post('/calls/outbound_call', { body: { to_phone_number: SECRET } })).status, 401)
  t.equal((await api.client().get('/agents', { headers: { 'x-api-key': 'pb_unknown' } })).status, 401)

  const { body, text } = await ada.client.get('/requests')
  t.match(body, { total: 4, page: 1, page_size: 25, total_pages: 1 }, 'of keys alone, and of known ones')
  const seen = body.items.map((one: Record<string, unknown>) => [one.method, one.path, one.status])
  t.strictSame(seen, [
    ['POST', '/calls/outbound_call', 401],
    ['GET', '/agents/{agent_id}', 404],
    ['GET', '/calls/logs', 422],
    ['GET', '/agents', 200],
  ])
  const [refused, missing, wrong, answered] = body.items
  t.same(refused.error.code, 'insufficient_scope')
  t.match(missing.error, { code: 'agent_not_found', body: /^\{"detail":"Agent not found"/ })
  t.match(wrong.error.body, /"query","page"/)
  t.match(answered, { request_id: 'mine-1', api_key_name: 'test', error: null })
  t.ok(answered.duration_ms >= 0)
  t.notMatch(text, SECRET)

  const only = async (query: Record<string, string>) => (await ada.client.get('/requests', { query })).body
  t.equal((await only({ status: '4xx' })).total, 3)
  t.equal((await only({ api_key_id: refused.api_key_id })).total, 1)
  t.match(await only({ page: '2', page_size: '3' }), { total: 4, total_pages: 2, items: [{ path: '/agents' }] })
  t.equal((await eve.client.get('/requests')).body.total, 0, 'another workspace sees nothing of it')
  t.equal((await crm.get('/requests')).status, 401, 'a key does not see what the others do')
})

const request = (id: number): StoredRequest => ({
  ...{ id: `${id}`, atMs: Date.now() + id, method: 'GET', path: '/agents', status: 200, durationMs: 1 },
  key: { id: uuidv7(), name: 'CRM' },
})

t.test('the newest thousand of a workspace are kept, from whichever node they come', async (t) => {
  const redis = await createRedis(await testRedis(t), pino({ level: 'silent' }))
  t.teardown(() => redis.destroy())
  const options = { redis, clock: systemClock, log: pino({ level: 'silent' }) }
  const [one, other] = [new RequestLog(options), new RequestLog(options)]
  for (let id = 0; id < 3_500; id++) (id % 7 === 0 ? other : one).note('w', request(id))
  one.note('v', request(1))
  await other.stop()
  const recent = await one.recent('w')
  t.equal(recent.length, 1_000)
  t.same([recent[0]?.id, recent[1]?.id], ['3499', '3498'])
  const ids = recent.map(({ id }) => Number(id))
  t.same(
    ids,
    [...ids].sort((a, b) => b - a),
    'newest first',
  )
  t.same((await one.recent('v')).length, 1)
  await redis.lTrim('patchbay:requests:v', 1, 0)
  other.note('v', { ...request(1), atMs: Date.now() - 8 * 86_400_000 })
  t.same(await other.recent('v'), [], 'of a week')
})

t.test('requests that can’t be written are lost and counted, and whoever notes them waits for nothing', async (t) => {
  const redis = await createRedis(await testRedis(t), pino({ level: 'silent' }))
  const lines: { requests?: number }[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const requestLog = new RequestLog({ redis, clock: systemClock, log })
  redis.destroy()
  for (let id = 0; id < 21_000; id++) requestLog.note(`w${id % 30}`, request(id))
  await requestLog.stop()
  t.match(lines, [{ requests: 21_000 }], 'twenty thousand waited, the others were not kept')
  await t.rejects(requestLog.recent('w1'))
})
