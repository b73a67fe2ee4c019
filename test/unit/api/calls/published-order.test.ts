import t from 'tap'
import {
  endedCall,
  makeCall,
  openSession,
  startNode,
  startWorker,
  until,
} from '../../../support/instance/realtime-node.ts'

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
      const types = async () => {
        const { rows } = await node.store.pool.query<{ type: string }>(
          'select type from workspace_events where subject = $1 order by transaction, seq',
          [call.callId],
        )
        return rows.map(({ type }) => type)
      }
      await until(async () => (await types()).includes('call.ended'))
      const said = ['call.turn', 'call.turn', 'call.turn']
      t.same(await types(), ['call.queued', 'call.ringing', 'call.answered', ...said, 'call.ended'])
    }),
  )
})
