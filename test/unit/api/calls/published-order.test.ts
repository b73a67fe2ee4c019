import t from 'tap'
import {
  endedCall,
  makeCall,
  openSession,
  type RealtimeNode,
  readCall,
  startNode,
  startWorker,
  until,
  type Waiting,
} from '../../../support/instance/realtime-node.ts'

const SAID = ['call.turn', 'call.turn', 'call.turn']
const WHOLE = ['call.queued', 'call.ringing', 'call.answered', ...SAID, 'call.ended']

async function published(node: RealtimeNode, { callId }: Waiting): Promise<string[]> {
  const { rows } = await node.store.pool.query<{ type: string }>(
    'select type from workspace_events where subject = $1 order by transaction, seq',
    [callId],
  )
  return rows.map(({ type }) => type)
}

t.test('a workspace hears of the end of a call after all that was said in it', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node])
  const calls = await Promise.all(Array.from({ length: 5 }, () => makeCall(node)))
  await Promise.all(
    calls.map(async (call, i) => {
      const client = await openSession(t, node, call)
      client.send({ type: 'text', text: `how are you ${i}` })
      await client.got('transcript', { text: `2: how are you ${i}` })
      client.send({ type: 'end' })
      const { call: row, turns } = await endedCall(node, call)
      t.equal(turns.length, 3, 'the row that is over has all its turns')
      t.match(row, { status: 'completed', llm_input_tokens: 10 })
      await until(async () => (await published(node, call)).includes('call.ended'))
      t.same(await published(node, call), WHOLE)
    }),
  )
})

t.test('a call that ends while nothing can be written stays this node’s until all of it is written', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node])
  const call = await makeCall(node)
  const client = await openSession(t, node, call)
  await client.got('transcript')
  await until(async () => (await published(node, call)).includes('call.answered'))
  await node.store.pool.query('alter table call_events rename to call_events_away')
  client.send({ type: 'text', text: 'how are you' })
  await client.got('transcript', { text: '2: how are you' })
  client.send({ type: 'end' })
  await client.closed()
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  t.match((await readCall(node, call)).call, { status: 'in_progress' })
  t.ok(await node.redis.zScore('patchbay:{calls}:leases', call.callId), 'no reaper ends it')
  await node.store.pool.query('alter table call_events_away rename to call_events')
  const { call: row, turns } = await endedCall(node, call)
  t.match(row, { status: 'completed', llm_input_tokens: 10 })
  t.equal(turns.length, 3)
  t.same(await published(node, call), WHOLE)
  await until(async () => (await node.redis.zScore('patchbay:{calls}:leases', call.callId)) === null)
})
