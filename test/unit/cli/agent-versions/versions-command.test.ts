import t from 'tap'
import { runVersionsCommand } from '../../../../cli/agent-versions/versions-command.ts'
import type { VersionsCommand } from '../../../../cli/agent-versions/versions-usage.ts'
import { startTestApi } from '../../../support/instance/api.ts'

const api = await startTestApi(t)
const { client } = await api.signUp()
const { body: made } = await client.post('/api-keys', { body: { name: 'CI', scopes: ['read', 'agents'] } })
const { body: agent } = await client.post('/agents', {
  body: { agent_name: 'Ava', system_prompt: 'Be kind.', publishing: 'manual' },
})
const path = `/agents/${agent.agent_id}`

const run = (command: VersionsCommand, ...argv: string[]) =>
  runVersionsCommand(command, { argv, env: { PATCHBAY_URL: api.url, PATCHBAY_API_KEY: made.key } })
const rollout = async () => (await client.get(`${path}/rollout`)).body

t.test('publish makes a draft live once, with its note', async (t) => {
  await client.patch(path, { body: { temperature: 0.1 } })
  t.same(await run('publish', 'Ava', '--note', 'Calmer'), { text: 'Published version 2 of Ava', code: 0 })
  t.match((await client.get(`${path}/versions/2`)).body, { note: 'Calmer', live: true })
  t.same(await run('publish', agent.agent_id), { text: 'The draft of Ava is as version 2, which is live', code: 0 })
  t.match(await run('publish', 'Ava', '--require-tests=none'), { code: 2, text: /names no test of this agent/ })
})

t.test('rollout shows, sets and ends it, and keeps what is not named', async (t) => {
  t.same(await run('rollout', 'Ava'), { text: 'Ava has no rollout: all calls get version 2', code: 0 })
  t.match(await run('rollout', 'Ava', '--guard=faults'), { code: 2, text: /no running rollout: give --split/ })
  const rule = { match: { attribute: 'country', operator: 'is_not', values: ['DE', 'AT'] }, version: 1 }
  await client.put(`${path}/rollout`, { body: { split: [{ version: 2, weight: 1 }], rules: [rule], sticky: 'call' } })
  t.match(await run('rollout', 'Ava', '--split', '1=80,2=20', '--guard=disposition:booked', '--min-calls=20'), {
    code: 0,
    text: /Rollout of Ava since .* UTC, by call\n {2}country is not DE, AT: version 1\n {2}version 1: 80 %, 0 calls\n {2}version 2: 20 %, 0 calls\n {2}guard: disposition:booked, decides from 20 calls/,
  })
  await run('rollout', 'Ava', '--split=1=49.5,2=50.5', '--planned-calls=1000')
  t.match(await rollout(), {
    rules: [rule],
    sticky: 'call',
    split: [{ weight: 0.495 }, { weight: 0.505 }],
    guard: { figure: 'disposition:booked', min_calls: 20, planned_calls: 1_000 },
  })
  t.match(await run('rollout', 'Ava', '--split=2=100'), { code: 2, text: /guard compares two versions/ })
  t.match(await run('rollout', 'Ava', '--split=2=100', '--guard=none', '--sticky=contact'), {
    code: 0,
    text: /by contact/,
  })
  t.match(await rollout(), { guard: null })
  t.match(await run('rollout', 'Ava', '--min-calls=5'), { code: 2, text: /are of a guard/ })
  t.same(await run('rollout', 'Ava', '--end'), {
    text: 'The rollout of Ava has ended: all calls get version 2',
    code: 0,
  })
  t.match(await run('rollout', 'Ava', '--end'), { code: 2, text: /404/ })
})

t.test('what is wrong with the words is said before anything is asked', async (t) => {
  const wrong = async (command: VersionsCommand, argv: string[], text: RegExp) =>
    t.match(await run(command, ...argv), { code: 2, text }, argv.join(' '))
  await wrong('publish', [], /Say which agent: patchbay publish AGENT\nUsage: patchbay publish/)
  await wrong('publish', ['Ava', 'Bob'], /Say which agent/)
  await wrong('publish', ['Ava', '--nte=a'], /Unknown option '--nte'\nUsage/)
  await wrong('publish', ['Ava', '--note='], /--note has no value/)
  await wrong('publish', ['Nobody'], /There is no agent "Nobody"; there are Ava/)
  await wrong('rollout', ['Ava', '--split=1=80,2=30'], /sum to 110, not to 100/)
  await wrong('rollout', ['Ava', '--split=0=100'], /"0=100" is no version with its percent/)
  await wrong('rollout', ['Ava', '--split=7=100'], /version 7 does not exist/)
  await wrong('rollout', ['Ava', '--guard=none', '--end'], /--end ends the rollout/)
  await wrong('rollout', ['Ava', '--min-calls=few'], /is a number of calls, not "few"/)
  const env = { PATCHBAY_URL: api.url }
  t.match(await runVersionsCommand('rollout', { argv: ['Ava'], env }), {
    code: 2,
    text: /Set PATCHBAY_API_KEY to an API key with the scopes read and agents/,
  })
})
