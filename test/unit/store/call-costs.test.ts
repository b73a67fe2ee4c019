import t from 'tap'
import { createUser } from '../../../store/accounts/users.ts'
import { addProgress, writeEnd } from '../../../store/calls/call-writes.ts'
import { callById, insertCall } from '../../../store/calls/calls.ts'
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
const NOTHING = { llmInputTokens: 0, llmOutputTokens: 0, sttSeconds: 0, ttsCharacters: 0 }

async function newCall(): Promise<string> {
  const call = { agent_id: tenant.workspaceId, agent_name: 'A', call_type: 'web', direction: 'inbound' } as const
  return (await insertCall(tenant, { ...call, status: 'in_progress' })).id
}

t.test('costs add up, report by report, and the platform’s share comes with the end', async (t) => {
  const id = await newCall()
  for (let i = 0; i < 3; i++) {
    await addProgress(tenant, id, USED, [], { llmUsd: 0.25, sttUsd: 0.125, ttsUsd: 0.5 })
  }
  await writeEnd(tenant, id, END, new Date(), 90_000, 0.5)
  const call = await callById(tenant, id)
  t.match(call, { cost_llm: 0.75, cost_stt: 0.375, cost_tts: 1.5, platform_cost: 0.75, duration_ms: 90_000 })
})

t.test('one use without a price makes the stage’s cost unknown for good', async (t) => {
  const id = await newCall()
  await addProgress(tenant, id, USED, [], { llmUsd: 0.25, sttUsd: 0, ttsUsd: null })
  await addProgress(tenant, id, USED, [], { llmUsd: null, sttUsd: 0, ttsUsd: 0.5 })
  await addProgress(tenant, id, USED, [], { llmUsd: 0.25, sttUsd: 0, ttsUsd: 0.5 })
  await writeEnd(tenant, id, END, new Date(), 1_000)
  t.match(await callById(tenant, id), { cost_llm: null, cost_stt: 0, cost_tts: null, platform_cost: 0 })
})

t.test('a call that used nothing cost nothing, and use reported after the end still counts', async (t) => {
  const id = await newCall()
  await addProgress(tenant, id, NOTHING, [120], { llmUsd: 0, sttUsd: 0, ttsUsd: 0 })
  await writeEnd(tenant, id, END, new Date(), 0)
  t.match(await callById(tenant, id), { cost_llm: 0, cost_stt: 0, cost_tts: 0, platform_cost: 0 })
  await addProgress(tenant, id, USED, [], { llmUsd: 0.25, sttUsd: 0.5, ttsUsd: null })
  t.match(await callById(tenant, id), { cost_llm: 0.25, cost_stt: 0.5, cost_tts: null })
})
