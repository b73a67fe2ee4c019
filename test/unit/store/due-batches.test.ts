import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { createUser } from '../../../store/accounts/users.ts'
import { countRunningBatches, dueBatches } from '../../../store/batches/batches.ts'
import { openStore } from '../../../store/database/database.ts'
import type { BatchStatus } from '../../../store/database/schema.ts'
import { testDatabase } from '../../support/instance/services.ts'

const NOW = new Date('2026-03-02T12:00:00Z')
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000)
const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 2 })
t.teardown(() => store.close())

async function workspace(email: string) {
  const user = await createUser(store.global, { name: 'Ada', email, passwordHash: '', phoneNumber: '+14155550123' })
  return store.tenant(user.current_workspace_id ?? '')
}
type Tenant = Awaited<ReturnType<typeof workspace>>

async function batch(tenant: Tenant, status: BatchStatus, times: { started_at?: Date; scheduled_time?: Date }) {
  const id = uuidv7()
  const none = { started_at: null, scheduled_time: null, finished_at: null, agent_id: null, agent_phone_number: '' }
  const counts = { total: 0, invalid: 0, duplicates: 0, taken: 0, completed: 0, failed: 0 }
  await tenant.db
    .insertInto('batches')
    .values({ id, name: 'b', ...none, ...counts, ...times, status, timezone: 'UTC', columns: '[]' })
    .execute()
  return id
}

t.test('workspaces take turns: who has many batches keeps nobody’s from being looked at', async (t) => {
  const [many, few] = [await workspace('many@example.com'), await workspace('few@example.com')]
  const old: string[] = []
  for (let i = 0; i < 5; i++) old.push(await batch(many, 'running', { started_at: minutesAgo(60 - i) }))
  const begun = await batch(few, 'running', { started_at: minutesAgo(1) })
  const planned = await batch(few, 'scheduled', { scheduled_time: minutesAgo(0) })
  await batch(few, 'scheduled', { scheduled_time: minutesAgo(-1) })
  await batch(few, 'paused', { started_at: minutesAgo(90) })
  const due = await dueBatches(store, NOW, 4)
  t.same(
    due.map(({ id, ahead }) => [id, ahead]),
    [
      [old[0], 0],
      [begun, 0],
      [old[1], 1],
      [planned, 1],
    ],
  )
  t.equal(due[1]?.workspace_id, few.workspaceId)
  t.equal((await dueBatches(store, NOW, 100)).length, 7)
  t.equal(await countRunningBatches(many), 5)
  t.equal(await countRunningBatches(few), 1)
})
