import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { startReceiver } from '../../../support/world/webhook-receiver.ts'

const api = await startTestApi(t, { env: { PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1' } })
await startTestJobs(t, api)

t.test(
  'a receiver that is down for an hour, refuses twice and loses its cursor ends with each event once',
  async (t) => {
    const ada = await api.signUp()
    /** What the receiver has, by `webhook-id`, and how often it came. */
    const kept = new Map<string, number>()
    let isDown = false
    let refusals = 0
    const { url } = await startReceiver(t, ({ headers }, response, request) => {
      if (isDown) return void request.socket.destroy()
      if (refusals > 0) {
        refusals--
        response.statusCode = 503
        return void response.end()
      }
      const id = headers['webhook-id'] ?? ''
      kept.set(id, (kept.get(id) ?? 0) + 1)
      response.end()
    })
    const { body: webhook } = await ada.client.post('/webhooks', { body: { url, types: ['agent.*'] } })
    const path = `/webhooks/${webhook.webhook_id}`
    let made = 0
    const happen = async (times: number) => {
      for (let i = 0; i < times; i++) {
        await ada.client.post('/agents', { body: { agent_name: `Ada ${made++}`, system_prompt: 'You answer.' } })
      }
    }
    const waiting = async (attempts: number) => {
      const query = `select count(*)::int as n from webhook_deliveries where status = 'pending' and attempts >= $1`
      return (await api.store.pool.query(query, [attempts])).rows[0].n as number
    }

    await happen(5)
    await until(() => kept.size === 5)
    isDown = true
    const since = new Date().toISOString()
    await happen(30)
    await until(async () => (await waiting(1)) === 30)
    // An hour later its waits are over, and it still is down.
    await api.store.pool.query(
      `update webhook_deliveries set next_attempt_at = now(), last_attempt_at = last_attempt_at - interval '1 hour' where status = 'pending'`,
    )
    await until(async () => (await waiting(2)) === 30)
    t.equal(kept.size, 5)

    isDown = false
    refusals = 2
    const recovered = await ada.client.post(`${path}/recover`, { body: { since } })
    t.equal(recovered.body.deliveries, 30, 'what waits is sent now')
    const meanwhile = happen(10)
    await until(() => refusals === 0)
    await ada.client.post(`${path}/recover`, { body: { since } })
    await meanwhile
    await until(() => kept.size === made)
    t.same([...new Set(kept.values())], [1], 'each came once')

    // It loses what it kept since then, and where it stood.
    const ids = [...kept.keys()]
    for (const id of ids.slice(5)) kept.delete(id)
    const read = (query: Record<string, string>, headers: Record<string, string> = {}) =>
      ada.client.get('/events', { query, headers: { accept: 'application/json', ...headers } })
    for (const wrong of ['4711', 'not-a-place', ids[0]?.replace(/^.{8}/, 'ffffffff') ?? '']) {
      t.equal((await read({}, { 'last-event-id': wrong })).status, 422, `${wrong} is an error and not "from now on"`)
    }
    let query: Record<string, string> = { since, types: 'agent.*', limit: '7' }
    for (let more = true; more; ) {
      const { body } = await read(query)
      for (const { id } of body.items) kept.set(id, (kept.get(id) ?? 0) + 1)
      more = body.has_more
      query = { after: body.next, types: 'agent.*', limit: '7' }
      if (made < 60) await happen(5)
    }
    // An event is read once all transactions that are older are over.
    await until(async () => {
      const { body } = await read(query)
      for (const { id } of body.items) kept.set(id, (kept.get(id) ?? 0) + 1)
      query = { ...query, after: body.next }
      return kept.size >= made
    })
    const { rows } = await api.store.pool.query(
      `select id from workspace_events where workspace_id = $1 and type like 'agent.%' order by transaction, seq`,
      [ada.workspaceId],
    )
    t.equal(rows.length, made)
    t.same([...kept.keys()].sort(), rows.map(({ id }) => id).sort(), 'none is missing')
  },
)
