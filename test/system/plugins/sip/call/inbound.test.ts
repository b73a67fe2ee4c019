import t from 'tap'
import { callWhen, isOver, linkWorker } from '../../../../support/phone/phone.ts'
import { sipp, skipWithout } from '../../../../support/sip/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../../../support/sip/sip-phone.ts'

const skip = skipWithout('sipp')

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field
const lastCall = async (user: any): Promise<any> => (await user.client.get('/calls/logs')).body.items[0]

t.test('calls of a softphone on this machine, against sipp', { skip }, async (t) => {
  const sip = await startSipApi(t)
  const { user, sipPort } = sip
  await linkWorker(t, sip.api)
  const { number } = await addSipNumber(sip)

  /** Scenarios in which the call is answered and the caller hangs up. */
  const conversations = {
    'inbound/hold': 'hold, resume and UPDATE are answered with our own description',
    'inbound/late-ack': 'a late ACK still finds its call',
    'inbound/delayed-offer': 'an INVITE without an offer gets ours',
    'inbound/info-dtmf': 'keys come with INFO, too',
    'inbound/prack': 'ringing is reliable where the caller asks for it',
    'inbound/session-timer': 'a session interval that is too short is refused with the least we take',
    'inbound/refer': 'a caller can not have us call somebody else',
  }
  for (const [scenario, name] of Object.entries(conversations)) {
    t.test(name, async (t) => {
      const { code, errors } = await sipp(t, scenario, sipPort, number)
      t.equal(code, 0, errors)
      const { call_log_id } = await lastCall(user)
      const call = await callWhen(user, call_log_id, isOver)
      t.match(call, { status: 'completed', end_reason: 'caller_hangup', direction: 'inbound', call_type: 'phone' })
      t.match(call, { to_number: number, from_number: '+14155550142' })
      t.equal(call.transcript[0].text, 'Hello, this is Ada.')
      t.match(call.carrier, { call_id: /.+/, trunk: 'local', sip_status: 200, released_by: 'caller' })
    })
  }

  t.test('the same over TCP', async (t) => {
    const { code, errors } = await sipp(t, 'inbound/hold', sipPort, number, ['-t', 't1'])
    t.equal(code, 0, errors)
  })

  const refusals = {
    'inbound/codec': 'an offer without a codec of ours is refused',
    'inbound/bad-extension': 'an extension we lack is named',
    'inbound/options': 'OPTIONS are answered',
  }
  for (const [scenario, name] of Object.entries(refusals)) {
    t.test(name, async (t) => {
      const { code, errors } = await sipp(t, scenario, sipPort, number)
      t.equal(code, 0, errors)
    })
  }

  t.test("an extension nobody has registered reaches its trunk's default agent, who knows the caller", async (t) => {
    const { body: agent } = await user.client.post('/agents', {
      body: { agent_name: 'Bo', system_prompt: 'You are Bo.', first_message: 'Hello {{sip_from_user}}, this is Bo.' },
    })
    const { status, body: trunk } = await user.client.post('/trunks', {
      body: { name: 'pbx', host: '192.0.2.1', allowed_addresses: ['127.0.0.1'], default_agent_id: agent.agent_id },
    })
    t.equal(status, 201)
    const { code, errors } = await sipp(t, 'inbound/late-ack', sipPort, '204')
    t.equal(code, 0, errors)
    const { call_log_id } = await lastCall(user)
    const call = await callWhen(user, call_log_id, isOver)
    t.match(call, { agent_name: 'Bo', to_number: '204', status: 'completed' })
    t.match(call.transcript[0].text, /^Hello \S*4155550142, this is Bo\.$/)
    await user.client.delete(`/trunks/${trunk.trunk_id}`)
  })

  t.test('a number nobody has is not found', async (t) => {
    const { code, errors } = await sipp(t, 'inbound/unknown-number', sipPort, '+14155559999')
    t.equal(code, 0, errors)
  })
})

t.test('calls that find no agent free, against sipp', { skip }, async (t) => {
  const sip = await startSipApi(t, { env: { PATCHBAY_QUEUE_WAIT_MS: '8000' } })
  const { number } = await addSipNumber(sip)

  t.test('the caller who hangs up while it rings is let go', async (t) => {
    const { code, errors } = await sipp(t, 'inbound/cancel', sip.sipPort, number)
    t.equal(code, 0, errors)
    const { call_log_id } = await lastCall(sip.user)
    t.match(await callWhen(sip.user, call_log_id, isOver), { status: 'canceled', end_reason: 'caller_hangup' })
  })

  t.test('the caller is asked to try again later', async (t) => {
    const { code, errors } = await sipp(t, 'inbound/no-capacity', sip.sipPort, number)
    t.equal(code, 0, errors)
    const { call_log_id } = await lastCall(sip.user)
    t.match(await callWhen(sip.user, call_log_id, isOver), { status: 'failed', end_reason: 'no_capacity' })
  })
})

t.test('a trunk without addresses lets calls in by password', { skip }, async (t) => {
  // With a database of its own there is no trunk for this machine: loopback is a stranger like any other.
  const sip = await startSipApi(t, { env: { DATABASE_URL: 'postgres://elsewhere/patchbay' } })
  await linkWorker(t, sip.api)
  const credentials = { username: 'aurora', password: 'top secret' }
  const { number } = await addSipNumber(sip, {
    host: '192.0.2.1',
    allowed_addresses: [],
    ...credentials,
    max_concurrent_calls: 1,
  })
  const right = await sipp(t, 'inbound/digest', sip.sipPort, number, ['-au', 'aurora', '-ap', 'top secret'])
  t.equal(right.code, 0, right.errors)
  const wrong = await sipp(t, 'inbound/digest', sip.sipPort, number, ['-au', 'aurora', '-ap', 'guess'])
  t.not(wrong.code, 0)
  t.match(wrong.errors, /403/)
})

t.test('a number means something over the trunks of its own workspace alone', { skip }, async (t) => {
  const sip = await startSipApi(t, { env: { DATABASE_URL: 'postgres://elsewhere/patchbay' } })
  await linkWorker(t, sip.api)
  const number = '+14155550190'
  const registered = async (username: string, trunk: Record<string, unknown> | undefined) => {
    const user = await sip.api.signUp()
    const { body: agent } = await user.client.post('/agents', {
      body: { agent_name: username, system_prompt: 'You answer.', first_message: `This is ${username}.` },
    })
    if (trunk !== undefined) {
      const made = await user.client.post('/trunks', {
        body: { name: 'main', username, password: 'top secret', countries: ['US'], ...trunk },
      })
      t.equal(made.status, 201)
    }
    const { status } = await user.client.post('/phone-numbers', {
      body: { phone_number: number, provider: 'sip', agent_id: agent.agent_id, ...(trunk && { trunk: 'main' }) },
    })
    t.equal(status, 201, `${username} registers it`)
    return user
  }
  const without = await registered('eve', undefined)
  const hostile = await registered('mallory', { host: '192.0.2.1' })
  const owner = await registered('aurora', { host: '192.0.2.2' })
  for (const [username, user] of [
    ['aurora', owner],
    ['mallory', hostile],
  ] as const) {
    const { code, errors } = await sipp(t, 'inbound/digest', sip.sipPort, number, [
      '-au',
      username,
      '-ap',
      'top secret',
    ])
    t.equal(code, 0, errors)
    t.match(await lastCall(user), { agent_name: username, to_number: number })
  }
  t.equal((await owner.client.get('/calls/logs')).body.total, 1)
  t.equal((await hostile.client.get('/calls/logs')).body.total, 1)
  t.equal((await without.client.get('/calls/logs')).body.total, 0)
  t.same((await owner.client.get('/refused-calls')).body.items, [])
})
