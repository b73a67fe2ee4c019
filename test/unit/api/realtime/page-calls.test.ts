import t from 'tap'
import { PageCalls } from '../../../../api/realtime/page-calls.ts'
import { makeCall, openSession, startNode, startWorker, until } from '../../../support/instance/realtime-node.ts'

const PARAMS = { id: 'call-1:tool-1', name: 'show_room', arguments: { id: '7' }, timeoutMs: 20_000 }

t.test('a result that nobody waits for is not even written as JSON', (t) => {
  let written = 0
  const result = { toJSON: () => ++written }
  const calls = new PageCalls(() => undefined)
  t.notOk(calls.answered({ type: 'tool.result', call_id: 'nobody', result }))
  t.equal(written, 0)
  void calls.call(PARAMS)
  t.ok(calls.answered({ type: 'tool.result', call_id: PARAMS.id, result }))
  t.notOk(calls.answered({ type: 'tool.result', call_id: PARAMS.id, result }))
  t.equal(written, 1)
  t.end()
})

t.test('the agent calls a function of the page', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node])
  const { calls } = node.sessions
  const open = async () => {
    const waiting = await makeCall(node)
    return { client: await openSession(t, node, waiting), callId: waiting.callId }
  }

  t.test('and reads what it returned, or why it failed', async (t) => {
    const { client, callId } = await open()
    for (const [n, answer, read] of [
      [1, { result: { title: 'Sea view' } }, { result: '{"title":"Sea view"}' }],
      [2, { result: 'shown' }, { result: 'shown' }],
      [3, {}, { result: 'null' }],
      [4, { error: 'no such room' }, { error: 'no such room' }],
    ] as const) {
      const id = `tool-${n}`
      const returned = calls.callPage(callId, { ...PARAMS, id })
      t.match(await client.got('tool.call', { call_id: id }), { name: 'show_room', arguments: { id: '7' } })
      client.send({ type: 'tool.result', call_id: id, ...answer })
      t.same(await returned, read)
    }
    client.send({ type: 'tool.result', call_id: 'tool-4', result: 1 })
    t.match(await client.got('error'), { code: 'unknown_tool_call' }, 'an answer counts once')
    client.send({ type: 'tool.result', call_id: 5 })
    await client.got('error', { code: 'invalid_message' })
    client.send({ type: 'end' })
  })

  t.test('and one that no body of a request could hold is refused before anything is made of it', async (t) => {
    const { client, callId } = await open()
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    const send = (result: string, id = 'x') =>
      client.socket.send(`{"type":"tool.result","call_id":"${id}","result":${result}}`)
    const returned = calls.callPage(callId, { ...PARAMS, id: 'tool-deep' })
    await client.got('tool.call', { call_id: 'tool-deep' })
    const manyFields = `[${'{},'.repeat(6_000)}0]`
    const refusals = () => client.messages.filter(({ code }) => code === 'malformed_message')
    for (const [n, [result, words]] of [
      [nested(5_000), /64 levels/] as const,
      [nested(64), /64 levels/] as const,
      [manyFields, /5000 fields/] as const,
    ].entries()) {
      send(result)
      send(result, 'tool-deep')
      await until(() => refusals().length === 2 * (n + 1))
      t.match(refusals().at(-1)?.message, words)
    }
    send(nested(60), 'tool-deep')
    t.same(await returned, { result: nested(60) }, 'the session goes on')
    client.send({ type: 'end' })
  })

  t.test('in time', async (t) => {
    const { client, callId } = await open()
    t.same(await calls.callPage(callId, { ...PARAMS, timeoutMs: 50 }), { error: 'it did not answer within 50 ms' })
    client.send({ type: 'end' })
  })

  t.test('and nobody waits for a page that is gone, nor for more than it can do', async (t) => {
    const { client, callId } = await open()
    const returned = Array.from({ length: 20 }, (_, n) => calls.callPage(callId, { ...PARAMS, id: `tool-${n}` }))
    t.same(await returned[19], { error: 'it has too much to do already' })
    client.socket.close(1000)
    t.same(await returned[0], { error: 'the caller has left' })
    t.equal(calls.callPage('another', PARAMS), undefined)
  })
})
