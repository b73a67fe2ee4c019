import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { testFolder } from '../../../support/instance/services.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const { env, stop } = await startDoubles()
t.teardown(stop)

async function chatting(prices: object) {
  const pricesFile = join(await testFolder(t), 'prices.json')
  await writeFile(pricesFile, JSON.stringify(prices))
  const api = await startTestApi(t, { env: { ...env, PATCHBAY_PRICES: pricesFile } })
  const { client } = await api.signUp()
  const { body: agent } = await client.post('/agents', {
    body: { agent_name: 'Desk', system_prompt: 'We open at nine.', LLM_provider: 'openai', LLM_model: 'gpt-4.1' },
  })
  const ask = (message: string) =>
    client.post('/chats/interaction', { body: { agent_id: agent.agent_id, session_id: 's', message } })
  return { client, ask }
}

t.test('a chat costs what its answers cost together, at the operator’s prices', async (t) => {
  const { client, ask } = await chatting({
    llm: { openai: { '*': [{ from: '2025-01-01', inputPerMillionTokens: 1_000, outputPerMillionTokens: 2_000 }] } },
  })
  const first = await ask('When do you open?')
  const { llm_input_tokens, llm_output_tokens } = first.body.usage
  t.ok(llm_input_tokens > 0 && llm_output_tokens > 0)
  const cost = (llm_input_tokens * 1_000 + llm_output_tokens * 2_000) / 1e6
  t.same(first.body.cost, { cost_llm: cost, total_cost: cost })
  const second = await ask('And when do you open?')
  const { body } = await client.get(`/chats/${first.body.chat_id}`)
  t.ok(Math.abs(body.cost.total_cost - (cost + second.body.cost.total_cost)) < 1e-9)
  t.equal(body.usage.total_tokens, first.body.usage.total_tokens + second.body.usage.total_tokens)
})

t.test('another server’s model without a price of one’s own costs null, not the provider’s list price', async (t) => {
  const { client, ask } = await chatting({})
  const answer = await ask('When do you open?')
  t.same(answer.body.cost, { cost_llm: null, total_cost: null })
  t.same((await client.get(`/chats/${answer.body.chat_id}`)).body.cost, { cost_llm: null, total_cost: null })
})
