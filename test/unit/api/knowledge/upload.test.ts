import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { settledDocuments, startTestJobs } from '../../../support/instance/jobs.ts'

const LIMITS = {
  PATCHBAY_MAX_UPLOAD_BYTES: '1000000',
  PATCHBAY_DOCUMENTS_PER_AGENT: '10',
  PATCHBAY_PASSAGES_PER_AGENT: '14',
}
const api = await startTestApi(t, { env: LIMITS })
await startTestJobs(t, api)
const owner = await api.signUp()
const { client } = owner
const stranger = await api.signUp()

async function makeAgent(user = owner): Promise<string> {
  const { body } = await user.client.post('/agents', { body: { agent_name: 'Ava', system_prompt: 'You are Ava.' } })
  return body.agent_id
}

function files(...list: [name: string, content: string | Uint8Array<ArrayBuffer>][]): FormData {
  const form = new FormData()
  for (const [name, content] of list) form.append('files', new Blob([content]), name)
  return form
}

async function storedRows(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of ['uploads', 'upload_parts', 'documents', 'chunks', 'vector_segments']) {
    const { rows } = await api.store.pool.query(`select count(*)::int as n from ${table}`)
    counts[table] = rows[0].n
  }
  return counts
}

/** A Markdown file of so many passages. */
function passages(n: number): string {
  return Array.from({ length: n }, (_, i) => `# Part ${i}\n\nThe lighthouse number ${i} is red.`).join('\n\n')
}

t.test('uploaded files are read in the background and found by a query', async (t) => {
  const agentId = await makeAgent()
  const answer = await client.post(`/agents/${agentId}/upload`, {
    form: files(
      [
        'returns.md',
        '# Returns\n\n## Deadline\n\nYou can return any item within 30 days of delivery.\n\n## Shipping\n\nWe ship from Lyon.',
      ],
      ['hours.csv', 'day,opens,closes\nMonday,9:00,18:00\nSunday,closed,'],
      ['virus.exe', 'MZ'],
      ['broken.pdf', '%PDF-1.4 nothing of a PDF'],
      ['empty.txt', ''],
    ),
  })
  t.equal(answer.status, 201)
  t.match(
    answer.body.documents.map((document: { filename: string; status: string }) => [document.filename, document.status]),
    [
      ['returns.md', 'processing'],
      ['hours.csv', 'processing'],
      ['virus.exe', 'failed'],
      ['broken.pdf', 'processing'],
      ['empty.txt', 'failed'],
    ],
  )
  t.equal(
    answer.body.documents[2].error,
    'Unsupported file type ".exe"; supported: txt, md, html, pdf, docx, csv, json',
  )
  t.equal(answer.body.documents[4].error, 'The file is empty')

  const [returns, hours, , broken] = await settledDocuments(client, agentId)
  t.match(returns, { status: 'ready', chunks: 2, error: null, size: 108 })
  t.match(hours, { status: 'ready', chunks: 1 })
  t.match(broken, { status: 'failed', chunks: 0, error: 'The PDF is damaged or not a PDF file' })

  const found = await client.post(`/agents/${agentId}/query`, { body: { query: 'Until when may I return things?' } })
  t.equal(found.status, 200)
  t.match(found.body, {
    query: 'Until when may I return things?',
    results: [
      {
        document_id: returns.document_id,
        filename: 'returns.md',
        chunk: 0,
        text: 'Returns > Deadline:\nYou can return any item within 30 days of delivery.',
      },
    ],
  })
  t.ok(found.body.results[0].score > 0)
  const { body: agent } = await client.get(`/agents/${agentId}`)
  t.equal(agent.documents, 5)
  const { uploads, upload_parts } = await storedRows()
  t.same({ uploads, upload_parts }, { uploads: 0, upload_parts: 0 }, 'the raw bytes are gone')
})

t.test('top_k is 5 unless asked for, and faults of a query are told all at once', async (t) => {
  const agentId = await makeAgent()
  await client.post(`/agents/${agentId}/upload`, { form: files(['lights.md', passages(12)]) })
  await settledDocuments(client, agentId)
  const ask = (body: unknown) => client.post(`/agents/${agentId}/query`, { body })
  t.equal((await ask({ query: 'red lighthouse' })).body.results.length, 5)
  t.equal((await ask({ query: 'red lighthouse', top_k: 11 })).body.results.length, 11)
  t.same((await ask({ query: 'zebra' })).body.results, [])
  const meant = await ask({ query: 'red lighthouse', by: 'meaning' })
  t.match([meant.status, meant.body.detail], [422, [{ loc: ['body', 'by'], msg: /needs a provider of embeddings/ }]])
  t.equal((await ask({ query: 'red lighthouse', by: 'words' })).body.results.length, 5)
  for (const body of [{ query: '' }, { query: '  ' }, { query: 'a', top_k: 0 }, { query: 'a', top_k: 21 }, {}]) {
    t.equal((await ask(body)).status, 422, JSON.stringify(body))
  }
})

t.test('a file over the limit is refused while it streams, and nothing of the request is kept', async (t) => {
  const agentId = await makeAgent()
  const before = await storedRows()
  const answer = await client.post(`/agents/${agentId}/upload`, {
    form: files(['small.txt', 'Small.'], ['large.txt', 'x'.repeat(1_000_001)], ['later.txt', 'Later.']),
  })
  t.equal(answer.status, 400)
  t.same(answer.body, { detail: 'File too large' })
  t.same(await storedRows(), before)
})

t.test('a body that is cut off leaves nothing behind', async (t) => {
  const agentId = await makeAgent()
  const before = await storedRows()
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  // Who has not sent the rest in six seconds is cut off just so.
  socket.on('error', () => {})
  const start =
    '--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nWhole.\r\n' +
    `--b\r\nContent-Disposition: form-data; name="files"; filename="b.txt"\r\n\r\n${'x'.repeat(600_000)}`
  socket.write(
    `POST /agents/${agentId}/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n` +
      `Cookie: access_token=${client.cookies.get('access_token')}\r\nContent-Length: 900000\r\n\r\n${start}`,
  )
  while ((await storedRows()).uploads === before.uploads && !socket.closed) await sleep(20)
  socket.destroy()
  while ((await storedRows()).uploads !== before.uploads) await sleep(20)
  t.same(await storedRows(), before)
})

t.test('a request without files, or that is no multipart, changes nothing', async (t) => {
  const agentId = await makeAgent()
  const without = await client.post(`/agents/${agentId}/upload`, { form: new FormData() })
  t.equal(without.status === 422 || without.status === 400, true, `${without.status}`)
  const form = new FormData()
  form.append('other', 'x')
  const missing = await client.post(`/agents/${agentId}/upload`, { form })
  t.equal(missing.status, 422)
  t.match(missing.body.detail, [{ loc: ['form', 'files'], type: 'missing' }])
  const json = await client.post(`/agents/${agentId}/upload`, { body: {} })
  t.same([json.status, json.body.detail], [400, 'Malformed body: the header content-type must be multipart/form-data'])
  t.same((await client.get(`/agents/${agentId}/documents`)).body, [])
})

t.test('a deleted document is found no more, and deleting it again is 404', async (t) => {
  const agentId = await makeAgent()
  await client.post(`/agents/${agentId}/upload`, { form: files(['a.txt', 'The code word is heliotrope.']) })
  const [document] = await settledDocuments(client, agentId)
  const ask = () => client.post(`/agents/${agentId}/query`, { body: { query: 'heliotrope' } })
  t.equal((await ask()).body.results.length, 1)
  const path = `/agents/${agentId}/documents/${document.document_id}`
  t.same((await client.delete(path)).body, { detail: 'Document deleted' })
  t.equal((await ask()).body.results.length, 0)
  const again = await client.delete(path)
  t.same([again.status, again.body.detail], [404, 'Document not found'])
})

t.test('documents are pages when a page is asked for', async (t) => {
  const agentId = await makeAgent()
  await client.post(`/agents/${agentId}/upload`, { form: files(['a.bin', '1'], ['b.bin', '1'], ['c.bin', '1']) })
  const { body } = await client.get(`/agents/${agentId}/documents`, { query: { page: 2, page_size: 2 } })
  t.match(body, { items: [{ filename: 'c.bin' }], total: 3, page: 2, page_size: 2, total_pages: 2 })
})

t.test('an agent has so many documents and passages, and nothing is kept of what does not fit', async (t) => {
  const many = await makeAgent()
  const upload = (agentId: string, ...names: string[]) =>
    client.post(`/agents/${agentId}/upload`, { form: files(...names.map((name): [string, string] => [name, name])) })
  t.equal((await upload(many, ...[...'abcdefgh'].map((name) => `${name}.bin`))).status, 201)
  const refused = await upload(many, 'i.txt', 'j.bin', 'k.bin')
  t.same([refused.status, refused.body], [403, { detail: 'Quota reached: 10 documents of an agent' }])
  t.equal((await client.get(`/agents/${many}/documents`)).body.length, 8)
  t.equal((await upload(many, 'i.bin', 'j.bin')).status, 201)

  const full = await makeAgent()
  await client.post(`/agents/${full}/upload`, { form: files(['lights.md', passages(14)]) })
  await settledDocuments(client, full)
  const more = await upload(full, 'c.txt')
  t.same([more.status, more.body], [403, { detail: 'Quota reached: 14 passages of an agent’s documents' }])
  t.equal((await storedRows()).uploads, 0)
})

t.test('nobody else reaches an agent’s documents', async (t) => {
  const agentId = await makeAgent()
  await client.post(`/agents/${agentId}/upload`, { form: files(['a.txt', 'Secret plans.']) })
  const [document] = await settledDocuments(client, agentId)
  const theirs = stranger.client
  const attempts = [
    await theirs.get(`/agents/${agentId}/documents`),
    await theirs.post(`/agents/${agentId}/query`, { body: { query: 'plans' } }),
    await theirs.post(`/agents/${agentId}/upload`, { form: files(['b.txt', 'Mine.']) }),
    await theirs.delete(`/agents/${agentId}/documents/${document.document_id}`),
  ]
  for (const { status, body } of attempts) t.same([status, body.detail], [404, 'Agent not found'])
  const other = await makeAgent()
  const { body } = await client.post(`/agents/${other}/query`, { body: { query: 'plans' } })
  t.same(body.results, [], 'another agent of the same workspace does not find them')
  const member = await api.member(owner, 'member')
  const refused = await member.client.post(`/agents/${agentId}/upload`, { form: files(['b.txt', 'Mine.']) })
  t.same([refused.status, refused.body.detail], [403, 'Insufficient permissions'])
})
