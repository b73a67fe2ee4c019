import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { ServerMessage } from '../../../api/realtime/messages.ts'
import { dialAgent, finishedLog, makeAgent } from '../../../scripts/demo/call.ts'
import { voiceProcess } from '../../../scripts/demo/voice-process.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { hurry } from '../../support/world/hurry.ts'
import { waitUntil } from '../../support/world/wait-until.ts'
import { startReceiver } from '../../support/world/webhook-receiver.ts'

/** How often a worker is killed around a hand-off; `HAND_OFF_KILLS=200` by hand. */
const KILLS = Number(process.env.HAND_OFF_KILLS ?? 20)
/** A kill comes so long after the caller's words at the latest: the next agent has spoken by then. */
const LATEST_MS = 3_200
/** How long the webhook takes to name the agent. */
const WEBHOOK_MS = 300
const LIMIT_MS = 120_000 + KILLS * 60_000
const BILL = 'I have a question about my bill'
const GREETING = 'Welcome to the front desk.'
const ANSWER = 'Your bill is paid since the first of May.'

interface Logged {
  type: string
  text?: string
  final?: boolean
  to?: string
  worker?: string
  agent_id?: string
}

t.setTimeout(LIMIT_MS)
const options = { timeout: LIMIT_MS }

t.test(`the right agent answers over ${KILLS} killed workers, greeted once, and asked for once`, options, async (t) => {
  const instance = await startInstance(t, { PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1', PATCHBAY_VOICE_WORKERS: '2' })
  hurry()
  const signal = AbortSignal.timeout(LIMIT_MS)
  let billing = ''
  const receiver = await startReceiver(t, (_, response) => {
    setTimeout(() => response.end(JSON.stringify({ agent_id: billing })), WEBHOOK_MS)
  })
  const sim = {
    STT_provider: 'sim',
    TTS_provider: 'sim',
    TTS_voice: 'tone',
    LLM_provider: 'sim',
    dead_air: { enabled: false },
  }
  const scripted = (script: object[]) => JSON.stringify({ firstTokenMs: 100, script })
  const { rest, agentId } = await makeAgent(instance.url, {
    ...sim,
    ...{ agent_name: 'Front Desk', first_message: GREETING, system_prompt: 'You are the front desk.' },
    LLM_model: scripted([
      {
        question: BILL,
        answer: 'You are still at the front desk.',
        tool: { name: 'hand_off', arguments: { reason: 'a bill' } },
      },
    ]),
    tools: [
      {
        type: 'handoff',
        to: 'webhook',
        url: receiver.url,
        when: 'A bill.',
        says: 'I connect you.',
        timeout_ms: 10_000,
      },
    ],
  })
  const made = await rest.send<{ agent_id: string }>('POST', '/agents', {
    ...sim,
    ...{ agent_name: 'Billing', first_message: 'Billing, good day.', system_prompt: 'You are billing.' },
    LLM_model: scripted([{ question: BILL, answer: ANSWER }]),
  })
  billing = made.agent_id

  const eventsOf = async (callLogId: string): Promise<Logged[]> =>
    (await rest.send<{ items: Logged[] }>('GET', `/calls/${callLogId}/events?page_size=200`)).items
  const killed = { before: 0, after: 0 }
  for (let n = 0; n < KILLS; n++) {
    const { caller, callLogId } = await dialAgent(rest, agentId, signal)
    const heard: string[] = []
    caller.on('message', (message: ServerMessage) => {
      if (message.type === 'transcript' && message.role === 'assistant' && message.final) heard.push(message.text)
    })
    await waitUntil(() => heard.includes(GREETING))
    let worker: string | undefined
    await waitUntil(async () => {
      worker = (await eventsOf(callLogId)).findLast(({ type }) => type === 'worker_taken')?.worker
      return worker !== undefined
    })
    const pid = await voiceProcess(worker!)
    caller.type(BILL)
    await sleep((LATEST_MS * n) / KILLS)
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
    const said = () => heard.join(' ')
    await waitUntil(
      () => said().endsWith(ANSWER.slice(-12)),
      () => `"${ANSWER}" in ${JSON.stringify(heard)}`,
    )
    await caller.hangUp(signal)
    await finishedLog(rest, callLogId, signal)
    const events = await eventsOf(callLogId)
    const how = `kill ${n}, ${Math.round((LATEST_MS * n) / KILLS)} ms after the words: ${JSON.stringify(heard)}`
    t.equal(events.filter(({ type, to }) => type === 'handed_off' && to === billing).length, 1, `${how}: one hand-off`)
    t.equal(heard.filter((text) => text.includes('Welcome')).length, 1, `${how}: one greeting`)
    t.notMatch(said(), /good day|still at the front desk/, how)
    t.equal(
      said()
        .replace(GREETING, '')
        .replace('I connect you.', '')
        .replace(/^ *I? ?(connect)? */, '')
        .trim(),
      ANSWER,
      how,
    )
    const keys = receiver.received.filter(({ body }) => body.call_id === callLogId)
    t.equal(keys.length, 1, `${how}: the webhook was asked once`)
    const lostAt = events.findIndex(({ type }) => type === 'worker_lost')
    t.ok(lostAt >= 0 || pid === undefined, `${how}: a worker was lost`)
    killed[lostAt < events.findIndex(({ type }) => type === 'handed_off') ? 'before' : 'after']++
  }
  t.ok(killed.before > 0 && killed.after > 0, `kills before and after the hand-off: ${JSON.stringify(killed)}`)
})
