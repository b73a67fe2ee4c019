import t from 'tap'
import { HeldAudio, Marks } from '../../../runtime/session/recovery.ts'
import {
  endedCall,
  forkWorker,
  makeCall,
  openSession,
  RealtimeClient,
  type RealtimeNode,
  startNode,
  startWorker,
  until,
  workerReady,
} from '../../support/realtime-node.ts'
import { FINAL_STT_SECONDS, scriptedConversation } from '../../support/scripted-conversation.ts'

const workerOfOnlyCall = (node: RealtimeNode): string => {
  const [busy] = node.sessions.workers().filter((worker) => worker.activeSessions > 0)
  return busy?.workerId ?? ''
}

t.test('a call goes on in another worker when its own is killed', async (t) => {
  const node = await startNode(t)
  const workers = new Map([
    ['one', await forkWorker(t, node, 'one')],
    ['two', await forkWorker(t, node, 'two')],
  ])
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  client.send({ type: 'text', text: 'how are you' })
  await client.got('transcript', { text: '2: how are you' })
  client.send({ type: 'text', text: 'recite' })
  await until(() => workerOfOnlyCall(node) !== '')
  const first = workerOfOnlyCall(node)

  client.send({ type: 'text', text: 'die' })
  const diedAtMs = performance.now()
  await client.got('agent.state', { state: 'thinking' })
  await client.got('transcript', { text: 'back after 4: one two' })
  const silentMs = performance.now() - diedAtMs
  t.ok(silentMs < 3_000, `the agent was back after ${silentMs.toFixed()} ms`)
  t.equal(client.closeCode, undefined, 'the caller stayed connected')
  t.not(workerOfOnlyCall(node), first)
  await until(() => workers.get(first)?.signalCode === 'SIGKILL')

  client.send({ type: 'text', text: 'and now' })
  await client.got('transcript', { text: '6: and now' })
  client.send({ type: 'end' })
  const { call, turns } = await endedCall(node, waiting)
  t.match(call, { status: 'completed', end_reason: 'caller_hangup' })
  t.same(
    turns.map(({ role, text, interrupted }) => `${role}: ${text}${interrupted ? '—' : ''}`),
    [
      'assistant: Hello Bob',
      'user: how are you',
      'assistant: 2: how are you',
      'assistant: one two—',
      'assistant: back after 4: one two',
      'user: and now',
      'assistant: 6: and now',
    ],
  )
  const times = turns.map(({ start_ms }) => start_ms)
  t.same(
    times,
    [...times].sort((a, b) => a - b),
    'times count from the answer on, over both workers',
  )
})

t.test('what a worker used is in the call log, the last seconds and answers cut off by its death too', async (t) => {
  const node = await startNode(t)
  await forkWorker(t, node, 'one')
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  client.send({ type: 'text', text: 'how are you' })
  await client.got('transcript', { text: '2: how are you' })
  client.send({ type: 'text', text: 'answer and die' })
  await client.got('agent.state', { state: 'thinking' })
  await startWorker(t, [node])
  await client.got('transcript', { text: 'back after 5: dying' })
  client.send({ type: 'text', text: 'and now' })
  await client.got('transcript', { text: '7: and now' })
  client.send({ type: 'end' })
  const { call } = await endedCall(node, waiting)
  t.equal(call.llm_input_tokens, 20)
  t.equal(call.stt_seconds, 0.5 + 0.5 + FINAL_STT_SECONDS, 'what is told after the end counts')
  t.equal(call.turn_latencies_ms.length, 4, 'every answer was measured')
})

t.test('a call ends soon though its worker does not say what it used', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node], {
    openConversation: async (open, port) => {
      const conversation = await scriptedConversation(open, port)
      return Object.assign(conversation, { close: () => new Promise<void>(() => undefined) })
    },
  })
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  client.send({ type: 'end' })
  t.match((await endedCall(node, waiting)).call, { status: 'completed' })
})

t.test('a caller whose worker is gone hears that the line lives', async (t) => {
  const node = await startNode(t)
  await forkWorker(t, node, 'only')
  const client = await openSession(t, node, await makeCall(node))
  client.send({ type: 'text', text: 'die' })
  await client.got('agent.state', { state: 'thinking' })
  const before = client.audioBytes
  const lostAtMs = performance.now()
  await until(() => client.audioBytes > before)
  t.ok(performance.now() - lostAtMs < 4_000)
  await startWorker(t, [node])
  await client.got('transcript', { text: 'back after 1: Hello Bob' })
})

t.test('what a caller types while no worker is there reaches the next one', async (t) => {
  const node = await startNode(t, { queueWaitMs: 300 })
  await forkWorker(t, node, 'first')
  const client = await openSession(t, node, await makeCall(node))
  client.send({ type: 'text', text: 'die' })
  await client.got('agent.state', { state: 'thinking' })
  client.send({ type: 'text', text: 'anybody there' })
  await startWorker(t, [node])
  await client.got('transcript', { text: '3: anybody there' })
})

t.test('a call whose worker died ends with worker_lost when no other is free', async (t) => {
  const node = await startNode(t, { recoveryWaitMs: 300 })
  await forkWorker(t, node, 'only')
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  client.send({ type: 'text', text: 'die' })
  t.match(await client.got('session.ended'), { reason: 'worker_lost' })
  t.match((await endedCall(node, waiting)).call, {
    status: 'failed',
    end_reason: 'worker_lost',
    error: 'The voice worker was lost and no other was free',
  })
})

t.test('a worker that stops finishes its calls and takes no new one', async (t) => {
  const node = await startNode(t, { queueWaitMs: 300 })
  const child = await forkWorker(t, node, 'draining')
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  child.kill('SIGTERM')
  await until(() => node.sessions.workers()[0]?.state === 'draining')

  const refused = await makeCall(node)
  await new RealtimeClient(node, refused.token).got('session.ended', { reason: 'no_capacity' })
  t.match((await endedCall(node, refused)).call, { end_reason: 'no_capacity' })

  client.send({ type: 'text', text: 'still here' })
  await client.got('transcript', { text: '2: still here' })
  client.send({ type: 'end' })
  t.match((await endedCall(node, waiting)).call, { status: 'completed', end_reason: 'caller_hangup' })
  await until(() => child.exitCode === 0)
})

t.test('a worker that may not wait longer hands its calls to another', async (t) => {
  const node = await startNode(t)
  const leaving = await startWorker(t, [node], { workerId: 'leaving' })
  const client = await openSession(t, node, await makeCall(node))
  await startWorker(t, [node], { workerId: 'staying' })
  await leaving.stop(0)
  await client.got('transcript', { text: 'back after 1: Hello Bob' })
  t.same(
    node.sessions.workers().map(({ workerId }) => workerId),
    ['staying'],
  )
})

t.test('a call survives a loss of Redis’ memory, and new ones find workers again', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node], { workerId: 'w', capacity: 2 })
  const first = await openSession(t, node, await makeCall(node))
  await node.redis.flushAll()
  // The beat of a worker renews its entry only now and then; a new worker comes at once.
  await startWorker(t, [node], { workerId: 'v', capacity: 1 })
  await workerReady(node, 'v')
  await openSession(t, node, await makeCall(node))
  first.send({ type: 'text', text: 'hello' })
  await first.got('transcript', { text: '2: hello' })
})

t.test('audio without a worker is kept for two seconds at most, the oldest going first', async (t) => {
  const held = new HeldAudio(8_000)
  const frame = new Uint8Array(320)
  for (let i = 0; i < 500; i++) {
    frame.fill(i)
    held.audio(frame, i * 160)
  }
  const got: unknown[] = []
  const link = { audio: (bytes: Uint8Array, timestamp: number) => got.push([bytes[0], timestamp]) }
  held.deliver(link)
  t.same(got.at(-1), [499 & 255, 499 * 160])
  t.same(got[0], [399 & 255, 399 * 160])
  held.deliver(link)
  t.equal(got.length, 101, 'delivered once')
})

t.test('a mark of a worker that died is not played back to the next', async (t) => {
  const marks = new Marks()
  const old = marks.issue(7)
  marks.forget()
  const fresh = marks.issue(7)
  t.equal(marks.take(old), undefined)
  t.equal(marks.take(fresh), 7)
  t.equal(marks.take(fresh), undefined, 'nor is a mark played twice')
})
