import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { makeEventPartitions } from '../../../../store/calls/call-events.ts'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { readMail, startSmtpDouble } from '../../../support/providers/doubles/smtp.ts'
import { ownTime } from '../../../support/world/own-time.ts'
import { startReceiver } from '../../../support/world/webhook-receiver.ts'

const smtp = await startSmtpDouble()
t.teardown(() => smtp.stop())
const api = await startTestApi(t, { env: { PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1,localhost', SMTP_URL: smtp.url } })
await startTestJobs(t, api)
await makeEventPartitions(api.store, Date.now())

async function webhook(user: TestUser, url: string, types: string[] = ['*']) {
  const answer = await user.client.post('/webhooks', { body: { url, types } })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}

/** A web call that nobody takes, and its agent. */
async function queueCall(user: TestUser): Promise<string> {
  const agent = await user.client.post('/agents', { body: { agent_name: 'Ava', system_prompt: 'You are Ava.' } })
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agent.body.agent_id } })
  return body.call_log_id
}

const setCall = (user: TestUser, id: string, values: Record<string, unknown>) =>
  api.store
    .tenant(user.workspaceId)
    .db.updateTable('calls')
    .set(values as never)
    .where('id', '=', id)
    .execute()

const deliveriesOf = async (user: TestUser, id: string, status = '') =>
  (await user.client.get(`/webhooks/${id}/deliveries`, { query: status === '' ? {} : { status } })).body.items

t.test(
  'a receiver that says when to come again is left alone until then, with everything that is for it',
  async (t) => {
    const user = await api.signUp()
    let restsUntilMs = Number.POSITIVE_INFINITY
    const receiver = await startReceiver(t, (_, response) => {
      if (Date.now() >= restsUntilMs) return void response.end('taken')
      restsUntilMs = Math.min(restsUntilMs, Date.now() + 4_000)
      response.writeHead(429, { 'retry-after': '4' }).end('later')
    })
    const made = await webhook(user, receiver.url, ['call.queued'])
    for (let n = 0; n < 20; n++) await queueCall(user)
    await until(async () => (await deliveriesOf(user, made.webhook_id, 'delivered')).length === 20)
    const refused = receiver.received.filter(({ atMs }) => atMs < restsUntilMs)
    t.ok(refused.length <= 9, `${refused.length} requests before the time was over`)
    t.equal(receiver.received.length, 20 + refused.length, 'each was sent once more')
  },
)

t.test('what happens to a call is sent, signed, and shown as the API shows it', async (t) => {
  const user = await api.signUp()
  const receiver = await startReceiver(t)
  const made = await webhook(user, receiver.url, ['call.*'])
  t.match(made, { secret: /^whsec_/, enabled: true, types: ['call.*'] })
  t.equal((await user.client.get(`/webhooks/${made.webhook_id}`)).body.secret, undefined, 'the secret is shown once')

  const callId = await queueCall(user)
  const queued = await receiver.of('call.queued')
  const verified = new Webhook(made.secret).verify(queued.text, queued.headers)
  t.match(verified, { type: 'call.queued', workspace_id: user.workspaceId, data: { call_log_id: callId } })
  t.equal(queued.headers['webhook-id'], queued.body.id)
  t.throws(() => new Webhook(made.secret).verify(`${queued.text} `, queued.headers), 'a changed text is not signed')

  await setCall(user, callId, { status: 'in_progress', answered_at: new Date() })
  await receiver.of('call.answered')
  await setCall(user, callId, {
    status: 'completed',
    ended_at: new Date(),
    duration_ms: 4_200,
    disposition: 'completed',
  })
  const ended = await receiver.of('call.ended')
  t.same(ended.body.data, (await user.client.get(`/calls/${callId}`)).body)
  t.notOk(
    receiver.received.some(({ body }) => body.type === 'agent.changed'),
    'what was not asked for is not sent',
  )
  await until(async () => (await deliveriesOf(user, made.webhook_id, 'delivered')).length === 3)
  const [newest] = await deliveriesOf(user, made.webhook_id)
  t.match(newest, {
    type: 'call.ended',
    status: 'delivered',
    attempts: 1,
    response: { status: 200, body: 'taken' },
    request: { url: receiver.url, body: ended.text },
  })

  const other = await api.signUp()
  t.equal((await other.client.get(`/webhooks/${made.webhook_id}`)).status, 404)
  t.equal((await other.client.get(`/webhooks/${made.webhook_id}/deliveries`)).status, 404)

  await user.client.delete(`/calls/${callId}`)
  const [erased] = await deliveriesOf(user, made.webhook_id)
  t.equal(erased.request, null, 'what is erased is gone from here too')
})

t.test('a change that is rolled back is told to nobody', async (t) => {
  const user = await api.signUp()
  const receiver = await startReceiver(t)
  const made = await webhook(user, receiver.url)
  const callId = await queueCall(user)
  await receiver.of('call.queued')
  const client = await api.store.pool.connect()
  await client.query('begin')
  await client.query(`update calls set status = 'completed' where id = $1`, [callId])
  await client.query('rollback')
  client.release()
  await user.client.post(`/webhooks/${made.webhook_id}/test`)
  await receiver.of('webhook.test')
  t.notOk(receiver.received.some(({ body }) => body.type === 'call.ended'))
})

t.test('an event of a transaction that commits late comes although later ones came first', async (t) => {
  const user = await api.signUp()
  const receiver = await startReceiver(t)
  await webhook(user, receiver.url, ['call.ended', 'call.ringing'])
  const [slow, fast] = [await queueCall(user), await queueCall(user)]
  const client = await api.store.pool.connect()
  await client.query('begin')
  await client.query(`update calls set status = 'completed' where id = $1`, [slow])
  await setCall(user, fast, { status: 'ringing' })
  await new Promise((resolve) => setTimeout(resolve, 300))
  await client.query('commit')
  client.release()
  await receiver.of('call.ringing', ({ data }) => data.call_log_id === fast)
  await receiver.of('call.ended', ({ data }) => data.call_log_id === slow)
})

t.test('a receiver that hangs delays nobody else', async (t) => {
  const user = await api.signUp()
  /** Requests that wait there now, and the most that ever did at once: those that are given up make room for others. */
  let [waiting, most] = [0, 0]
  const hanging = await startReceiver(t, (_, response) => {
    most = Math.max(most, ++waiting)
    response.once('close', () => waiting--)
  })
  const quick = await startReceiver(t)
  await webhook(user, hanging.url)
  await webhook(user, quick.url)
  for (let i = 0; i < 30; i++) await queueCall(user)
  const tookMs = ownTime(t)
  const callId = await queueCall(user)
  await quick.of('call.queued', ({ data }) => data.call_log_id === callId)
  t.ok(tookMs() < 8_000, 'sooner than the other gives up')
  t.ok(most > 0 && most <= 8, `${most} waited there at once`)
})

t.test('what failed is tried again, can be sent again, and what was missed is recovered', async (t) => {
  const user = await api.signUp()
  const looked = Promise.withResolvers<void>()
  let asked = 0
  const receiver = await startReceiver(t, async (_, response) => {
    if (++asked === 1) return void response.writeHead(500).end('x'.repeat(3_000))
    // The next attempt is answered once the first was looked at.
    await looked.promise
    response.writeHead(204).end()
  })
  // When the next attempt is due is read as it is written: whoever makes it writes another time.
  await api.store.pool.query(`
    create table first_waits (delivery_id uuid, wait_ms float8);
    create function note_first_wait() returns trigger language plpgsql as $$ begin
      insert into first_waits values
        (new.id, 1000 * extract(epoch from new.next_attempt_at - new.last_attempt_at) - new.duration_ms);
      return null;
    end $$;
    create trigger first_waits_noted after update of attempts on webhook_deliveries for each row
      when (new.attempts = 1) execute function note_first_wait()`)
  const made = await webhook(user, receiver.url, ['call.queued'])
  const path = `/webhooks/${made.webhook_id}`
  await queueCall(user)
  let [failed] = await deliveriesOf(user, made.webhook_id)
  await until(async () => {
    ;[failed] = await deliveriesOf(user, made.webhook_id)
    return failed?.attempts === 1
  })
  t.match(failed, { status: 'pending', error: 'Status 500', response: { status: 500 } })
  t.equal(failed.response.body.length, 1_024)
  const waits = 'select wait_ms from first_waits where delivery_id = $1'
  const waitMs = (await api.store.pool.query(waits, [failed.delivery_id])).rows[0]?.wait_ms
  t.ok(waitMs > 4_400 && waitMs < 5_600, `${waitMs} ms`)
  // Written down a moment after the attempt.
  await until(async () => typeof (await user.client.get(path)).body.failing_since === 'string')
  looked.resolve()
  await until(async () => (await deliveriesOf(user, made.webhook_id, 'delivered')).length === 1)
  t.equal(receiver.received[0]?.headers['webhook-id'], receiver.received[1]?.headers['webhook-id'])
  await until(async () => (await user.client.get(path)).body.failing_since === null)

  t.match(await user.client.post(`${path}/deliveries/${failed.delivery_id}/redeliver`), { status: 200 })
  await until(() => receiver.received.length === 3)
  t.equal((await user.client.post(`${path}/deliveries/${made.webhook_id}/redeliver`)).status, 404)

  await user.client.patch(path, { body: { enabled: false } })
  const watch = await startReceiver(t)
  await webhook(user, watch.url, ['call.queued'])
  const missed = await queueCall(user)
  await watch.of('call.queued', ({ data }) => data.call_log_id === missed)
  const since = new Date(Date.now() - 3_600_000).toISOString()
  await user.client.patch(path, { body: { enabled: true } })
  t.match((await user.client.post(`${path}/recover`, { body: { since } })).body, { deliveries: 1 })
  await receiver.of('call.queued', ({ data }) => data.call_log_id === missed)
  await until(async () => (await deliveriesOf(user, made.webhook_id, 'delivered')).length === 2)
  t.match((await user.client.post(`${path}/recover`, { body: { since } })).body, { deliveries: 0 })
})

t.test('a receiver that is gone is switched off, and other webhooks and the Admins are told', async (t) => {
  const user = await api.signUp()
  const gone = await startReceiver(t, (_, response) => void response.writeHead(410).end())
  const watch = await startReceiver(t)
  const polish = await api.member(user, 'admin')
  await polish.client.patch('/auth/me', { body: { language: 'pl' } })
  await webhook(user, watch.url, ['webhook.disabled'])
  const made = await webhook(user, gone.url, ['agent.changed'])
  await user.client.post('/agents', { body: { agent_name: 'Ava', system_prompt: 'You are Ava.' } })
  const told = await watch.of('webhook.disabled')
  t.match(told.body.data, { webhook_id: made.webhook_id, url: gone.url, reason: 'The receiver answered 410 Gone' })
  t.match((await user.client.get(`/webhooks/${made.webhook_id}`)).body, { enabled: false, disabled_reason: /410/ })
  for (const [{ email }, subject] of [
    [user, 'A webhook was switched off'],
    [polish, 'Webhook został wyłączony'],
  ] as const) {
    const mailed = () => smtp.mails.filter(({ to, text }) => to === email && readMail(text).subject === subject)
    await until(() => mailed().length === 1)
    t.ok(readMail(mailed()[0]!.text).body.includes(`/console/developers/webhooks/${made.webhook_id}`))
  }
})

t.test('while a secret changes both sign', async (t) => {
  const user = await api.signUp()
  const receiver = await startReceiver(t)
  const made = await webhook(user, receiver.url, ['webhook.test', 'call.queued'])
  const { body: rotated } = await user.client.post(`/webhooks/${made.webhook_id}/rotate-secret`)
  t.not(rotated.secret, made.secret)
  await user.client.post(`/webhooks/${made.webhook_id}/test`)
  const message = await receiver.of('webhook.test')
  for (const secret of [made.secret, rotated.secret]) t.ok(new Webhook(secret).verify(message.text, message.headers))
  await api.store.pool.query('update webhooks set old_secret_until = now()')
  await user.client.post(`/webhooks/${made.webhook_id}/test`)
  await until(() => receiver.received.length === 2)
  const [, next] = receiver.received
  t.ok(new Webhook(rotated.secret).verify(next!.text, next!.headers))
  t.throws(() => new Webhook(made.secret).verify(next!.text, next!.headers), 'the old one is over')
})

t.test('redirects are not followed, and an address or type that is none is refused', async (t) => {
  const user = await api.signUp()
  const target = await startReceiver(t)
  const receiver = await startReceiver(t, (_, response) => void response.writeHead(307, { location: target.url }).end())
  const made = await webhook(user, receiver.url, ['call.queued'])
  await queueCall(user)
  await until(async () => (await deliveriesOf(user, made.webhook_id))[0]?.attempts >= 1)
  t.match(await deliveriesOf(user, made.webhook_id), [{ error: 'Status 307; redirects are not followed' }])
  t.same(target.received, [])
  const bad = { url: 'ftp://example.com', types: ['call.*', 'call.exploded', 'nothing.*'] }
  const { status, body } = await user.client.post('/webhooks', { body: bad })
  t.equal(status, 422)
  t.same(
    body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')),
    ['body.url', 'body.types.1', 'body.types.2'],
  )
  const other = { url: 'https://example.com', types: ['*'], agent_id: user.workspaceId }
  t.equal((await user.client.post('/webhooks', { body: other })).status, 404)
})

t.test('a private address is reached by no webhook, by whatever name', async (t) => {
  const strict = await startTestApi(t)
  await startTestJobs(t, strict)
  const user = await strict.signUp()
  const receiver = await startReceiver(t)
  const port = new URL(receiver.url).port
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '169.254.169.254']) {
    const made = await webhook(user, `http://${host}:${port}/`, ['webhook.test', 'call.queued'])
    await user.client.post(`/webhooks/${made.webhook_id}/test`)
    await until(async () => (await deliveriesOf(user, made.webhook_id))[0]?.attempts >= 1)
    t.match(await deliveriesOf(user, made.webhook_id), [
      { error: 'The host is unknown, or none that webhooks may reach', response: null },
    ])
  }
  t.same(receiver.received, [])
})
