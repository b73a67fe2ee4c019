import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { makeAgent } from '../../../scripts/demo/call.ts'
import { openWebCall, type WebCall } from '../../support/browser/web-call.ts'
import { roleWhen, startInstallation } from '../../support/instance/installation.ts'
import { runMain } from '../../support/instance/instance.ts'
import { WirePhone } from '../../support/phone/wire-phone.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

/** `ROLLING_CALLS` widens the run. */
const CALLS = Number(process.env.ROLLING_CALLS ?? 5)
const PHONE_CALLS = Math.floor(CALLS / 2)
const WEB_CALLS = CALLS - PHONE_CALLS
const LIMIT_MS = 600_000 + CALLS * 5_000
const NUMBER = '+14155550177'
/** Seconds, many times what a balancer is given to notice. */
const MOST_TRIES = 120

const WAIT_MS = 120_000

interface Call {
  call_log_id: string
  call_type: string
  status: string
  end_reason: string | null
}

/** What a promise resolves with, while there is time to say what was waited for. */
function within<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = sleep(WAIT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`Waited in vain for ${what}`)
  })
  return Promise.race([promise, late])
}

t.test('all roles are restarted under live calls, and none is dropped', { timeout: LIMIT_MS }, async (t) => {
  const installation = await startInstallation(t, { calls: CALLS, limitMs: LIMIT_MS })
  const oldApi = await installation.api('a')
  const [oldVoice, oldJobs] = [await installation.voice(), await installation.jobs()]
  for (const role of [oldApi, oldVoice, oldJobs]) await roleWhen(role, 'ready')

  const { rest, agentId } = await makeAgent(oldApi.url)
  const trunk = { name: 'peer', host: '127.0.0.1', allowed_addresses: ['127.0.0.1'], countries: ['US'] }
  await rest.send('POST', '/trunks', trunk)
  await rest.send('POST', '/phone-numbers', {
    phone_number: NUMBER,
    provider: 'sip',
    agent_id: agentId,
    trunk: 'peer',
  })
  const web: WebCall[] = []
  while (web.length < WEB_CALLS) web.push(await openWebCall(rest, agentId))
  const phones: WirePhone[] = []
  while (phones.length < PHONE_CALLS) {
    const phone = await WirePhone.start(t, oldApi.sipPort)
    await phone.call(NUMBER)
    phones.push(phone)
  }
  const calls = async (): Promise<Call[]> =>
    rest.send<{ items: Call[] }>('GET', '/calls/logs?page_size=100').then(({ items }) => items)
  let seen: Call[] = []
  const areAllUp = async () => {
    seen = await calls()
    return seen.filter(({ status }) => status === 'in_progress').length >= CALLS
  }
  await waitUntil(areAllUp, () => `all calls to be in progress: ${JSON.stringify(seen)}`)

  const newApi = await installation.api('b')
  const [newVoice, newJobs] = [await installation.voice(), await installation.jobs()]
  for (const role of [newApi, newVoice, newJobs]) await roleWhen(role, 'ready')

  const drained = await runMain(['drain', 'jobs', `--port=${oldJobs.adminPort}`])
  t.match(drained, { code: 0, stderr: 'Draining: no call is running\nDrained\n' })
  t.equal(await within(oldJobs.ended, 'the old job worker to end'), 0)
  oldVoice.child.kill('SIGTERM')
  await roleWhen(oldVoice, 'draining')
  oldApi.child.kill('SIGTERM')
  await roleWhen(oldApi, 'draining')
  t.equal((await fetch(`${oldApi.url}/ready`)).status, 503, 'a balancer hears it at the public port, too')
  t.equal((await fetch(`${oldApi.url}/health`)).status, 200, 'and does not take it for dead')

  const late = await openWebCall(rest, agentId)
  t.ok(late.callId, 'before balancers have noticed, a call is still taken')
  const refusal = /503/
  for (let tries = 1; ; tries++) {
    if (tries > MOST_TRIES) throw new Error('The draining node goes on taking new calls')
    const refused = await openWebCall(rest, agentId).catch((error: Error) => error)
    if (refused instanceof Error) {
      t.match(refused.message, refusal, 'then new ones are refused')
      break
    }
    refused.session.send({ type: 'end' })
    await sleep(1_000)
  }
  const elsewhere = await openWebCall(rest, agentId, newApi.url)
  t.ok(elsewhere.callId, 'the new node takes them')

  // Whoever found no room on an overloaded machine has dialed again.
  const isTurnedAway = ({ end_reason }: Call) => end_reason === 'no_capacity'
  const turnedAway = new Set((await calls()).filter(isTurnedAway).map(({ call_log_id }) => call_log_id))
  const dialed = async () => (await calls()).filter(({ call_log_id }) => !turnedAway.has(call_log_id))
  t.same(
    (await dialed()).filter(({ status }) => status === 'failed'),
    [],
  )
  // Those that were ended above are over in a moment, and the last ones are written in a moment.
  const live = async () => (await calls()).filter(({ status }) => status === 'in_progress')
  await waitUntil(
    async () => (await live()).length === CALLS + 2,
    () => 'the calls that go on, and no others',
  )
  const running = await live()
  t.equal(running.length, CALLS + 2, 'every call goes on')
  t.notOk(
    phones.some(({ isLeft }) => isLeft),
    'nobody was hung up on',
  )
  t.equal(oldApi.child.exitCode, null)

  for (const { session } of [...web, late, elsewhere]) session.send({ type: 'end' })
  for (const { ended } of [...web, late, elsewhere]) {
    t.match(await within(ended, 'a web call to end'), [{ reason: 'caller_hangup' }])
  }
  for (const { call_log_id } of running.filter(({ call_type }) => call_type === 'phone')) {
    await rest.send('POST', `/calls/${call_log_id}/hangup`)
  }
  for (const phone of phones) await phone.left()
  t.equal(await within(oldApi.ended, 'the old node to end'), 0, 'the old node ends with its last call')
  t.equal(await within(oldVoice.ended, 'the old worker to end'), 0)
  const api = new URL(newApi.url)
  Object.assign(rest, { url: api.href })
  // Who was told of the end may read the log before it has it.
  await waitUntil(async () => (await live()).length === 0)
  const ends = (await dialed()).map(({ status, end_reason }) => `${status} ${end_reason}`)
  // The one that was refused waits for its caller to come again, until its token expires.
  t.same([...new Set(ends)].sort(), ['completed api_hangup', 'completed caller_hangup', 'queued null'])
})
