import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startTestApi, type TestApi, type TestUser } from '../../../support/instance/api.ts'
import { startTestJobs } from '../../../support/instance/jobs.ts'
import { linkWorker, type Phone, startPhone } from '../../../support/phone/phone.ts'

/** Callees of the simulated carrier who are busy, and who talk. */
const BUSY = '9901'
const TALKS = '2000'
/** Several of the runner's seconds. */
const SEVERAL_TICKS_MS = 3_500

const api: TestApi = await startTestApi(t)
await startTestJobs(t, api)

async function makeBatch(user: TestUser, phone: Phone, rows: number, callee: string): Promise<string> {
  const numbers = Array.from({ length: rows }, (_, i) => `+1415${555 + Math.floor(i / 10)}${callee}`)
  const form = new FormData()
  form.append('file', new Blob([`phone_number\n${numbers.join('\n')}\n`]), 'numbers.csv')
  form.append('name', 'March')
  form.append('agent_id', phone.agentId)
  form.append('agent_phone_number', phone.number)
  const { status, body } = await user.client.post('/batch/upload', { form })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.batch_id
}

async function batchUntil(user: TestUser, id: string, isSo: (batch: { status: string; counts: Counts }) => boolean) {
  for (const untilMs = performance.now() + 400_000; ; ) {
    const { body } = await user.client.get(`/batch/${id}`)
    if (isSo(body)) return body
    if (performance.now() > untilMs) throw new Error(`The batch is still ${JSON.stringify(body)}`)
    await sleep(50)
  }
}
interface Counts {
  pending: number
  in_progress: number
  completed: number
  failed: number
}

const act = (user: TestUser, id: string, what: string) => user.client.post(`/batch/${id}/${what}`)

async function tenantWithPhone(agent: Record<string, unknown> = {}) {
  const user = await api.signUp()
  return { user, phone: await startPhone(api, user, agent) }
}

t.test(
  'nothing is taken while nobody can talk, and a batch of no cap is not held up by one at its cap',
  async (t: Test) => {
    const [hostile, quiet] = [await tenantWithPhone(), await tenantWithPhone()]
    await hostile.user.client.patch(`/phone-numbers/${encodeURIComponent(hostile.phone.number)}`, {
      body: { max_concurrent_calls: 0 },
    })
    const many = await makeBatch(hostile.user, hostile.phone, 300, BUSY)
    const one = await makeBatch(quiet.user, quiet.phone, 1, BUSY)
    await act(hostile.user, many, 'send')
    await sleep(SEVERAL_TICKS_MS)
    t.match((await hostile.user.client.get(`/batch/${many}`)).body.counts, { pending: 300, in_progress: 0 })
    await linkWorker(t, api, { capacity: 4 })
    await act(quiet.user, one, 'send')
    t.match((await batchUntil(quiet.user, one, ({ status }) => status === 'completed')).counts, { failed: 1 })
    t.match(
      (await hostile.user.client.get(`/batch/${many}`)).body.counts,
      { pending: 300, in_progress: 0 },
      'what can not start is not taken',
    )

    await hostile.user.client.patch(`/phone-numbers/${encodeURIComponent(hostile.phone.number)}`, {
      body: { max_concurrent_calls: null },
    })
    await batchUntil(hostile.user, many, ({ counts }) => counts.failed > 20)
    const another = await makeBatch(quiet.user, quiet.phone, 1, BUSY)
    await act(quiet.user, another, 'send')
    await batchUntil(quiet.user, another, ({ status }) => status === 'completed')
    const { body } = await hostile.user.client.get(`/batch/${many}`)
    t.equal(body.status, 'running', 'the one row did not wait for the end of the three hundred')
    t.match(await act(hostile.user, many, 'cancel'), { status: 200, body: { status: 'canceled' } })
  },
)

t.test('a paused batch places nothing, goes on when resumed, and calls its failures again', async (t: Test) => {
  const { user, phone } = await tenantWithPhone()
  const id = await makeBatch(user, phone, 4, BUSY)
  t.match(await act(user, id, 'pause'), { status: 409, body: { detail: 'Batch is not running' } })
  t.match(await act(user, id, 'resume'), { status: 409, body: { detail: 'Batch is not paused' } })
  t.match(await act(user, id, 'retry'), { status: 409 })
  await act(user, id, 'send')
  t.match(await act(user, id, 'pause'), { status: 200, body: { status: 'paused' } })
  t.match(await act(user, id, 'pause'), { status: 200, body: { status: 'paused' } }, 'pausing again changes nothing')
  t.match(await act(user, id, 'send'), { status: 409, body: { detail: 'Batch already sent' } })
  await linkWorker(t, api, { capacity: 4 })
  const { counts } = await batchUntil(user, id, (batch) => batch.counts.in_progress === 0)
  await sleep(SEVERAL_TICKS_MS)
  t.match((await user.client.get(`/batch/${id}`)).body, { status: 'paused', counts })
  t.match(await act(user, id, 'resume'), { status: 200, body: { status: 'running' } })
  t.match((await batchUntil(user, id, ({ status }) => status === 'completed')).counts, { failed: 4, pending: 0 })

  t.match(await act(user, id, 'retry'), { status: 200, body: { status: 'running', counts: { pending: 4, failed: 0 } } })
  t.match((await batchUntil(user, id, ({ status }) => status === 'completed')).counts, { failed: 4, pending: 0 })
  const { rows } = await api.store.pool.query('select count(*)::int as n from calls where batch_id = $1', [id])
  t.equal(rows[0].n, 8, 'each row was called twice')
  t.match(await act(user, id, 'cancel'), { status: 409, body: { detail: 'Batch is over' } })
})

t.test('a canceled batch places nothing more, and its counts come true', async (t: Test) => {
  const { user, phone } = await tenantWithPhone()
  const id = await makeBatch(user, phone, 40, TALKS)
  await linkWorker(t, api, { capacity: 4 })
  await act(user, id, 'send')
  await batchUntil(user, id, ({ counts }) => counts.in_progress > 0)
  const canceled = await act(user, id, 'cancel')
  t.match(canceled, { status: 200, body: { status: 'canceled' } })
  const placed = async () =>
    (
      await api.store.pool.query('select count(*)::int as n from calls where batch_id = $1 and placed_at is not null', [
        id,
      ])
    ).rows[0].n
  const before = await placed()
  const { counts } = await batchUntil(user, id, (batch) => batch.counts.in_progress === 0)
  t.equal(await placed(), before)
  t.equal(counts.pending + counts.completed + counts.failed, 40)
  t.ok(counts.pending > 0, 'rows that were never called stay pending')
  t.match(await act(user, id, 'retry'), { status: 409 })
})

t.test('deleting the agent ends its batches at once', async (t: Test) => {
  const { user, phone } = await tenantWithPhone()
  const id = await makeBatch(user, phone, 40, TALKS)
  await linkWorker(t, api, { capacity: 4 })
  await act(user, id, 'send')
  await batchUntil(user, id, ({ counts }) => counts.in_progress > 0)
  t.equal((await user.client.delete(`/agents/${phone.agentId}`)).status, 200)
  t.equal((await user.client.get(`/batch/${id}`)).body.status, 'canceled')
  const { rows } = await api.store.pool.query(
    "select count(*)::int as n from calls where batch_id = $1 and status = 'queued' and placed_at is null",
    [id],
  )
  t.equal(rows[0].n, 0)
  const { counts } = await batchUntil(user, id, (batch) => batch.counts.in_progress === 0)
  t.equal(counts.pending + counts.completed + counts.failed, 40)
})
