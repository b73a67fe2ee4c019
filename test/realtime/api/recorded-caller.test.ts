import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import t from 'tap'
import { BYTES_PER_FRAME, wavHead } from '../../../runtime/recording/wav.ts'
import { renderSpeech } from '../../../scripts/demo/speech.ts'
import { insertCall } from '../../../store/calls/calls.ts'
import { writeRecordingKey } from '../../../store/calls/recordings.ts'
import { objectPath } from '../../../store/objects/object-folder.ts'
import { type ApiClient, startTestApi, type TestUser } from '../../support/instance/api.ts'
import { startTestJobs } from '../../support/instance/jobs.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

/** A recorded call becomes a test whose caller is heard as in the recording. */

const RATE_HZ = 8_000
const OPENING = 'When do you open on Monday?'
const PRICE = 'What does a table for four cost?'
/** Where the caller's turns begin. */
const TURNS = [
  { seq: 1, atMs: 3_000, text: OPENING },
  { seq: 3, atMs: 9_000, text: PRICE },
]

const api = await startTestApi(t)
const owner = await api.signUp()
const { client } = owner

/** A call of the user's that is over, its caller recorded by the voice of this machine. */
async function recordedCall(user: TestUser, agentId: string): Promise<{ callId: string; path: string }> {
  const call = await insertCall(api.store.tenant(user.workspaceId), {
    ...{ agent_id: agentId, agent_name: 'Ava', call_type: 'phone', direction: 'inbound', status: 'completed' },
    ...{ end_reason: 'caller_hangup', disposition: 'completed', from_number: '+4930901820' },
    ...{ answered_at: new Date(), ended_at: new Date() },
  })
  const sound = Buffer.alloc(14 * RATE_HZ * BYTES_PER_FRAME)
  const write = (seq: number, role: string, text: string, startMs: number, endMs: number) =>
    api.store.pool.query(
      `insert into call_turns (call_id, workspace_id, seq, role, text, start_ms, end_ms) values ($1, $2, $3, $4, $5, $6, $7)`,
      [call.id, user.workspaceId, seq, role, text, Math.round(startMs), Math.round(endMs)],
    )
  await write(0, 'assistant', 'Good morning, Harbour House.', 100, 2_500)
  await write(2, 'assistant', 'We open at nine on Monday.', 6_000, 8_000)
  for (const { seq, atMs, text } of TURNS) {
    const samples = await renderSpeech(text, RATE_HZ)
    const from = (atMs * RATE_HZ) / 1_000
    for (const [i, sample] of samples.entries()) sound.writeInt16LE(sample, (from + i) * BYTES_PER_FRAME)
    await write(seq, 'user', text, atMs, atMs + (samples.length * 1_000) / RATE_HZ)
  }
  const key = `recordings/${user.workspaceId}/${call.id}.wav`
  const path = objectPath(api.config.dataDir, key)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, Buffer.concat([wavHead(RATE_HZ, sound.length), sound]))
  await writeRecordingKey(api.store, user.workspaceId, call.id, key)
  return { callId: call.id, path }
}

async function makeAgent(user: ApiClient): Promise<string> {
  const body = {
    ...{ agent_name: 'Ava', first_message: 'Good morning, Harbour House.' },
    system_prompt: 'You are the front desk.\nWe open at nine on Monday.\nA table for four costs 20 euros.',
    ...{ LLM_provider: 'offline', LLM_model: 'extractive', STT_provider: 'sim' },
  }
  return (await user.post('/agents', { body })).body.agent_id
}

/** Runs them to their end; resolves with their cases. */
async function casesOf(agent_id: string, tests: unknown[]) {
  const { status, body } = await client.post('/tests/runs', { body: { agent_id, tests } })
  t.equal(status, 202, JSON.stringify(body))
  let run = body
  await waitUntil(
    async () => {
      run = (await client.get(`/tests/runs/${body.run_id}`)).body
      return run.status !== 'running'
    },
    () => `the run: ${JSON.stringify(run)}`,
  )
  return (await client.get(`/tests/runs/${body.run_id}/cases`)).body.items
}

const callersWords = ({ turns }: { turns: { role: string; text: string }[] }) =>
  turns.filter(({ role }) => role === 'user').map(({ text }) => text)

t.test('the caller of a recorded call is heard again, and a recording that is gone is a reason', async (t) => {
  await startTestJobs(t, api)
  const agentId = await makeAgent(client)
  const { callId, path } = await recordedCall(owner, agentId)
  const toTest = (body: Record<string, unknown>) => client.post(`/calls/${callId}/to-test`, { body })
  t.match(await toTest({ audio: 'call' }), { status: 422, body: { detail: [{ loc: ['body', 'personal_data'] }] } })
  const { status, body } = await toTest({ name: 'as it sounded', audio: 'call', personal_data: 'keep' })
  t.equal(status, 200, JSON.stringify(body))
  t.match(body.definition.caller, {
    ...{ channel: 'audio', recorded_call: callId },
    say: [
      { say: OPENING, recorded_turn: 1 },
      { say: PRICE, recorded_turn: 3 },
    ],
  })
  t.equal((await client.post('/tests', { body: { yaml: body.yaml } })).status, 201, 'it can be stored')

  const stranger = await api.signUp()
  const theirs = await recordedCall(stranger, await makeAgent(stranger.client))
  const with_ = (caller: Record<string, unknown>) => ({
    ...body.definition,
    caller: { ...body.definition.caller, ...caller },
  })
  const swapped = with_({
    say: [
      { say: OPENING, recorded_turn: 3 },
      { say: PRICE, recorded_turn: 1 },
    ],
  })
  const [heard, exchanged, foreign, agents] = await casesOf(agentId, [
    body.definition,
    swapped,
    with_({ recorded_call: theirs.callId }),
    with_({ say: [{ say: OPENING, recorded_turn: 0 }] }),
  ])
  t.match(heard, { verdict: 'pass' }, heard.why)
  t.same(callersWords(heard), [OPENING, PRICE])
  t.same(callersWords(exchanged), [PRICE, OPENING], 'what is heard is what was recorded, not what is written')
  t.match(foreign, { verdict: 'error', why: /^There is no call/ })
  t.match(agents, { verdict: 'error', why: /was not said by its caller/ })

  await rm(path)
  const [gone, inText] = await casesOf(agentId, [body.definition, with_({ channel: 'text' })])
  t.match(gone, { verdict: 'error', why: /has no recording here/ })
  t.match(callersWords(inText), [OPENING, PRICE], 'in text the words are enough')
  await api.store.pool.query('update calls set recording_key = null where id = $1', [callId])
  t.match(await toTest({ audio: 'call', personal_data: 'keep' }), { status: 404, code: 'recording_not_found' })
})
