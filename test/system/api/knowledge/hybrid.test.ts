import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { settledDocuments, startTestJobs } from '../../../support/instance/jobs.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'
import { startQdrantDouble } from '../../../support/providers/doubles/stores/qdrant.ts'
import { hurry } from '../../../support/world/hurry.ts'

// A question has 700 ms to be embedded, and who embeds it is in this process, too.
hurry()
const doubles = await startDoubles()
t.teardown(doubles.stop)
const qdrant = await startQdrantDouble()
t.teardown(qdrant.stop)
const embeddings = () => doubles.doubles.openai.requests.filter((route) => route === 'POST /v1/embeddings').length

for (const [name, env] of [
  ['embedded vectors', {}],
  ['Qdrant', qdrant.env],
] as const) {
  t.test(`with an embedding provider and ${name}`, async (t) => {
    const api = await startTestApi(t, { env: { ...doubles.env, ...env, PATCHBAY_EMBEDDING: 'openai' } })
    await startTestJobs(t, api, { ...doubles.env, ...env })
    const { client } = await api.signUp()
    const { body: agent } = await client.post('/agents', { body: { agent_name: 'A', system_prompt: 'You are A.' } })
    const path = `/agents/${agent.agent_id}`
    const upload = async (filename: string, text: string) => {
      const form = new FormData()
      form.append('files', new Blob([text]), filename)
      await client.post(`${path}/upload`, { form })
      return settledDocuments(client, agent.agent_id)
    }
    const query = async (text: string) => (await client.post(`${path}/query`, { body: { query: text } })).body.results

    await t.test('passages and questions are embedded, and both legs find them', async (t) => {
      const before = embeddings()
      t.match(await upload('pier.txt', 'The shop is at the pier.'), [{ status: 'ready' }])
      await upload('cake.txt', 'A cake has eggs and flour.')
      t.equal(embeddings(), before + 2)
      const found = await query('where is the shop')
      t.equal(found[0].filename, 'pier.txt')
      t.equal(found.length, 2, 'the meaning of everything is near to some degree')
      t.equal(embeddings(), before + 3)
      await query('where is the shop')
      t.equal(embeddings(), before + 3, 'the same question is embedded once')
    })

    await t.test('one leg alone finds by words or by meaning', async (t) => {
      const by = async (way: string, text: string) =>
        (await client.post(`${path}/query`, { body: { query: text, by: way } })).body.results
      const before = embeddings()
      t.match(await by('words', 'eggs'), [{ filename: 'cake.txt' }])
      t.equal((await by('words', 'eggs')).length, 1, 'the other has no such word')
      t.equal(embeddings(), before, 'nobody is asked for a meaning')
      t.equal((await by('meaning', 'something else')).length, 2)
      t.equal(embeddings(), before + 1)
    })

    await t.test('a provider that is away costs questions their meaning, not their words', async (t) => {
      t.teardown(() => doubles.doubles.openai.faults.clear())
      for (const fault of [{ kind: 'refuse', status: 500 }, { kind: 'hang' }] as const) {
        doubles.doubles.openai.faults.set(fault)
        t.match(await query(`eggs and ${fault.kind}`), [{ filename: 'cake.txt' }])
      }
    })

    await t.test('a refused key fails the document with words an operator understands', async (t) => {
      doubles.doubles.openai.faults.set({ kind: 'refuse', status: 401 })
      t.teardown(() => doubles.doubles.openai.faults.clear())
      const documents = await upload('late.txt', 'Too late.')
      t.match(documents.at(-1), { status: 'failed', error: /refused the key/ })
    })
  })
}
