import { randomUUID } from 'node:crypto'
import t from 'tap'
import { findChunks, putChunks } from '../../../../store/knowledge/chunks.ts'
import { startTestApi } from '../../../support/instance/api.ts'

t.test('passages come back as they were written, and the same ones again replace themselves', async (t) => {
  const { store, signUp } = await startTestApi(t)
  const { client, workspaceId } = await signUp()
  const { body } = await client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
  const documentId = randomUUID()
  await store.pool.query(
    `insert into documents (id, workspace_id, agent_id, filename, format, size_bytes, status)
     values ($1, $2, $3, 'a.txt', 'text', 1, 'ready')`,
    [documentId, workspaceId, body.agent_id],
  )
  const tenant = store.tenant(workspaceId)
  const kept = async (count: number) => {
    const wanted = Array.from({ length: count }, (_, chunk) => ({ documentId, chunk }))
    const found = await findChunks(store, { workspaceId, agentId: body.agent_id }, wanted)
    return found.sort((a, b) => a.seq - b.seq).map(({ text }) => text)
  }
  const texts = ['He said "no\\yes", {a,b}', "it's\n\ttabbed", '\u{1f600} ☎', '', '[1, "2"]', 'NULL']
  await putChunks(tenant, documentId, 0, texts)
  await putChunks(tenant, documentId, texts.length, ['half a face: \ud83d.'])
  t.same(await kept(20), [...texts, 'half a face: \ufffd.'])
  await putChunks(tenant, documentId, 1, ['anew'])
  t.same((await kept(2)).slice(0, 2), [texts[0], 'anew'])
  const eve = await signUp('Eve')
  await putChunks(store.tenant(eve.workspaceId), documentId, 0, ['of another workspace'])
  t.same((await kept(1))[0], texts[0], 'a passage of another workspace that has the same key is left alone')
  await t.rejects(putChunks(tenant, randomUUID(), 0, ['of a document that is gone']), { code: '23503' })
})
