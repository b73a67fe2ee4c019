import t from 'tap'
import { answerAsks } from '../../../../api/knowledge/ask.ts'
import { EmbeddedVectors } from '../../../../plugins/embedded-vectors/embedded-vectors.ts'
import type { VectorStore } from '../../../../runtime/plugin/contract.ts'
import { hasReadyDocuments } from '../../../../store/knowledge/documents.ts'
import { vectorShelf } from '../../../../store/knowledge/vector-blob-store.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { settledDocuments, startTestJobs } from '../../../support/instance/jobs.ts'

const api = await startTestApi(t)
await startTestJobs(t, api)
const { client, workspaceId } = await api.signUp()
const { store } = api
const tools = { ofCall: async () => ({ output: 'called' }), ofChat: async () => 'called' }
const vectors = new EmbeddedVectors(vectorShelf(store), 1 << 24)
t.teardown(() => vectors.close())
const answers = answerAsks({ tools, store, vectors, embeddings: undefined })

async function makeAgent(...documents: string[]): Promise<string> {
  const { body } = await client.post('/agents', { body: { agent_name: 'Ava', system_prompt: 'You are Ava.' } })
  for (const document of documents) {
    const form = new FormData()
    form.append('files', new Blob([document]), 'facts.txt')
    await client.post(`/agents/${body.agent_id}/upload`, { form })
    await settledDocuments(client, body.agent_id)
  }
  return body.agent_id
}

async function makeCall(agentId: string): Promise<string> {
  const { body } = await client.get('/calls/generate-token', { query: { agent_id: agentId } })
  return body.call_log_id
}

t.test('a voice worker gets passages of the agent of its call, and of no other', async (t) => {
  const informed = await makeAgent('The code word is heliotrope.')
  const other = await makeAgent()
  const ask = async (agentId: string) =>
    answers.knowledge({ callId: await makeCall(agentId), agentId }, { query: 'code word?', topK: 3 })
  t.match(await ask(informed), {
    passages: [{ filename: 'facts.txt', text: 'The code word is heliotrope.', documentId: String, score: Number }],
  })
  t.same(await ask(other), { passages: [] })
  t.same(
    await answers.knowledge(
      { callId: '01890000-0000-7000-8000-000000000000', agentId: other },
      { query: 'code word?', topK: 3 },
    ),
    {
      passages: [],
    },
  )
  const tenant = store.tenant(workspaceId)
  t.equal(await hasReadyDocuments(tenant, { id: informed, agent_version: null }), true)
  t.equal(await hasReadyDocuments(tenant, { id: other, agent_version: null }), false)
})

t.test('passages are those of the version that talks, also from a store that finds those of all', async (t) => {
  const agentId = await makeAgent('The code word of the day is heliotrope.', 'Code word: amaranth.')
  const callId = await makeCall(agentId)
  const careless: VectorStore = {
    upsert: (...given) => vectors.upsert(...given),
    search: (scope, { documents: _, ...query }, signal) => vectors.search(scope, query, signal),
    remove: (...given) => vectors.remove(...given),
    removeAll: () => vectors.removeAll(),
  }
  const ask = async (from: VectorStore, agentVersion: number | undefined, topK: number) => {
    const asks = answerAsks({ tools, store, vectors: from, embeddings: undefined })
    const { passages } = await asks.knowledge({ callId, agentId, agentVersion }, { query: 'code word?', topK })
    return passages.map(({ text }) => text)
  }
  t.same(await ask(vectors, 3, 1), ['Code word: amaranth.'], 'it fits best')
  t.same(await ask(vectors, 2, 1), ['The code word of the day is heliotrope.'], 'version 2 is older')
  t.same(await ask(vectors, 1, 1), [])
  t.same(await ask(careless, 2, 1), [])
  t.same(await ask(careless, 2, 2), ['The code word of the day is heliotrope.'])
  t.same(await ask(careless, undefined, 1), ['Code word: amaranth.'])
})
