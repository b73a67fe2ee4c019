import { spawn } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { makeAgent } from '../../../scripts/demo/call.ts'
import type { RestClient } from '../../../scripts/demo/rest.ts'
import { AGENT } from '../../../scripts/demo/script.ts'
import { openStore, type Store } from '../../../store/database/database.ts'
import { fencesOf, withoutCurl } from '../../support/browser/page.ts'
import { ApiClient } from '../../support/instance/api.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { type Teardown, testDatabase, testFolder } from '../../support/instance/services.ts'
import { askAboutDelivery } from '../../support/world/ask-about-delivery.ts'
import { hurry } from '../../support/world/hurry.ts'
import { writeWorseCalls } from '../../support/world/rollout-calls.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

/** From a bad call to a guarded rollout, over the API and as docs/agents/improving.md is printed, without a key. */

const MAIN = join(import.meta.dirname, '../../../main.ts')
const PAGE = 'docs/agents/improving.md'
const LIMIT_MS = 600_000
const HEARD = 'Delivery costs three euros anywhere in town.'
const SPLIT = [
  { version: 1, weight: 0.8 },
  { version: 2, weight: 0.2 },
]

let url: string
let store: Store

t.before(async () => {
  const databaseUrl = await testDatabase(t)
  const instance = await startInstance(t, {
    ...{ DATABASE_URL: databaseUrl, JWT_API_SECRET: 'a secret of at least 32 characters' },
    PATCHBAY_DATA_KEY: 'a data key of at least 32 characters',
  })
  url = instance.url
  store = openStore({ databaseUrl, maxConnections: 2 })
  t.teardown(() => store.close())
  hurry()
})

/** A user with the demo's agent and a key for the shell. */
async function workspace(agent_name: string): Promise<{ rest: RestClient; agentId: string; key: string }> {
  const made = await makeAgent(url, { ...AGENT, agent_name, publishing: 'manual' })
  const scopes = ['read', 'calls', 'agents']
  const { key } = await made.rest.send<{ key: string }>('POST', '/api-keys', { name: 'CI', scopes })
  return { ...made, key }
}

t.test('over the API a bad call becomes a test, and the guard stops the version that passes it', async (t) => {
  const { rest, agentId, key } = await workspace('Harbour Bistro')
  const client = new ApiClient(url, { 'x-api-key': key })
  const path = `/agents/${agentId}`
  const callLogId = await askAboutDelivery(t, rest, agentId, LIMIT_MS)
  t.match(await client.get(`/calls/${callLogId}`), { body: { agent_version: 1, status: 'completed' } })

  const { body: made } = await client.post(`/calls/${callLogId}/to-test`, { body: { name: 'the price of delivery' } })
  t.match(made.definition, { tags: ['from-call'], caller: { say: [/delivery/i] } })
  t.ok(
    made.definition.expect.some(({ heard }: { heard?: string }) => heard === HEARD),
    'what the caller heard is a fact',
  )
  const stored = await client.post('/tests', { body: { agent_id: agentId, definition: made.definition } })
  t.equal(stored.status, 201)

  const change = (from: string, to: string) =>
    client.patch(path, { body: { system_prompt: AGENT.system_prompt.replace(from, to) } })
  const run = async () => {
    const { body } = await client.post('/tests/runs', { body: { agent_id: agentId, tags: ['from-call'] } })
    let found = body
    await waitUntil(
      async () => {
        found = (await client.get(`/tests/runs/${body.run_id}`)).body
        return found.status !== 'running'
      },
      () => JSON.stringify(found),
    )
    return found
  }
  const publish = () => client.post(`${path}/publish`, { body: { note: 'Sundays', require_tests: 'from-call' } })

  await change('three euros', 'four euros')
  t.match(await run(), { total: 1, failed: 1 })
  t.match(await publish(), {
    ...{ status: 409, code: 'tests_failed' },
    params: { tests: 'the price of delivery' },
  })
  t.match((await client.get(path)).body, { version: 1, unpublished_changes: true })

  await change('closed on Sundays', 'happy to see you on Sundays')
  t.match(await run(), { total: 1, passed: 1 })
  t.match(await publish(), { status: 200, body: { version: 2, live: true, note: 'Sundays' } })

  const put = await client.put(`${path}/rollout`, { body: { split: SPLIT, guard: { figure: 'success' } } })
  t.match(put, { status: 200, body: { status: 'running', split: SPLIT } })
  await writeWorseCalls(store, agentId)
  const rollout = async () => (await client.get(`${path}/rollout`)).body
  await waitUntil(async () => (await rollout()).status === 'stopped')
  t.match(await rollout(), {
    stopped: { version: 2, serves: 1 },
    versions: [
      { version: 1, calls: 200, success: { value: 0.9 } },
      { version: 2, calls: 50, success: { value: 0.5 } },
    ],
  })
  const asked = { query: { after: '0-0', types: 'rollout.stopped' }, headers: { accept: 'application/json' } }
  const events = async () => (await client.get('/events', asked)).body.items
  // An event is read once all transactions that are older are over.
  await waitUntil(async () => (await events()).length > 0)
  t.match(await events(), [{ data: { agent_id: agentId, version: 2, serves: 1, figure: 'success' } }])
  t.equal((await events()).length, 1)
  const message = 'What about Sundays?'
  const answer = await client.post('/chats/interaction', { body: { agent_id: agentId, message } })
  t.match(answer.body.response, /closed on Sundays/, 'the old version has the calls again')
})

/** A shell that keeps its variables from block to block. */
async function openShell(t: Teardown, key: string) {
  const root = await testFolder(t)
  await mkdir(join(root, 'bin'))
  await writeFile(join(root, 'bin/patchbay'), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`)
  await chmod(join(root, 'bin/patchbay'), 0o755)
  const shell = spawn('bash', ['--norc'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: `${join(root, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
      ...{ HOME: root, INIT_CWD: root, PATCHBAY_ENV_FILE: 'none', PATCHBAY_URL: url, PATCHBAY_API_KEY: key },
    },
  })
  t.teardown(() => shell.kill())
  let printed = ''
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  shell.stdin.write('exec 2>&1\n')
  /** What a block prints, and the exit code of its last command. */
  return async (block: string): Promise<{ text: string; code: number }> => {
    printed = ''
    shell.stdin.write(`${block}\necho "--- $?"\n`)
    const end = /--- (\d+)\n$/
    await waitUntil(
      () => end.test(printed),
      () => `the end of ${block}\n${printed}`,
    )
    return { text: printed.replace(end, ''), code: Number(end.exec(printed)?.[1]) }
  }
}

t.test('docs/agents/improving.md runs as printed', { skip: withoutCurl }, async (t) => {
  const { rest, key } = await workspace('Another one')
  const client = new ApiClient(url, { 'x-api-key': key })
  const shell = await openShell(t, key)
  const blocks = fencesOf(PAGE, 'sh')
  const next = async (code: number, says: RegExp) => {
    const block = blocks.shift() ?? ''
    const ran = await shell(block)
    t.equal(ran.code, code, `${block}\n${ran.text}`)
    t.match(ran.text, says, block)
  }

  await next(0, /^$/)
  const agents = (await client.get('/agents')).body as { agent_id: string; agent_name: string }[]
  const agentId = agents.find(({ agent_name }) => agent_name === 'Harbour Bistro')?.agent_id ?? ''
  await askAboutDelivery(t, rest, agentId, LIMIT_MS)
  await next(0, /heard: Delivery costs three euros anywhere in town/)
  await next(1, /✗ says what delivery costs\n +fail: heard Delivery costs five euros.*never heard it/)
  await next(1, /Harbour Bistro was not published[\s\S]*✗ says what delivery costs/)
  await next(0, /✓ says what delivery costs[\s\S]*1 of 1 passed/)
  await next(0, /version 1: 100 %[\s\S]*Published version 2 of Harbour Bistro; its rollout[\s\S]*version 2: 20 %/)
  await writeWorseCalls(store, agentId)
  await waitUntil(async () => (await client.get(`/agents/${agentId}/rollout`)).body.status === 'stopped')
  await next(1, /version 2: 20 %, 50 calls, success 50 %[\s\S]*Stopped .*version 2 is worse in success.* get version 1/)
  await next(0, /"figure":"success"/)
  t.same(blocks, [], 'every block has run')
  t.match(await shell("patchbay rollout 'Harbour Bistro' --end"), { code: 0, text: /all calls get version 2/ })
})
