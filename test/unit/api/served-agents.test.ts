import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import { insertCall } from '../../../store/calls/calls.ts'
import { setOperatorQuotas } from '../../../store/workspaces/workspace-quotas.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { startTestJobs } from '../../support/instance/jobs.ts'
import { testFolder } from '../../support/instance/services.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../support/phone/phone.ts'
import { startChatServer } from '../../support/providers/chat-server.ts'

/** docs/operations.md, "The operator": which providers a workspace may use, asked wherever a conversation begins. */

const FAILS = JSON.stringify({ fault: { kind: 'error' } })
const OPENAI = [{ provider: 'openai', model: 'gpt-4.1-mini' }]
const PRICE = { from: '2025-01-01', inputPerMillionTokens: 1_000, outputPerMillionTokens: 2_000 }

async function start(t: Test) {
  const server = await startChatServer(t, () => 'We open at nine.')
  const pricesFile = join(await testFolder(t), 'prices.json')
  await writeFile(pricesFile, JSON.stringify({ llm: { openai: { '*': [PRICE] } } }))
  const api = await startTestApi(t, { env: { ...server.env, PATCHBAY_PRICES: pricesFile } })
  const user = await api.signUp()
  const allow = (providers: string[] | null) => setOperatorQuotas(api.store, user.workspaceId, { providers })
  const make = (more: object) =>
    user.client.post('/agents', { body: { agent_name: 'Ava', system_prompt: 'You are Ava.', ...more } })
  const chat = (agentId: string) =>
    user.client.post('/chats/interaction', { body: { agent_id: agentId, session_id: 's', message: 'Hello?' } })
  return { api, server, user, allow, make, chat }
}

t.test('a fallback that the operator does not allow is refused as a first choice is', async (t) => {
  const { allow, make, user } = await start(t)
  await allow(['sim', 'offline'])
  const refused = await make({ fallbacks: { LLM: OPENAI, TTS: [{ provider: 'offline', voice: 'en-us' }] } })
  t.equal(refused.status, 422)
  t.match(refused.body.detail, [
    { loc: ['body', 'fallbacks', 'LLM', '0', 'provider'], type: 'enum', msg: /sim, offline/ },
  ])
  t.equal(refused.body.detail.length, 1)
  const made = await make({})
  t.equal(made.status, 201)
  const changed = await user.client.put(`/agents/${made.body.agent_id}`, { body: { fallbacks: { LLM: OPENAI } } })
  t.equal(changed.status, 422)
  await allow(null)
  t.equal(
    (await user.client.put(`/agents/${made.body.agent_id}`, { body: { fallbacks: { LLM: OPENAI } } })).status,
    200,
  )
  await allow(['sim', 'offline'])
  const kept = await user.client.put(`/agents/${made.body.agent_id}`, { body: { temperature: 0.2 } })
  t.match(kept.body.detail, [{ loc: ['body', 'fallbacks', 'LLM', '0', 'provider'] }], 'one that is kept, too')
})

t.test('a fallback that was withdrawn is asked by no chat of an agent from before', async (t) => {
  const { server, allow, make, chat } = await start(t)
  const { body: agent } = await make({ LLM_provider: 'sim', LLM_model: FAILS, fallbacks: { LLM: OPENAI } })
  t.equal((await chat(agent.agent_id)).status, 200)
  t.equal(server.asked.length, 1, 'while it is allowed it answers')
  await allow(['sim', 'offline'])
  const failed = await chat(agent.agent_id)
  t.equal(failed.status, 500)
  t.equal(server.asked.length, 1, 'it was not asked again')
})

t.test('a first choice that was withdrawn serves nothing that begins', async (t) => {
  const { api, server, user, allow, chat } = await start(t)
  const { agentId, number } = await startPhone(api, user, { LLM_provider: 'openai', LLM_model: 'gpt-4.1-mini' })
  const token = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const dial = () =>
    user.client.post('/calls/outbound_call', {
      body: { agent_phone_number: number, phone_number_to_dial: '+14155559900', dynamic_variables: {} },
    })
  // No worker is there yet: it waits.
  const waiting = await dial()
  t.equal(waiting.status, 201)
  await allow(['sim', 'offline'])

  for (const answer of [
    await chat(agentId),
    await dial(),
    await user.client.get('/calls/generate-token', { query: { agent_id: agentId } }),
  ]) {
    t.equal(answer.status, 403)
    t.match(answer.body.detail, /Quota reached: llm_provider "openai" must be one that the operator allows/)
  }
  const socket = new WebSocket(`${api.url.replace(/^http/, 'ws')}/realtime?token=${token.body.token}`)
  const [, response] = await once(socket, 'unexpected-response')
  t.equal(response.statusCode, 403, 'a token from before opens nothing')
  t.match((await user.client.get(`/calls/${token.body.call_log_id}`)).body, {
    status: 'failed',
    end_reason: 'no_capacity',
    error: /openai/,
  })

  await linkWorker(t, api)
  t.match(await callWhen(user, waiting.body.call_log_id, isOver), {
    status: 'failed',
    end_reason: 'no_capacity',
    error: /Quota reached: llm_provider "openai"/,
  })
  t.same(server.asked, [])
})

t.test('nor does it analyse calls that are over', async (t) => {
  const { api, server, user, allow, make } = await start(t)
  const { body: agent } = await make({ LLM_provider: 'openai', LLM_model: 'gpt-4.1-mini' })
  await allow(['sim', 'offline'])
  await startTestJobs(t, api, server.env)
  const tenant = api.store.tenant(user.workspaceId)
  const { id } = await insertCall(tenant, {
    ...{ agent_id: agent.agent_id, agent_name: 'Ava', call_type: 'web', direction: 'inbound', status: 'in_progress' },
    answered_at: new Date(),
  } as never)
  const turn = { call_id: id, seq: 0, role: 'user', text: 'I want to move my appointment.', start_ms: 0, end_ms: 1 }
  await tenant.db
    .insertInto('call_turns')
    .values(turn as never)
    .execute()
  await tenant.db
    .updateTable('calls')
    .set({ status: 'completed', disposition: 'completed', ended_at: new Date(), duration_ms: 9_000 })
    .where('id', '=', id)
    .execute()
  const call = await callWhen(user, id, ({ analysis }) => analysis !== null)
  t.match(call, { summary: /move my appointment/, analysis: { error: /Quota reached: llm_provider "openai"/ } })
  t.same(server.asked, [])
})

t.test('chats count in the month, and end with it', async (t) => {
  const { api, server, user, make, chat } = await start(t)
  const operator = user
  const { body: agent } = await make({ LLM_provider: 'openai', LLM_model: 'gpt-4.1-mini' })
  const first = await chat(agent.agent_id)
  t.ok(first.body.cost.total_cost > 0)
  const spent = async () =>
    (await operator.client.get(`/operator/workspaces/${user.workspaceId}`)).body.use.cost_usd_this_month
  t.ok(Math.abs((await spent()) - first.body.cost.total_cost) < 1e-9)
  await api.store.pool.query('delete from chats')
  t.ok((await spent()) > 0, 'also once they are deleted')
  await setOperatorQuotas(api.store, user.workspaceId, { cost_usd_a_month: first.body.cost.total_cost / 2 })
  const refused = await chat(agent.agent_id)
  t.equal(refused.status, 403)
  t.match(refused.body.detail, /USD a month/)
  t.equal(server.asked.length, 1)
})

t.test('who leaves a chat before its end has spent what was read and said', async (t) => {
  const { api, user, make } = await start(t)
  const { body: agent } = await make({
    ...{ LLM_provider: 'openai', LLM_model: 'gpt-4.1-mini' },
    system_prompt: 'You are Ava. '.repeat(1_000),
  })
  const stop = new AbortController()
  const response = await fetch(`${api.url}/chats/interaction`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      cookie: [...user.client.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    },
    body: JSON.stringify({ agent_id: agent.agent_id, session_id: 's', message: 'Hello?', stream: true }),
    signal: stop.signal,
  })
  await response.body?.getReader().read()
  stop.abort()
  await api.store.pool.query('select 1')
  const spent = async () =>
    (await user.client.get(`/operator/workspaces/${user.workspaceId}`)).body.use.cost_usd_this_month
  const untilMs = Date.now() + 5_000
  while ((await spent()) === 0 && Date.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 50))
  t.ok((await spent()) > 0)
})
