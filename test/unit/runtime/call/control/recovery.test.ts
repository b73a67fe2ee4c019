import t from 'tap'
import { Marks } from '../../../../../runtime/call/control/marks.ts'
import type { LinkedConversation, OpenConversation } from '../../../../../runtime/call/link/linked-conversation.ts'
import type { OpenSession } from '../../../../../runtime/call/link/messages.ts'
import type { SupervisorEvent } from '../../../../../runtime/call/log/events.ts'
import { type CallState, NOTHING_YET } from '../../../../../runtime/call/log/fold.ts'
import { PatchbayError } from '../../../../../runtime/lib/errors.ts'
import {
  endedCall,
  forkWorker,
  makeCall,
  openSession,
  RealtimeClient,
  type RealtimeNode,
  SAMPLE_RATE_HZ,
  startNode,
  startWorker,
  until,
  workerReady,
} from '../../../../support/instance/realtime-node.ts'
import type { Teardown } from '../../../../support/instance/services.ts'
import { FINAL_STT_SECONDS, scriptedConversation } from '../../../../support/phone/scripted-conversation.ts'
import { ownTime } from '../../../../support/world/own-time.ts'

/** A conversation that does nothing. */
const silent: LinkedConversation = {
  audio: () => undefined,
  input: () => undefined,
  played: () => undefined,
  close: async () => undefined,
}

/** A call that talks, and what its log says. */
async function talking(t: Teardown, node: RealtimeNode) {
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  const state = (): CallState => node.sessions.calls.stateOf(waiting.callId) ?? NOTHING_YET
  return { waiting, client, state }
}

const listening =
  (hear: (bytes: Uint8Array) => void): OpenConversation =>
  async () => ({ ...silent, audio: hear })

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
  const silentMs = ownTime(t)
  await client.got('agent.state', { state: 'thinking' })
  await client.got('transcript', { text: 'one two', final: true })
  await client.got('transcript', { text: 'back after 4: one two' })
  t.ok(silentMs() < 3_000, `the agent was back after ${silentMs()} ms`)
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
  t.equal(call.llm_input_tokens, 30, 'two answers, and the one that its worker took with it')
  t.equal(call.llm_estimated_tokens, 12, 'which is a guess, its answer too')
  t.equal(call.tts_characters, 'how are you'.length + 'dying'.length + 'and now'.length)
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
  await until(() => client.audioBytes > before)
  await startWorker(t, [node])
  await client.got('transcript', { text: 'back after 1: Hello Bob' })
})

t.test('what a caller types while no worker is there reaches the next one', async (t) => {
  const node = await startNode(t)
  await forkWorker(t, node, 'first')
  const client = await openSession(t, node, await makeCall(node))
  client.send({ type: 'text', text: 'die' })
  await client.got('agent.state', { state: 'thinking' })
  client.send({ type: 'text', text: 'anybody there' })
  await startWorker(t, [node])
  await client.got('transcript', { text: '3: anybody there' })
})

t.test('what a caller types to a worker that dies before it takes it reaches the next one', async (t) => {
  const node = await startNode(t)
  const first = await forkWorker(t, node, 'first')
  const { client, state } = await talking(t, node)
  client.send({ type: 'text', text: 'deaf' })
  client.send({ type: 'text', text: 'are you there' })
  client.send({ type: 'dtmf', digit: '4' })
  await until(
    () =>
      state()
        .waiting.map(({ type }) => type)
        .join() === 'typed,key',
  )
  first.kill('SIGKILL')
  await startWorker(t, [node])
  await client.got('transcript', { text: '3: are you there' })
  await client.got('transcript', { text: 'key 4', role: 'user' })
  t.same(state().waiting, [])
})

t.test('what a caller says to a worker that dies before it was a turn is heard by the next one', async (t) => {
  const node = await startNode(t)
  const first = await forkWorker(t, node, 'first')
  const { client, state } = await talking(t, node)
  client.send({ type: 'text', text: 'deaf' })
  const frame = Buffer.alloc((SAMPLE_RATE_HZ / 50) * 2, 0x11)
  for (let i = 0; i < 40; i++) client.socket.send(frame)
  client.send({ type: 'dtmf', digit: '9' })
  await until(
    () =>
      state()
        .waiting.map(({ type }) => type)
        .join() === 'key',
  )
  first.kill('SIGKILL')
  const heard: number[] = []
  await startWorker(t, [node], { openConversation: listening((bytes) => heard.push(bytes.byteLength)) })
  await until(() => heard.length >= 40)
  t.equal(
    heard.reduce((all, bytes) => all + bytes, 0),
    40 * frame.byteLength,
  )
})

t.test('a tool that runs when its worker dies is called once, and the next worker says what came of it', async (t) => {
  const result = Promise.withResolvers<{ output: string }>()
  const keys: string[] = []
  const node = await startNode(t, {
    answers: {
      tool: (_callId, _params, key) => {
        keys.push(key)
        return result.promise
      },
    },
  })
  const first = await forkWorker(t, node, 'first')
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  client.send({ type: 'text', text: 'tool' })
  await until(() => keys.length === 1)
  first.kill('SIGKILL')
  await startWorker(t, [node])
  await until(() => node.sessions.workers().length === 1 && node.sessions.workers()[0]?.workerId !== 'first')
  result.resolve({ output: 'Booked for Monday.' })
  await client.got('transcript', { text: 'Booked for Monday.' })
  t.same(keys, [`${waiting.callId}:tool-1`])
})

t.test('the next worker knows who picked up, what was consented to and where the greeting stood', async (t) => {
  const node = await startNode(t)
  const first = await startWorker(t, [node], {
    workerId: 'first',
    openConversation: async (_open, port) => {
      port.tell({ type: 'greeting', step: 'notice' })
      port.tell({ type: 'answered_by', by: 'screening', source: 'agent' })
      port.tell({ type: 'greeting', step: 'consent_asked' })
      port.tell({ type: 'consent', consent: 'refused' })
      return silent
    },
  })
  const { state } = await talking(t, node)
  await until(() => state().consent === 'refused')
  const told = Promise.withResolvers<OpenSession>()
  await startWorker(t, [node], {
    openConversation: async (open) => {
      told.resolve(open)
      return silent
    },
  })
  await first.stop(0)
  t.match((await told.promise).resume, { consent: 'refused', greeting: 'consent_asked', answeredBy: 'screening' })
})

t.test(
  'a supervisor keeps the call when its worker dies, and what they did meanwhile reaches the next one',
  async (t) => {
    const node = await startNode(t)
    const who = { id: 'u', name: 'Sue' }
    const taking =
      (takes: readonly string[]): OpenConversation =>
      async (_open, port) => ({
        ...silent,
        input: ({ type, seq }) => {
          if (takes.includes(type)) port.tell({ type: 'inputs_taken', inputs: [seq] })
        },
      })
    const first = await startWorker(t, [node], { workerId: 'first', openConversation: taking(['took_over']) })
    const { waiting, state } = await talking(t, node)
    const does = (event: SupervisorEvent) => node.sessions.calls.supervised(waiting.callId, event)
    t.equal(does({ type: 'took_over', who }), true)
    await until(() => state().waiting.length === 0)
    does({ type: 'whispered', who, text: 'Offer a voucher.' })
    does({ type: 'gave_back', who, summary: 'They get a voucher.' })
    const told = Promise.withResolvers<OpenSession>()
    const inputs: string[] = []
    await startWorker(t, [node], {
      openConversation: async (open) => {
        told.resolve(open)
        return { ...silent, input: ({ type }) => void inputs.push(type) }
      },
    })
    await first.stop(0)
    const { resume } = await told.promise
    t.match(resume, { takenOver: true, notes: [{ text: /in your place/ }] })
    await until(() => inputs.length === 2)
    t.same(inputs, ['whispered', 'gave_back'])
    t.equal(does({ type: 'left', who }), true)
    t.equal(node.sessions.calls.supervised('no such call', { type: 'left', who }), false)
  },
)

t.test('the caller’s last words are in the call log, though they become a turn when the call is over', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node], {
    openConversation: async (_open, port) => ({
      ...silent,
      close: async () => port.tell({ type: 'turn', text: 'Thank you, bye.', start_ms: 5, end_ms: 10 }),
    }),
  })
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  client.send({ type: 'end' })
  const { call, turns } = await endedCall(node, waiting)
  t.equal(call.disposition, 'completed', 'somebody spoke')
  t.same(
    turns.map(({ text }) => text),
    ['Thank you, bye.'],
  )
})

t.test('a worker that fails to open a conversation does not fail the call: another one opens it', async (t) => {
  const node = await startNode(t)
  let failures = 0
  await startWorker(t, [node], {
    workerId: 'broken',
    openConversation: () => {
      failures++
      throw new Error('out of memory')
    },
  })
  await startWorker(t, [node], { workerId: 'sound' })
  const clients = await Promise.all([1, 2, 3].map(async () => openSession(t, node, await makeCall(node))))
  for (const client of clients) await client.got('transcript', { text: 'Hello Bob' })
  t.ok(failures > 0)
})

t.test('a call that no worker can open ends, and says why', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node], {
    openConversation: () => {
      throw new PatchbayError('timeout', { params: { action: 'Opening the voice', timeoutMs: 10_000 } })
    },
  })
  const waiting = await makeCall(node)
  new RealtimeClient(node, waiting.token)
  const { call } = await endedCall(node, waiting)
  t.match(call, { status: 'failed', end_reason: 'error', error: /Opening the voice/ })
})

t.test('a malformed message moves its session to another worker, and no other session', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node], { workerId: 'first' })
  const bystander = await openSession(t, node, await makeCall(node))
  const client = await openSession(t, node, await makeCall(node))
  client.send({ type: 'text', text: 'garble' })
  await client.got('transcript', { text: 'back after 1: Hello Bob' })
  bystander.send({ type: 'text', text: 'hello' })
  await bystander.got('transcript', { text: '2: hello' })
})

t.test('what kills one worker after the other is left out, and the call goes on', async (t) => {
  const node = await startNode(t)
  let opened = 0
  await startWorker(t, [node], {
    openConversation: async (open, port) => {
      opened++
      const scripted = await scriptedConversation(open, port)
      return {
        ...silent,
        input(event) {
          if (event.type !== 'typed' || event.text !== 'poison') scripted.input(event)
          else port.tell({ type: 'turn', text: 'poison', start_ms: Number.NaN, end_ms: 0 })
        },
      }
    },
  })
  const { client, state } = await talking(t, node)
  client.send({ type: 'text', text: 'poison' })
  await until(() => state().faults.length > 0)
  t.same(state().waiting, [])
  await until(() => opened === 4)
  client.send({ type: 'text', text: 'hello' })
  await until(() => state().turns.some(({ text }) => text === 'hello'))
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
  const node = await startNode(t, { queueWaitMs: 3_000 })
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

t.test('a mark of a worker that died is not played back to the next', async (t) => {
  const marks = new Marks()
  const old = marks.issue(7)
  marks.forget()
  const fresh = marks.issue(7)
  t.equal(marks.take(old), undefined)
  t.equal(marks.take(fresh), 7)
  t.equal(marks.take(fresh), undefined, 'nor is a mark played twice')
})
