import t from 'tap'
import { claimAnalyses } from '../../../store/calls/call-analyses.ts'
import { insertCall } from '../../../store/calls/calls.ts'
import { startTestApi, type TestUser } from '../../support/instance/api.ts'

t.test('calls are analysed in turns of their workspaces, and one has two at most', async (t) => {
  const api = await startTestApi(t)
  const [many, few] = [await api.signUp(), await api.signUp()]
  const due = async (user: TestUser, agoS: number) => {
    const call = await insertCall(api.store.tenant(user.workspaceId), {
      agent_id: user.workspaceId,
      agent_name: 'Ada',
      call_type: 'web',
      direction: 'inbound',
      status: 'completed',
    })
    await api.store.pool.query(
      `insert into call_analyses (call_id, workspace_id, next_attempt_at)
        values ($1, $2, now() - make_interval(secs => $3))`,
      [call.id, user.workspaceId, agoS],
    )
  }
  for (let i = 0; i < 6; i++) await due(many, 100 - i)
  await due(few, 1)
  const claim = (busy: string[] = []) =>
    claimAnalyses(api.store, { limit: 4, mostOfOne: 2, busy, leaseS: 300 }).then((rows) =>
      rows.map(({ workspaceId }) => workspaceId).sort(),
    )
  t.same(await claim(), [few.workspaceId, many.workspaceId, many.workspaceId].sort())
  t.same(await claim([many.workspaceId]), [], 'one that has its two waits')
  const [first, second] = await Promise.all([claim(), claim()])
  t.ok([...(first ?? []), ...(second ?? [])].length <= 4, 'none is claimed twice')
})
