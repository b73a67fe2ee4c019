import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { settledDocuments, startTestJobs } from '../../../support/instance/jobs.ts'
import { RealtimeClient, until } from '../../../support/instance/realtime-node.ts'
import { callWhen, isOver } from '../../../support/phone/phone.ts'
import { startTestVoice } from '../../../support/phone/voice.ts'

const api = await startTestApi(t)
await startTestJobs(t, api)
await startTestVoice(t, api)
const user = await api.signUp()
const { client } = user

const AGENT = {
  ...{ agent_name: 'Ava', system_prompt: 'You are Ava.', first_message: 'Hello.' },
  ...{ LLM_provider: 'offline', LLM_model: 'extractive' },
}
const QUESTION = 'Is breakfast served on the terrace?'
const HOURS = ['hours.txt', 'Breakfast is served from seven.'] as const
/** Fits the question better. */
const TERRACE = ['terrace.txt', 'Breakfast is served on the terrace.'] as const

async function makeAgent(publishing: 'immediate' | 'manual'): Promise<string> {
  const { body } = await client.post('/agents', { body: { ...AGENT, publishing } })
  return body.agent_id
}

async function addDocument(agentId: string, [name, text]: readonly [string, string]): Promise<string> {
  const form = new FormData()
  form.append('files', new Blob([text]), name)
  const { body } = await client.post(`/agents/${agentId}/upload`, { form })
  await settledDocuments(client, agentId)
  return body.documents[0].document_id
}

const namesOf = (passages: { filename: string }[]): string[] => passages.map(({ filename }) => filename).sort()

async function foundByQuery(agentId: string): Promise<string[]> {
  const { body } = await client.post(`/agents/${agentId}/query`, { body: { query: QUESTION, top_k: 5 } })
  return namesOf(body.results)
}

async function foundInChat(agentId: string): Promise<string[]> {
  const { body } = await client.post('/chats/interaction', { body: { agent_id: agentId, message: QUESTION } })
  return namesOf(body.sources)
}

/** A web call that is greeted. `found`: what its agent finds for the question, after which it ends. */
async function openCall(agentId: string) {
  const { body } = await client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const line = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, body.token)
  await line.got('transcript', { role: 'assistant', final: true, text: 'Hello.' })
  return {
    async found(): Promise<string[]> {
      line.send({ type: 'text', text: QUESTION })
      const answers = () =>
        line.messages.filter((one) => one.type === 'transcript' && one.role === 'assistant' && one.final === true)
      await until(
        () => answers().length > 1,
        () => `An answer in ${JSON.stringify(line.messages.slice(-20))}`,
      )
      line.send({ type: 'end' })
      await callWhen(user, body.call_log_id, isOver)
      const events = await client.get(`/calls/${body.call_log_id}/events`)
      return namesOf(events.body.items.flatMap((event: { hits?: { filename: string }[] }) => event.hits ?? []))
    },
  }
}

/** How many of one test pass: whether the agent tells of the terrace. */
async function passedTests(agentId: string, version: string): Promise<number> {
  const definition = { name: 'terrace', caller: { say: [QUESTION] }, expect: [{ heard: 'on the terrace' }] }
  const begun = await client.post('/tests/runs', { body: { agent_id: agentId, version, tests: [definition] } })
  for (let i = 0; i < 1_200; i++) {
    const { body } = await client.get(`/tests/runs/${begun.body.run_id}`)
    if (body.status !== 'running') return body.passed
    await sleep(25)
  }
  throw new Error('The run of the test does not end')
}

t.test('a document of the draft is found by the draft alone, until it is published', async (t) => {
  const agentId = await makeAgent('manual')
  await addDocument(agentId, HOURS)
  t.match((await client.post(`/agents/${agentId}/publish`, { body: {} })).body, { version: 2 })
  await addDocument(agentId, TERRACE)
  t.match((await client.get(`/agents/${agentId}`)).body, { version: 2, unpublished_changes: true })
  t.same(await foundByQuery(agentId), ['hours.txt', 'terrace.txt'])
  t.same(await foundInChat(agentId), ['hours.txt'])
  t.same(await (await openCall(agentId)).found(), ['hours.txt'])
  t.same(await passedTests(agentId, 'draft'), 1)
  t.same(await passedTests(agentId, 'live'), 0)
  const before = await openCall(agentId)
  t.match((await client.post(`/agents/${agentId}/publish`, { body: {} })).body, { version: 3 })
  t.same(await foundInChat(agentId), ['hours.txt', 'terrace.txt'])
  t.same(await (await openCall(agentId)).found(), ['hours.txt', 'terrace.txt'])
  t.same(await passedTests(agentId, '3'), 1)
  t.same(await passedTests(agentId, '2'), 0)
  t.same(await before.found(), ['hours.txt'], 'a call keeps the documents of its version')
})

t.test('a version that had no document finds none, and a deleted one is found by no version', async (t) => {
  const agentId = await makeAgent('immediate')
  const hours = await addDocument(agentId, HOURS)
  await addDocument(agentId, TERRACE)
  t.match((await client.get(`/agents/${agentId}`)).body, { version: 3 }, 'each document has made a version')
  t.same(await foundInChat(agentId), ['hours.txt', 'terrace.txt'])
  const roll = (version: number) =>
    client.put(`/agents/${agentId}/rollout`, { body: { split: [{ version, weight: 1 }], rules: [] } })
  t.equal((await roll(1)).status, 200)
  t.same(await foundInChat(agentId), [])
  t.same(await (await openCall(agentId)).found(), [])
  t.equal((await roll(2)).status, 200)
  t.same(await foundInChat(agentId), ['hours.txt'])
  await client.delete(`/agents/${agentId}/documents/${hours}`)
  t.same(await foundInChat(agentId), [])
  await client.delete(`/agents/${agentId}/rollout`)
  t.same(await foundInChat(agentId), ['terrace.txt'])
})
