import t from 'tap'
import { limitsOf } from '../../../../api/agents/speech.ts'
import type { Agent } from '../../../../store/database/schema.ts'

const SERVER = { idleMs: 60_000, maxDurationMs: 3_600_000 }
const agent = (max_duration_s: number | null, idle_timeout_s: number | null) =>
  ({ max_duration_s, idle_timeout_s }) as Agent

t.test('an agent’s own limits go before the server’s, and never beyond its longest call', async (t) => {
  t.same(limitsOf(agent(null, null), SERVER), SERVER)
  t.same(limitsOf(agent(600, 120), SERVER), { idleMs: 120_000, maxDurationMs: 600_000 })
  t.equal(limitsOf(agent(7_200, null), SERVER).maxDurationMs, 3_600_000)
})
