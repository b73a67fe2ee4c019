import { once } from 'node:events'
import t from 'tap'
import type { ServerMessage } from '../../../api/realtime/messages.ts'
import { dialAgent, finishedLog, makeAgent } from '../../../scripts/demo/call.ts'
import type { Caller } from '../../../scripts/demo/caller.ts'
import type { RestClient } from '../../../scripts/demo/rest.ts'
import { type Instance, startInstance } from '../../support/instance/instance.ts'
import { hurry } from '../../support/world/hurry.ts'
import { waitUntil } from '../../support/world/wait-until.ts'
import { startReceiver } from '../../support/world/webhook-receiver.ts'

const limit = () => AbortSignal.timeout(300_000)
let instance: Instance

t.before(async () => {
  instance = await startInstance(t, { PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1' })
  hurry()
})

interface Line {
  question: string
  answer: string
  tool?: { name: string; arguments: Record<string, unknown> }
}

const agentOf = (agent_name: string, first_message: string, script: Line[]) => ({
  ...{ agent_name, first_message, system_prompt: `You are ${agent_name}.` },
  ...{ STT_provider: 'sim', TTS_provider: 'sim', TTS_voice: 'tone', LLM_provider: 'sim' },
  LLM_model: JSON.stringify({ firstTokenMs: 20, script }),
})

const BILL = 'I have a question about my bill'
const handOff = (name: string): Line['tool'] => ({ name, arguments: { reason: 'It is about a bill.' } })

/** The front desk, and billing, which hand callers to each other. */
async function twoAgents(): Promise<{ rest: RestClient; desk: string; billing: string }> {
  const { rest, agentId: desk } = await makeAgent(
    instance.url,
    agentOf('Front Desk', 'Welcome to the front desk.', [
      { question: BILL, answer: '', tool: handOff('hand_off_to_billing') },
      { question: 'the front desk please', answer: 'You are at the front desk again.' },
    ]),
  )
  const { agent_id: billing } = await rest.send<{ agent_id: string }>('POST', '/agents', {
    ...agentOf('Billing', 'Billing, good day.', [
      { question: BILL, answer: 'Your bill is paid.' },
      { question: 'the front desk please', answer: '', tool: handOff('hand_off_to_front_desk') },
    ]),
    tools: [{ type: 'handoff', to: desk, when: 'The caller wants the front desk.' }],
  })
  const tool = { type: 'handoff', to: billing, when: 'It is about a bill.', says: 'I connect you with billing.' }
  await rest.send('PUT', `/agents/${desk}`, { tools: [tool] })
  return { rest, desk, billing }
}

function agentTurns(caller: Caller): string[] {
  const turns: string[] = []
  caller.on('message', (message: ServerMessage) => {
    if (message.type === 'transcript' && message.role === 'assistant' && message.final) turns.push(message.text)
  })
  return turns
}

interface Logged {
  type: string
  at_ms: number
  [field: string]: unknown
}

async function eventsOf(rest: RestClient, callLogId: string): Promise<Logged[]> {
  const { items } = await rest.send<{ items: Logged[] }>('GET', `/calls/${callLogId}/events?page_size=200`)
  return items
}

t.test('a caller is handed on and back, greeted once, and each agent answers what it is asked', async (t) => {
  const signal = limit()
  const { rest, desk, billing } = await twoAgents()
  const { caller, callLogId } = await dialAgent(rest, desk, signal)
  t.teardown(() => caller.vanish())
  const turns = agentTurns(caller)
  const heard = (text: string) =>
    waitUntil(
      () => turns.includes(text),
      () => `"${text}" in ${JSON.stringify(turns)}`,
    )
  await heard('Welcome to the front desk.')
  caller.type(BILL)
  await heard('I connect you with billing.')
  const stopped = once(caller, 'agentStops', { signal })
  const [leftMs] = await stopped
  await heard('Your bill is paid.')
  caller.type('the front desk please')
  await heard('You are at the front desk again.')
  await caller.hangUp(signal)
  const log = await finishedLog(rest, callLogId, signal)
  t.match(log, { status: 'completed', agent_id: desk }, 'the call stays the first agent’s')
  t.same(
    log.transcript.map(({ role, text }) => `${role}: ${text}`),
    [
      'assistant: Welcome to the front desk.',
      `user: ${BILL}`,
      'assistant: I connect you with billing.',
      'assistant: Your bill is paid.',
      'user: the front desk please',
      'assistant: You are at the front desk again.',
    ],
    'nobody greets again',
  )
  const events = await eventsOf(rest, callLogId)
  t.match(
    events.filter(({ type }) => type === 'handed_off'),
    [
      {
        from: desk,
        to: billing,
        from_name: 'Front Desk',
        to_name: 'Billing',
        carries: 'all',
        reason: 'It is about a bill.',
      },
      { from: billing, to: desk },
    ],
  )
  t.notOk(
    events.some(({ type }) => type === 'worker_lost' || type === 'resumed'),
    'in one worker',
  )
  const [first] = events.filter(({ type }) => type === 'handed_off')
  const answered = events.find(({ type, text }) => type === 'said' && text === 'Your bill is paid.')
  t.comment(`the words of the next agent came ${Math.round(answered!.at_ms - first!.at_ms)} ms after the hand-off`)
  t.ok(leftMs > 0)
})

t.test(
  'a hand-off whose webhook names an agent leads there, and one whose webhook fails leaves the caller',
  async (t) => {
    const signal = limit()
    const { rest, desk, billing } = await twoAgents()
    const receiver = await startReceiver(t, (_, response, request) => {
      response.end(JSON.stringify({ agent_id: request.url?.endsWith('/wrong') ? 'nobody' : billing }))
    })
    const toolFor = (path: string) => ({
      ...{
        type: 'handoff',
        name: 'hand_off_to_billing',
        to: 'webhook',
        when: 'It is about a bill.',
        timeout_ms: 5_000,
      },
      ...{ url: `${receiver.url}${path}`, headers: { 'x-key': 'secret' } },
    })
    const dial = async (path: string) => {
      const { tools } = await rest.send<{ tools: object[] }>('PUT', `/agents/${desk}`, { tools: [toolFor(path)] })
      t.match(tools, [{ to: 'webhook', when: 'It is about a bill.', headers: { 'x-key': '********' }, carries: 'all' }])
      const { caller, callLogId } = await dialAgent(rest, desk, signal)
      t.teardown(() => caller.vanish())
      const turns = agentTurns(caller)
      await waitUntil(() => turns.length === 1)
      caller.type(BILL)
      return { caller, callLogId, turns }
    }
    const well = await dial('/which')
    await waitUntil(() => well.turns.includes('Your bill is paid.'))
    await well.caller.hangUp(signal)
    const [asked] = receiver.received
    t.match(asked?.headers, { 'x-key': 'secret', 'idempotency-key': `${well.callLogId}:tool-1` })
    t.match(asked?.body, {
      ...{ call_id: well.callLogId, agent_id: desk, tool: 'hand_off_to_billing', reason: 'It is about a bill.' },
    })

    const ill = await dial('/wrong')
    await waitUntil(async () => (await eventsOf(rest, ill.callLogId)).some(({ type }) => type === 'tool_returned'))
    await ill.caller.hangUp(signal)
    const log = await finishedLog(rest, ill.callLogId, signal)
    t.match((log as unknown as { error: string }).error, /Tool "hand_off_to_billing": there is no agent "nobody"/)
    const events = await eventsOf(rest, ill.callLogId)
    t.match(
      events.find(({ type }) => type === 'tool_returned')?.result,
      /The hand-off failed; the caller is still with you/,
    )
    t.notOk(events.some(({ type }) => type === 'handed_off'))
  },
)

t.test('a procedure is followed: its fixed steps in order, each a fact in the log, then the model', async (t) => {
  const signal = limit()
  const receiver = await startReceiver(t, (_, response) => response.end('order 4711 is paid'))
  const { rest, agentId } = await makeAgent(instance.url, {
    ...agentOf('Refunds', 'Hello.', [
      { question: 'I want a refund', answer: 'No.', tool: { name: 'begin_procedure', arguments: { name: 'refund' } } },
      { question: '4711', answer: 'Your refund is on its way.' },
    ]),
    tools: [{ type: 'http', name: 'find_order', description: 'Finds.', http: { method: 'POST', url: receiver.url } }],
    procedures: [
      {
        ...{ name: 'refund', when: 'The caller wants money back.', text: 'Refunds take five days.' },
        tools: ['find_order'],
        fixed: [{ say: 'Refunds are recorded.' }, { ask: 'What is your order number?' }, { tool: 'find_order' }],
      },
    ],
  })
  const { caller, callLogId } = await dialAgent(rest, agentId, signal)
  t.teardown(() => caller.vanish())
  const turns = agentTurns(caller)
  const heard = (text: string) =>
    waitUntil(
      () => turns.includes(text),
      () => `"${text}" in ${JSON.stringify(turns)}`,
    )
  await heard('Hello.')
  caller.type('I want a refund')
  await heard('What is your order number?')
  caller.type('4711')
  await heard('Your refund is on its way.')
  await caller.hangUp(signal)
  const log = await finishedLog(rest, callLogId, signal)
  t.same(
    log.transcript.map(({ role, text }) => `${role}: ${text}`),
    [
      'assistant: Hello.',
      'user: I want a refund',
      'assistant: Refunds are recorded.',
      'assistant: What is your order number?',
      'user: 4711',
      'assistant: Your refund is on its way.',
    ],
  )
  const events = (await eventsOf(rest, callLogId)).filter(({ type }) => type.startsWith('procedure'))
  t.match(events, [
    { type: 'procedure_begun', id: 'tool-1', name: 'refund' },
    { type: 'procedure_step', step: 0 },
    { type: 'procedure_step', step: 1, result: '4711' },
    { type: 'procedure_step', step: 2, result: 'order 4711 is paid' },
    { type: 'procedure_ended' },
  ])
  t.equal(receiver.received.length, 1)
  t.equal(receiver.received[0]?.headers['idempotency-key'], `${callLogId}:tool-1.2`)
})
