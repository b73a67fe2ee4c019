import { sql } from 'kysely'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { createLogger } from '../../../../runtime/process/log.ts'
import { startRolloutGuard } from '../../../../workers/rollouts/start.ts'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { callWhen, isOver, startPhone } from '../../../support/phone/phone.ts'
import { startTestVoice } from '../../../support/phone/voice.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const api = await startTestApi(t)
await startTestVoice(t, api)
const guard = startRolloutGuard({ store: api.store, clock: systemClock, log, intervalMs: 3_600_000 })
t.teardown(() => guard.stop())

const says = (answer: string) => ({ LLM_provider: 'sim', LLM_model: JSON.stringify({ otherwise: answer }) })

/** An agent with version 1, which is live, and version 2. */
async function twoVersions(user: TestUser, more: object = {}) {
  const { body } = await user.client.post('/agents', {
    body: { agent_name: 'Ava', system_prompt: 'Be kind.', ...says('The old answer.'), ...more },
  })
  const path = `/agents/${body.agent_id}`
  await user.client.put(path, { body: says('The new answer.') })
  return { agentId: body.agent_id as string, path }
}

const split = (fresh: number) => [
  { version: 1, weight: 1 - fresh },
  { version: 2, weight: fresh },
]

/** Writes calls that are over, as the split of the rollout chose them. */
async function calls(
  user: TestUser,
  of: { agentId: string; rolloutId: string },
  version: number,
  successes: boolean[],
) {
  for (const success of successes) {
    await sql`
      insert into calls (id, workspace_id, agent_id, agent_name, call_type, direction, status, answered_at, ended_at,
        agent_version, rollout_id, analysis, turn_latencies_ms, cost_llm, cost_stt, cost_tts, platform_cost)
      values (${uuidv7()}, ${user.workspaceId}, ${of.agentId}, 'Ava', 'phone', 'inbound', 'completed', now(), now(),
        ${version}, ${of.rolloutId}, ${JSON.stringify({ success, disposition: success ? 'booked' : 'lost' })}, '{400,800}', 0.01, 0, 0, 0)`.execute(
      api.store.acrossTenants,
    )
  }
}
const outcomes = (good: number, bad: number) => [...Array(good).fill(true), ...Array(bad).fill(false)] as boolean[]

t.test('sessions are split by the weights, and each keeps its version', async (t) => {
  const user = await api.signUp()
  const { agentId, path } = await twoVersions(user)
  const put = await user.client.put(`${path}/rollout`, { body: { split: split(0.5) } })
  t.match(put, { status: 200, body: { status: 'running', sticky: 'contact', guard: null, versions: [{}, {}] } })
  const ask = async (session_id: string) => {
    const { body } = await user.client.post('/chats/interaction', {
      body: { agent_id: agentId, session_id, message: 'Hi' },
    })
    return body.response as string
  }
  const answers = new Map<string, string>()
  for (let n = 0; n < 12; n++) answers.set(`visitor-${n}`, await ask(`visitor-${n}`))
  t.same([...new Set(answers.values())].sort(), ['The new answer.', 'The old answer.'])
  for (const [session, answer] of [...answers].slice(0, 4)) t.equal(await ask(session), answer, session)

  await user.client.put(`${path}/rollout`, { body: { split: split(1) } })
  t.equal(await ask('visitor-0'), 'The new answer.')
  await user.client.put(`${path}/rollout`, {
    body: {
      split: split(1),
      rules: [{ match: { attribute: 'channel', operator: 'is', values: ['chat'] }, version: 1 }],
    },
  })
  t.equal(await ask('visitor-0'), 'The old answer.', 'a rule goes before the split')
  t.equal((await user.client.delete(`${path}/rollout`)).status, 200)
  t.match(await user.client.get(`${path}/rollout`), { status: 404, code: 'rollout_not_found' })
  t.equal(await ask('visitor-0'), 'The new answer.', 'the live version again')
})

t.test('a phone call says which version and whose rollout it is of', async (t) => {
  const user = await api.signUp()
  const phone = await startPhone(api, user, { first_message: 'Hello.' })
  const path = `/agents/${phone.agentId}`
  await user.client.put(path, { body: { temperature: 0.1 } })
  const { body } = await user.client.put(`${path}/rollout`, {
    body: {
      split: split(1),
      rules: [{ match: { attribute: 'country', operator: 'is', values: ['DE'] }, version: 1 }],
    },
  })
  const dial = async (to: string) => {
    const made = await user.client.post('/calls/outbound_call', {
      body: { agent_phone_number: phone.number, phone_number_to_dial: to },
    })
    const id = made.body.call_log_id
    await callWhen(user, id, ({ agent_version }) => agent_version !== null)
    await user.client.post(`/calls/${id}/hangup`)
    const { agent_version } = await callWhen(user, id, isOver)
    const { rows } = await sql<{ rollout_id: string | null }>`select rollout_id from calls where id = ${id}`.execute(
      api.store.acrossTenants,
    )
    return [agent_version, rows[0]?.rollout_id ?? null]
  }
  t.same(await dial('+14155550199'), [2, body.rollout_id])
  t.same(await dial('+4930901820'), [1, null], 'what a rule decides is not compared')
})

t.test(
  'a guard stops the version that is worse, once, and the other gets all calls until one is published',
  async (t) => {
    const user = await api.signUp()
    const { agentId, path } = await twoVersions(user)
    const body = { split: split(0.5), guard: { figure: 'success', min_calls: 20 } }
    const { rollout_id: rolloutId } = (await user.client.put(`${path}/rollout`, { body })).body
    const of = { agentId, rolloutId }
    await calls(user, of, 1, outcomes(95, 5))
    await calls(user, of, 2, outcomes(18, 2))
    await guard.look()
    t.match((await user.client.get(`${path}/rollout`)).body, { status: 'running', stopped: null })

    await calls(user, of, 2, outcomes(32, 48))
    await guard.look()
    await guard.look()
    const { body: stopped } = await user.client.get(`${path}/rollout`)
    t.match(stopped, {
      status: 'stopped',
      stopped: { version: 2, serves: 1 },
      versions: [
        { version: 1, calls: 100, success: { value: 0.95 }, latency_p95_ms: { value: 800 }, cost_usd: { value: 0.01 } },
        { version: 2, calls: 100, success: { value: 0.5 } },
      ],
    })
    t.ok(stopped.versions[1].success.low < 0.5 && stopped.versions[1].success.high > 0.5)
    const asked = { query: { after: '0-0', types: 'rollout.stopped' }, headers: { accept: 'application/json' } }
    const told = async () => (await user.client.get('/events', asked)).body.items ?? []
    // An event is read once all transactions that are older are over.
    await waitUntil(async () => (await told()).length > 0)
    const data = (await told()).map((event: { data: object }) => event.data)
    t.match(data, [
      { agent_id: agentId, version: 2, serves: 1, figure: 'success', compared: [{ calls: 100 }, { calls: 100 }] },
    ])
    t.equal(data.length, 1)

    const ask = async () => {
      const chat = await user.client.post('/chats/interaction', { body: { agent_id: agentId, message: 'Hi' } })
      return chat.body.response
    }
    t.equal(await ask(), 'The old answer.')
    t.match(await user.client.delete(`${path}/versions/1`), { status: 409, code: 'version_in_use' })
    await user.client.put(path, { body: says('The third answer.') })
    t.equal(await ask(), 'The third answer.')
  },
)

t.test('each figure has its direction', async (t) => {
  const user = await api.signUp()
  for (const [figure, isStopped] of [
    ['disposition:booked', true],
    ['disposition:lost', false],
    ['cost', false],
    ['faults', false],
    ['latency_p95', false],
  ] as const) {
    const { agentId, path } = await twoVersions(user)
    const body = { split: split(0.5), guard: { figure, min_calls: 20 } }
    const { rollout_id: rolloutId } = (await user.client.put(`${path}/rollout`, { body })).body
    await calls(user, { agentId, rolloutId }, 1, outcomes(60, 0))
    await calls(user, { agentId, rolloutId }, 2, outcomes(20, 40))
    await guard.look()
    const { status } = (await user.client.get(`${path}/rollout`)).body
    t.equal(status, isStopped ? 'stopped' : 'running', figure)
  }
})

t.test('a rollout that cannot be served is refused, each fault where it is', async (t) => {
  const user = await api.signUp()
  const { agentId, path } = await twoVersions(user)
  const refused = async (body: object) => {
    const answer = await user.client.put(`${path}/rollout`, { body })
    t.equal(answer.status, 422, answer.text)
    return answer.body.detail.map(({ loc, msg }: { loc: string[]; msg: string }) => `${loc.slice(1).join('.')}: ${msg}`)
  }
  t.match(await refused({ split: [{ version: 1, weight: 0.5 }] }), [/split: weights must sum to 1/])
  t.match(await refused({ split: [{ version: 9, weight: 1 }] }), [/split.0.version: version 9 does not exist/])
  t.match(await refused({ split: [{ version: 1, weight: 1 }], guard: { figure: 'success' } }), [/guard: compares two/])
  t.match(await refused({ split: [...split(0.5).slice(0, 1), ...split(0.5).slice(0, 1)] }), [/each version once/])
  t.match(await refused({ split: split(0.5), guard: { figure: 'mood' } }), [/guard.figure/])
  const rule = { match: { attribute: 'shoe size', operator: 'is', values: ['9'] }, version: 1 }
  t.match(await refused({ split: split(0.5), rules: [rule] }), [/rules.0.match.attribute/])

  const document = uuidv7()
  await sql`insert into documents (id, workspace_id, agent_id, filename, format, size_bytes, status)
    values (${document}, ${user.workspaceId}, ${agentId}, 'hours.md', 'md', 1, 'ready')`.execute(
    api.store.acrossTenants,
  )
  await user.client.put(path, { body: { temperature: 0.1 } })
  await user.client.delete(`${path}/documents/${document}`)
  t.match(await refused({ split: [{ version: 3, weight: 1 }] }), [/the document hours.md of version 3 is deleted/])
  await sql`update agent_versions set content = jsonb_set(content, '{tts_provider}', '"gone"')
    where agent_id = ${agentId} and number = 2`.execute(api.store.acrossTenants)
  t.match(await refused({ split: [{ version: 2, weight: 1 }] }), [/TTS_provider of version 2/])
  const next = await user.client.post('/agents', { body: { agent_name: 'Bob', system_prompt: 'Be brief.' } })
  const tools = [{ type: 'handoff', name: 'to_bob', description: 'Asks Bob.', to: next.body.agent_id }]
  const { version } = (await user.client.put(path, { body: { tools } })).body
  await user.client.put(path, { body: { tools: [] } })
  await user.client.delete(`/agents/${next.body.agent_id}`)
  t.match(await refused({ split: [{ version, weight: 1 }] }), [/hands over to agent [\da-f-]+, which is deleted/])
  t.equal((await user.client.get(`${path}/rollout`)).status, 404, 'nothing was kept')
})
