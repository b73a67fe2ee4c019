import t from 'tap'
import { type HandoffOrder, handedOffEvent, handoffFault } from '../../../../../runtime/call/control/hand-off.ts'
import { QUEUED, type SessionState, step } from '../../../../../runtime/call/control/session.ts'
import type {
  LinkedConversation,
  OpenConversation,
  SessionPort,
} from '../../../../../runtime/call/link/linked-conversation.ts'
import type { OpenSession } from '../../../../../runtime/call/link/messages.ts'
import { CallLog } from '../../../../../runtime/call/log/call-log.ts'
import type { CallEventBody } from '../../../../../runtime/call/log/events.ts'
import { resumeOf } from '../../../../../runtime/call/log/resume.ts'
import { HANDED_OFF_OUTPUT, MAX_HANDOFFS } from '../../../../../runtime/call/types/hand-off.ts'
import { PatchbayError } from '../../../../../runtime/lib/errors.ts'
import {
  endedCall,
  makeCall,
  openSession,
  type RealtimeNode,
  startNode,
  startWorker,
  until,
} from '../../../../support/instance/realtime-node.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'

const clock = { nowMs: () => 0, monotonicMs: () => 0 }
const agent = (id: string) => ({ ...AGENT_SPEC, agentId: id, agentName: id.toUpperCase() })

function logOf(...events: CallEventBody[]) {
  const log = new CallLog(clock, [])
  for (const event of events) log.append(event)
  return log
}
const turn = (text: string): CallEventBody => ({ type: 'turn', text, start_ms: 0, end_ms: 1 })
const heard = (text: string, interrupted = false): CallEventBody => ({
  ...{ type: 'heard', text, start_ms: 0, end_ms: 1, interrupted, final: true },
})
const handOff = (from: string, to: string, carries: HandoffOrder['carries'] = 'all'): CallEventBody => ({
  ...handedOffEvent({ agent: agent(to), reason: `for ${to}`, carries }, agent(from), logOf().state),
})

t.test('a call is handed on five times, and back to an agent only after new words of the caller', (t) => {
  const words = turn('billing please')
  t.equal(handoffFault(logOf(words).state, 'a', 'b'), undefined)
  t.match(handoffFault(logOf(words).state, 'a', 'a'), /have the call yourself/)
  t.match(handoffFault(logOf(words, handOff('a', 'b')).state, 'b', 'a'), /the caller has said nothing since/)
  const round = [words, handOff('a', 'b'), handOff('b', 'c')]
  t.match(handoffFault(logOf(...round).state, 'c', 'a'), /the caller has said nothing since/, 'over a third agent')
  t.equal(handoffFault(logOf(...round, turn('no, the first one')).state, 'c', 'a'), undefined)
  const often = Array.from({ length: MAX_HANDOFFS }, (_, i) => [turn('on'), handOff(`${i}`, `${i + 1}`)]).flat()
  t.match(handoffFault(logOf(...often, turn('on')).state, '5', '6'), /handed on 5 times already/)
  t.end()
})

t.test('the next agent knows what is carried, reads of the tools before, and counts its own on', (t) => {
  const before: CallEventBody[] = [
    heard('Hello'),
    turn('my bill'),
    { type: 'tool_called', id: 'tool-1', name: 'find', arguments: { no: 7 } },
    { type: 'tool_returned', id: 'tool-1', result: 'paid', ms: 1 },
    { type: 'tool_called', id: 'tool-2', name: 'hand_off', arguments: {} },
    { type: 'tool_returned', id: 'tool-2', result: HANDED_OFF_OUTPUT, ms: 1 },
    heard('One moment'),
  ]
  const withAll = resumeOf(logOf(...before, handOff('a', 'b')).state)
  t.same(
    withAll.turns.map(({ text }) => text),
    ['Hello', 'my bill', 'One moment'],
  )
  t.same(withAll.tools, [], 'they are not its own')
  t.equal(withAll.toolCalls, 2, 'no name of a call is used twice')
  t.equal(withAll.greeting, 'done')
  t.equal(withAll.owesReply, true)
  t.match(withAll.notes, [
    { text: 'The agent before called find with {"no":7} and got: paid', turn: 2 },
    { text: /^You take over this call from the agent "A"\. Its reason: for b\n(.|\n)*do not greet again/, turn: 3 },
  ])

  for (const carries of ['none', 'summary'] as const) {
    const log = logOf(...before)
    const order = { agent: agent('b'), reason: 'r', carries, ...(carries === 'summary' ? { summary: 'a bill' } : {}) }
    log.append(handedOffEvent(order, agent('a'), log.state))
    log.append(turn('hm'))
    const resume = resumeOf(log.state)
    t.same(
      resume.turns.map(({ text }) => text),
      ['hm'],
    )
    t.equal(resume.notes.length, 1)
    t.equal(resume.notes[0]!.turn, 0)
    t.match(resume.notes[0]!.text, /The caller heard last: One moment/)
    t.equal(resume.notes[0]!.text.includes('What was talked about: a bill'), carries === 'summary')
    t.notMatch(JSON.stringify(resume), /my bill|paid/)
    t.equal(resume.owesReply, undefined, 'the caller speaks')
  }
  t.end()
})

t.test('an agent that nobody heard yet still owes the caller its first words', (t) => {
  const log = logOf(heard('Hello'), turn('on'), heard('One moment', true), handOff('a', 'b'))
  t.equal(log.state.said, undefined, 'what the agent before did not finish is not said')
  t.equal(log.state.owesReply, true)
  log.append({ type: 'said', text: 'Billing here' })
  t.match(resumeOf(log.state), { owesReply: true, said: 'Billing here' })
  log.append(heard('Billing'))
  t.equal(log.state.owesReply, false)
  t.end()
})

t.test('an agent that could not take the call leaves it as it was', (t) => {
  const log = logOf(heard('Hello'), turn('my bill'))
  log.append({ type: 'tool_called', id: 'tool-1', name: 'find', arguments: {} })
  log.append({ type: 'tool_returned', id: 'tool-1', result: 'paid', ms: 1 })
  log.append(handOff('a', 'b', 'none'))
  const failed = { agent: agent('a'), reason: 'B could not take it.', carries: 'all', failed: true } as const
  log.append(handedOffEvent(failed, agent('b'), log.state))
  const resume = resumeOf(log.state)
  t.equal(resume.turns.length, 2)
  t.match(resume.tools, [{ name: 'find', result: 'paid' }])
  t.match(resume.notes.at(-1)?.text, /The call is back with you: B could not take it\./)
  t.match(handoffFault(log.state, 'a', 'b'), /said nothing since/, 'it is not tried at once again')
  t.end()
})

t.test('a hand-off keeps the slot of the worker, and where none is left waits as after a lost one', (t) => {
  const waits = { queueMs: 10, recoveryMs: 1_000 }
  const talks: SessionState = { ...QUEUED, phase: 'in_progress', worker: 'joined', answeredAtMs: 0 }
  const offered = step(talks, { type: 'handed_off' }, 5_000, waits)
  t.same(offered.effects, [{ type: 'offer_next' }])
  t.same(step(offered.state, { type: 'accepted' }, 5_001, waits).effects, [{ type: 'join_next' }])
  t.same(step(offered.state, { type: 'declined' }, 5_001, waits).effects, [{ type: 'hold' }, { type: 'seek' }])
  t.same(step({ ...talks, worker: 'none' }, { type: 'handed_off' }, 5_000, waits).effects, [], 'a worker is looked for')
  t.same(step({ ...talks, transferred: true }, { type: 'handed_off' }, 5_000, waits).effects, [])
  const lost = step(offered.state, { type: 'worker_lost' }, 5_001, waits)
  t.same(lost.effects, [{ type: 'hold' }, { type: 'seek' }])
  t.same(step({ ...lost.state, worker: 'offered' }, { type: 'accepted' }, 5_002, waits).effects, [{ type: 'resume' }])
  t.end()
})

/** A conversation that says who it is and what it was told, calls the tool of that name, and uses ten tokens. */
const talking: OpenConversation = async (open, port) => {
  const { systemPrompt } = open.agent
  if (systemPrompt === 'refuse' || (systemPrompt === 'once' && open.resume !== undefined))
    throw new PatchbayError('plugin', { params: { reason: 'no such voice' } })
  const say = (text: string) => port.tell(heard(text))
  let calls = open.resume?.toolCalls ?? 0
  say(introduction(open))
  const conversation: LinkedConversation = {
    audio: () => undefined,
    played: () => undefined,
    input(event) {
      if (event.type !== 'typed') return
      port.tell({ type: 'turn', text: event.text, start_ms: 0, end_ms: 0, inputs: [event.seq] })
      port.tell({ type: 'usage', stage: 'llm', input_tokens: 10, output_tokens: 0 })
      const params = { id: `tool-${++calls}`, name: event.text, arguments: {} }
      const asked = port.ask('tool', params, AbortSignal.timeout(60_000)).then(({ output }) => {
        if (output !== HANDED_OFF_OUTPUT) say(output)
        else if (!open.agent.systemPrompt.startsWith('talks on')) leave(port, params.id)
      })
      asked.catch(() => undefined)
    },
    close: async () => port.tell({ type: 'usage', stage: 'llm', input_tokens: 1, output_tokens: 0 }),
  }
  return conversation
}
/** All is said. */
const leave = (port: SessionPort, id: string) =>
  void port.ask('hand_off', { id }, AbortSignal.timeout(60_000)).catch(() => undefined)
const introduction = ({ agent, resume }: OpenSession) =>
  `${agent.agentName} after ${resume?.turns.length ?? 0}, ${resume?.notes.length ?? 0} notes`

/** Agents that callers name are handed the call. */
async function handingNode(
  t: Parameters<typeof startNode>[0],
  targets: Record<string, Partial<HandoffOrder['agent']>>,
) {
  const asked: [string, string][] = []
  const node: RealtimeNode = await startNode(t, {
    answers: {
      async tool({ agentId }, { id, name }) {
        asked.push([agentId, id])
        const next = targets[name]
        if (next === undefined) return { output: `no ${name}` }
        const order = { agent: { ...agent(name), ...next }, faults: [], reason: 'asked for', carries: 'all' as const }
        return { output: '', handoff: order }
      },
    },
  })
  return { node, asked }
}
const [B, C] = ['01890000-0000-7000-8000-00000000000b', '01890000-0000-7000-8000-00000000000c']

t.test('the call goes on with the next agent in the one slot there is, and what each used is its own', async (t) => {
  const { node, asked } = await handingNode(t, { b: { agentId: B }, c: { agentId: C } })
  await startWorker(t, [node], { capacity: 1, openConversation: talking })
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  await client.got('transcript', { text: 'Ada after 0, 0 notes' })
  client.send({ type: 'text', text: 'b' })
  await client.got('transcript', { text: 'B after 2, 1 notes' })
  client.send({ type: 'text', text: 'find' })
  await client.got('transcript', { text: 'no find' })
  client.send({ type: 'text', text: 'c' })
  await client.got('transcript', { text: 'C after 6, 3 notes' })
  t.equal(client.closeCode, undefined, 'the caller stayed connected')
  client.send({ type: 'end' })
  const { call, turns } = await endedCall(node, waiting)
  t.match(call, { status: 'completed', end_reason: 'caller_hangup' })
  t.match(asked, [
    [call.agent_id, 'tool-1'],
    [B, 'tool-2'],
    [B, 'tool-3'],
  ])
  t.equal(turns.filter(({ text }) => text.includes('after 0')).length, 1, 'one greeting')
  t.equal(call.llm_input_tokens, 33, 'all of the use is the call’s')
  const shares = async () =>
    (await node.store.tenant(waiting.workspaceId).db.selectFrom('call_shares').selectAll().execute()).sort((a, b) =>
      a.agent_id.localeCompare(b.agent_id),
    )
  await until(async () => (await shares()).length === 2)
  t.match(await shares(), [
    { agent_id: B, tokens: 21, cost_llm: 0 },
    { agent_id: C, tokens: 1 },
  ])
  const { rows } = await node.store.pool.query(
    'select agent_id, sum(n)::int as n, sum(tokens)::int as tokens from summed_calls where workspace_id = $1 group by 1',
    [waiting.workspaceId],
  )
  const sums = Object.fromEntries(rows.map(({ agent_id, n, tokens }) => [agent_id, [n, tokens]]))
  t.same(sums, { [call.agent_id]: [1, 11], [B]: [0, 21], [C]: [0, 1] })
})

t.test('an agent that no worker can run hands the call back, and the one before is told', async (t) => {
  const { node } = await handingNode(t, { b: { agentId: B, systemPrompt: 'refuse' } })
  await startWorker(t, [node], { capacity: 1, openConversation: talking })
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  client.send({ type: 'text', text: 'b' })
  await client.got('transcript', { text: 'Ada after 2, 2 notes' })
  client.send({ type: 'text', text: 'find' })
  await client.got('transcript', { text: 'no find' })
  client.send({ type: 'end' })
  const { call } = await endedCall(node, waiting)
  t.match(call, { status: 'completed', error: /The call stays: B: .*no such voice/ })
})

t.test('a call that neither agent can take ends, and is not passed to and fro', async (t) => {
  const { node } = await handingNode(t, { b: { agentId: B, systemPrompt: 'refuse' } })
  await startWorker(t, [node], { capacity: 1, openConversation: talking })
  const waiting = await makeCall(node, 'once')
  const client = await openSession(t, node, waiting)
  client.send({ type: 'text', text: 'b' })
  const { call } = await endedCall(node, waiting)
  t.match(call, { status: 'failed', error: /The call stays: B: .*no such voice/ })
})

t.test('two hand-offs at once are one', async (t) => {
  const { node } = await handingNode(t, { b: { agentId: B }, c: { agentId: C } })
  const outputs: string[] = []
  await startWorker(t, [node], {
    openConversation: async (open, port) => {
      if (open.resume === undefined) {
        const ask = (name: string) =>
          port.ask('tool', { id: `tool-${name}`, name, arguments: {} }, AbortSignal.timeout(60_000))
        setTimeout(() => {
          for (const name of ['b', 'c']) void ask(name).then(({ output }) => outputs.push(output))
          leave(port, 'tool-c')
          setTimeout(() => leave(port, 'tool-b'), 200)
        })
      }
      return talking(open, port)
    },
  })
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  await client.got('transcript', { text: 'B after 1, 2 notes' })
  t.match(outputs, [HANDED_OFF_OUTPUT, 'Another agent has the call by now.'])
  t.equal(node.sessions.calls.stateOf(waiting.callId)?.handoffs.length, 1)
})

t.test('a worker that is gone before the agent has said all leaves the call to the next agent', async (t) => {
  const { node, asked } = await handingNode(t, { b: { agentId: B } })
  const one = await startWorker(t, [node], { openConversation: talking })
  const waiting = await makeCall(node, 'talks on')
  const client = await openSession(t, node, waiting)
  client.send({ type: 'text', text: 'b' })
  await until(() => node.sessions.calls.stateOf(waiting.callId)?.tools[0]?.result === HANDED_OFF_OUTPUT)
  t.equal(node.sessions.calls.stateOf(waiting.callId)?.handoffs.length, 0, 'it is not handed off before')
  await startWorker(t, [node], { openConversation: talking })
  await one.stop(0)
  await client.got('transcript', { text: 'B after 2, 1 notes' })
  t.equal(asked.length, 1)
  client.send({ type: 'end' })
  t.match((await endedCall(node, waiting)).call, { status: 'completed' })
})

t.test('a hand-off that is decided while no worker runs the call needs none of the agent before', async (t) => {
  const decided = Promise.withResolvers<void>()
  const node = await startNode(t, {
    answers: {
      async tool() {
        await decided.promise
        const order = { agent: { ...agent('b'), agentId: B }, faults: [], reason: 'asked for', carries: 'all' } as const
        return { output: '', handoff: order }
      },
    },
  })
  const one = await startWorker(t, [node], { openConversation: talking })
  const waiting = await makeCall(node)
  const client = await openSession(t, node, waiting)
  client.send({ type: 'text', text: 'b' })
  await until(() => node.sessions.calls.stateOf(waiting.callId)?.tools.length === 1)
  await one.stop(0)
  decided.resolve()
  await until(() => node.sessions.calls.stateOf(waiting.callId)?.handoffs.length === 1)
  await startWorker(t, [node], { openConversation: talking })
  await client.got('transcript', { text: 'B after 2, 1 notes' })
  t.notOk(
    client.messages.some(({ text }) => String(text).startsWith('Ada after 2')),
    'it says nothing more',
  )
})
