import t from 'tap'
import type { StageCosts } from '../../../runtime/call/cost.ts'
import { entryOf } from '../../../runtime/call/log/call-entry.ts'
import type { CallEvent } from '../../../runtime/call/log/events.ts'
import { createUser } from '../../../store/accounts/users.ts'
import { addAnalysisUsage } from '../../../store/calls/call-analyses.ts'
import { makeEventPartitions } from '../../../store/calls/call-events.ts'
import { callById, insertCall } from '../../../store/calls/calls.ts'
import { appendCallEvents, endCall } from '../../../store/calls/write-calls.ts'
import { openStore } from '../../../store/database/database.ts'
import { testDatabase } from '../../support/instance/services.ts'

const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 2 })
t.teardown(() => store.close())
const user = await createUser(store.global, {
  name: 'Ada',
  email: 'ada@example.com',
  passwordHash: '',
  phoneNumber: '+14155550123',
})
const tenant = store.tenant(user.current_workspace_id ?? '')
const END = { status: 'completed', endReason: 'caller_hangup', disposition: 'completed' } as const
const USED = { llmInputTokens: 100, llmOutputTokens: 10, sttSeconds: 2.5, ttsCharacters: 40 }
const PRICED = { llmUsd: 0.25, sttUsd: 0.125, ttsUsd: 0.5 }
await makeEventPartitions(store, Date.now())

async function newCall(): Promise<string> {
  const call = { agent_id: tenant.workspaceId, agent_name: 'A', call_type: 'web', direction: 'inbound' } as const
  return (await insertCall(tenant, { ...call, status: 'in_progress' })).id
}

let seq = 0

/** One report of use, which costs so much. */
async function use(callId: string, costs: StageCosts, used = true): Promise<void> {
  const stages = [
    { stage: 'llm', input_tokens: 100, output_tokens: 10 },
    { stage: 'stt', seconds: 2.5 },
    { stage: 'tts', characters: 40 },
  ] as const
  const at = Date.now()
  const events = stages.map((stage): CallEvent => ({ type: 'usage', ...stage, seq: seq++, at }))
  const none: CallEvent[] = [
    { type: 'latency', endpointing_ms: 0, stt_ms: 0, llm_ms: 0, tts_ms: 0, total_ms: 120, seq: seq++, at },
  ]
  await appendCallEvents(store, [entryOf(tenant.workspaceId, callId, used ? events : none)], { costOf: () => costs })
}

const end = (callId: string, durationMs: number, usdPerMinute = 0) =>
  endCall(store, { workspaceId: tenant.workspaceId, callId }, END, new Date(), durationMs, {
    platformUsdPerMinute: () => usdPerMinute,
  })

t.test('costs add up, report by report, and the platform’s share comes with the end', async (t) => {
  const id = await newCall()
  for (let i = 0; i < 3; i++) await use(id, PRICED)
  t.equal(await end(id, 90_000, 0.5), true)
  const call = await callById(tenant, id)
  t.match(call, { cost_llm: 0.75, cost_stt: 0.375, cost_tts: 1.5, platform_cost: 0.75, duration_ms: 90_000 })
  t.match(call, { llm_input_tokens: 300, llm_output_tokens: 30, stt_seconds: 7.5, tts_characters: 120 })
  t.equal(await end(id, 1), false, 'it has its end')
})

t.test('tokens of sound add up, and stay unknown where no provider names them', async (t) => {
  const [spoken, written] = [await newCall(), await newCall()]
  const sound = { audio_input_tokens: 40, audio_output_tokens: 8, cached_audio_tokens: 5 }
  const event: CallEvent = { type: 'usage', stage: 'llm', input_tokens: 100, output_tokens: 10, seq: 0, at: Date.now() }
  for (const seq of [1, 2])
    await appendCallEvents(store, [entryOf(tenant.workspaceId, spoken, [{ ...event, ...sound, seq }])])
  await appendCallEvents(store, [entryOf(tenant.workspaceId, written, [event])])
  const parts = { llm_audio_input_tokens: 80, llm_audio_output_tokens: 16, llm_cached_audio_tokens: 10 }
  t.match(await callById(tenant, spoken), { llm_input_tokens: 200, ...parts })
  t.match(await callById(tenant, written), { llm_audio_input_tokens: null, llm_audio_output_tokens: null })
})

t.test('what another recognised than the agent’s recogniser is priced by that one, own key or not', async (t) => {
  const id = await newCall()
  const [at, priced] = [Date.now(), { llmUsd: 0, sttUsd: 0, ttsUsd: 0 }]
  const seconds = (n: number, model?: string): CallEvent => {
    const by = model === undefined ? {} : { served_by: { provider: 'openai', model } }
    return { type: 'usage', stage: 'stt', seconds: n, ...by, seq: seq++, at }
  }
  const prices = {
    isOwnKey: (_workspaceId: string, provider: string) => provider === 'openai',
    costOf: ({ stt }: { stt?: { model: string } }, used: { sttSeconds: number }): StageCosts => {
      const perSecond = { ears: 1, 'gpt-transcribe': 10 }[stt?.model ?? '']
      return { ...priced, sttUsd: perSecond === undefined ? null : used.sttSeconds * perSecond }
    },
  }
  const serving = {
    ...{ llm: { provider: 'a', model: 'b' }, stt: { provider: 'a', model: 'ears' } },
    tts: { provider: 'a', voice: 'b' },
  }
  const write = (...events: CallEvent[]) =>
    appendCallEvents(store, [entryOf(tenant.workspaceId, id, events, { serving })], prices)
  await write(seconds(2), seconds(0.5, 'gpt-transcribe'))
  t.match(await callById(tenant, id), { stt_seconds: 2.5, cost_stt: 7, cost_own_keys: 5 })
  await write(seconds(1, 'gpt-transcribe'))
  t.match(await callById(tenant, id), { stt_seconds: 3.5, cost_stt: 17 })
  await write(seconds(1, 'unknown'))
  t.match(await callById(tenant, id), { stt_seconds: 4.5, cost_stt: null })
})

t.test('one use without a price makes the stage’s cost unknown for good', async (t) => {
  const id = await newCall()
  await use(id, { llmUsd: 0.25, sttUsd: 0, ttsUsd: null })
  await use(id, { llmUsd: null, sttUsd: 0, ttsUsd: 0.5 })
  await use(id, { llmUsd: 0.25, sttUsd: 0, ttsUsd: 0.5 })
  await end(id, 1_000)
  t.match(await callById(tenant, id), { cost_llm: null, cost_stt: 0, cost_tts: null, platform_cost: 0 })
})

t.test('a call that used nothing cost nothing, and use reported after the end still counts', async (t) => {
  const id = await newCall()
  await use(id, PRICED, false)
  await end(id, 0)
  t.match(await callById(tenant, id), { cost_llm: 0, cost_stt: 0, cost_tts: 0, platform_cost: 0 })
  await use(id, { llmUsd: 0.25, sttUsd: 0.5, ttsUsd: null })
  t.match(await callById(tenant, id), { cost_llm: 0.25, cost_stt: 0.5, cost_tts: null })
  await addAnalysisUsage(tenant, id, USED, PRICED)
  t.match(await callById(tenant, id), { cost_llm: 0.5, cost_stt: 0.625, cost_tts: null, llm_input_tokens: 200 })
})
