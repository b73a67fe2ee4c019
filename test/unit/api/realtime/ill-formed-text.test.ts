import t from 'tap'
import type { OpenConversation, SessionPort } from '../../../../runtime/call/link/linked-conversation.ts'
import type { CallEventBody } from '../../../../runtime/call/log/events.ts'
import { callEvents } from '../../../../store/calls/call-events.ts'
import {
  endedCall,
  makeCall,
  openSession,
  type RealtimeNode,
  startNode,
  startWorker,
  until,
  type Waiting,
} from '../../../support/instance/realtime-node.ts'
import { ILL_FORMED, NO_ESCAPES } from '../../../support/world/ill-formed.ts'

const place = { start_ms: 0, end_ms: 1 }

/** What a conversation tells of words that came from elsewhere. */
const WAYS_IN: Readonly<Record<string, (text: string) => CallEventBody>> = {
  'words of a recogniser': (text) => ({ type: 'words', text, ...place, final: true }),
  'a turn': (text) => ({ type: 'turn', text, ...place }),
  'what a model said': (text) => ({ type: 'heard', text, ...place, interrupted: false, final: true }),
  'the fault of a provider': (sentence) => ({ type: 'fault', stage: 'llm', sentence }),
}

/** Tells what the test says instead of having a conversation. */
function puppet() {
  const ports = new Map<string, SessionPort>()
  const open: OpenConversation = async ({ callId }, port) => {
    ports.set(callId, port)
    port.state('listening')
    return { audio() {}, input() {}, played() {}, close: async () => {} }
  }
  return { open, of: (call: Waiting) => ports.get(call.callId)! }
}

async function eventsOf(node: RealtimeNode, { workspaceId, callId }: Waiting) {
  const call = { id: callId, createdAt: new Date() }
  return (await callEvents(node.store.tenant(workspaceId), call, 0, 1_000)).events
}

/** What the workspace was told of the call. */
async function toldOf(
  node: RealtimeNode,
  { workspaceId, callId }: Waiting,
): Promise<{ type: string; data: unknown }[]> {
  const { rows } = await node.store.pool.query(
    `select type, data from workspace_events where workspace_id = $1 and subject = $2 and type like 'call.t%' order by seq`,
    [workspaceId, callId],
  )
  return rows
}

t.test('ill-formed text of a call costs neither it nor a call of another workspace anything', async (t) => {
  const results: string[] = []
  const node = await startNode(t, {
    answers: {
      tool: async (_, { arguments: given }) => {
        results.push(JSON.stringify(given))
        return { output: `result ${Object.values(given)[0]}` }
      },
    },
  })
  const { open, of } = puppet()
  await startWorker(t, [node], { openConversation: open })
  const other = await makeCall(node)
  const otherClient = await openSession(t, node, other)

  for (const [kind, { text, clean }] of Object.entries({
    ...ILL_FORMED,
    'no escape': { text: NO_ESCAPES, clean: NO_ESCAPES },
  })) {
    await t.test(kind, async (t) => {
      const call = await makeCall(node)
      const client = await openSession(t, node, call)
      for (const told of Object.values(WAYS_IN)) of(call).tell(told(text))
      const ask = { id: 't', name: 'book', arguments: { [text]: text } }
      const { output } = await of(call).ask('tool', ask, AbortSignal.timeout(30_000))
      t.equal(output, `result ${clean}`)
      t.equal(results.at(-1), JSON.stringify({ [clean]: clean }))
      of(other).tell({ type: 'turn', text: kind, ...place })
      client.send({ type: 'end' })
      const { turns } = await endedCall(node, call)
      t.same(
        turns.map(({ text }) => text),
        [clean, clean],
      )
      await until(async () => (await eventsOf(node, call)).at(-1)?.type === 'ended')
      const events = await eventsOf(node, call)
      t.match(
        events.filter(({ type }) => ['words', 'turn', 'heard'].includes(type)),
        [{ text: clean }, { text: clean }, { text: clean }],
      )
      t.match(
        events.filter(({ type }) => type === 'fault' || type.startsWith('tool_')),
        [{ sentence: clean }, { arguments: { [clean]: clean } }, { result: `result ${clean}` }],
      )
      t.match(await toldOf(node, call), [
        { type: 'call.turn', data: { text: clean } },
        { type: 'call.turn', data: { text: clean } },
        { type: 'call.tool_called', data: { arguments: { [clean]: clean } } },
      ])
      await until(async () => (await toldOf(node, other)).some(({ data }) => (data as { text: string }).text === kind))
    })
  }

  otherClient.send({ type: 'end' })
  const { turns } = await endedCall(node, other)
  t.same(
    turns.map(({ text }) => text),
    [...Object.keys(ILL_FORMED), 'no escape'],
  )
  await until(async () => (await eventsOf(node, other)).at(-1)?.type === 'ended')
  t.equal((await eventsOf(node, other)).filter(({ type }) => type === 'turn').length, turns.length)
})

t.test('a client is told that ill-formed text is refused, and its session goes on', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node])
  const call = await makeCall(node)
  const client = await openSession(t, node, call)
  for (const { text } of Object.values(ILL_FORMED)) {
    client.messages.length = 0
    client.send({ type: 'text', text })
    t.match(await client.got('error'), {
      code: 'invalid_message',
      message: /"text".* must be valid Unicode text without NUL/,
    })
    client.messages.length = 0
    client.send({ type: 'tool.result', call_id: 'x', result: { a: [{ [text]: 1 }] } })
    t.match(await client.got('error'), { code: 'invalid_message', message: /Unicode/ })
  }
  client.send({ type: 'text', text: NO_ESCAPES })
  await client.got('transcript', { text: `2: ${NO_ESCAPES}` })
  client.send({ type: 'end' })
  const { turns } = await endedCall(node, call)
  t.match(turns, [{ role: 'assistant' }, { text: NO_ESCAPES }, { text: `2: ${NO_ESCAPES}` }])
})

t.test('a row that the journal is refused costs no other call its events', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node])
  const [poisoned, other] = [await makeCall(node), await makeCall(node)]
  await node.store.pool.query(`alter table call_events add check (call_id <> '${poisoned.callId}')`)
  await node.store.pool.query(`alter table call_turns add check (call_id <> '${poisoned.callId}')`)
  for (const call of [poisoned, other]) {
    const client = await openSession(t, node, call)
    client.send({ type: 'text', text: 'how are you' })
    await client.got('transcript', { text: '2: how are you' })
    client.send({ type: 'end' })
  }
  const [first, second] = [await endedCall(node, poisoned), await endedCall(node, other)]
  t.match(first.call, { status: 'completed', llm_input_tokens: 10 })
  t.equal(first.turns.length, 0)
  t.equal(second.turns.length, 3)
  const isWritten = async () => (await eventsOf(node, other)).at(-1)?.type === 'ended'
  await until(isWritten, () => 'the events of the other call', 15_000)
  t.equal((await toldOf(node, other)).length, 3)
  t.same(await eventsOf(node, poisoned), [])
  // Nothing of what was refused is kept anywhere: once the database takes such rows, a new call is written as ever.
  const next = await makeCall(node, undefined, poisoned.workspaceId)
  const client = await openSession(t, node, next)
  client.send({ type: 'end' })
  await endedCall(node, next)
  await until(async () => (await eventsOf(node, next)).at(-1)?.type === 'ended')
})
