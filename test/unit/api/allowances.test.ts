import t, { type Test } from 'tap'
import { startTestApi, type TestApiOptions } from '../../support/instance/api.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../support/phone/phone.ts'

/** What a workspace may use from its first moment, and which numbers it may call. */

async function start(t: Test, options: TestApiOptions = {}) {
  const api = await startTestApi(t, options)
  const boss = await api.signUpLimited('Boss')
  const quotasOf = async (workspaceId: string) =>
    (await boss.client.get(`/operator/workspaces/${workspaceId}`)).body.quotas
  return { api, boss, quotasOf }
}

t.test(
  'a new workspace begins without purchases and without providers that need a key; an operator’s with all',
  async (t) => {
    const { api, boss, quotasOf } = await start(t)
    const eve = await api.signUpLimited('Eve')
    const limits = await quotasOf(eve.workspaceId)
    t.match(limits, { purchases: false, bought_numbers: 10, dial_countries: null, dial_number_types: null })
    for (const name of ['sim', 'offline', 'sip']) t.ok(limits.providers.includes(name), name)
    for (const name of ['openai', 'deepgram', 'elevenlabs', 'twilio', 'telnyx', 'plivo']) {
      t.notOk(limits.providers.includes(name), name)
    }
    const another = (await eve.client.post('/workspaces', { body: { name: 'Second' } })).body
    t.same(await quotasOf(another.workspace_id), limits, 'so does every other that they make')
    const everything = { purchases: true, bought_numbers: null, providers: null, dial_countries: ['*'] }
    t.match(await quotasOf(boss.workspaceId), everything)
    const made = (await boss.client.post('/workspaces', { body: { name: 'Third' } })).body
    t.match(await quotasOf(made.workspace_id), everything)
  },
)

t.test('one setting says which providers a new workspace has', async (t) => {
  for (const [setting, providers] of [
    ['*', null],
    ['openai, sip', ['openai', 'sip']],
  ] as const) {
    const { api, quotasOf } = await start(t, { env: { PATCHBAY_NEW_WORKSPACE_PROVIDERS: setting } })
    const eve = await api.signUpLimited('Eve')
    t.match(await quotasOf(eve.workspaceId), { purchases: false, providers })
  }
})

t.test('whom a workspace calls on an account of the operator is bounded by the operator, then by itself', async (t) => {
  const { api, boss } = await start(t)
  await linkWorker(t, api)
  const eve = await api.signUpLimited('Eve')
  const { number } = await startPhone(api, eve)
  const call = async (to: string) => {
    const { body } = await eve.client.post('/calls/outbound_call', {
      body: { agent_phone_number: number, phone_number_to_dial: to },
    })
    return callWhen(eve, body.call_log_id, isOver)
  }
  const refused = (why: RegExp) => ({ status: 'failed', end_reason: 'carrier_error', error: why })
  // The last digits say what the simulated callee does: busy.
  const [home, abroad] = ['+14155559901', '+442079469901']
  t.match(await call(home), { status: 'busy' })
  t.match(await call(abroad), refused(/^Sim error: .*GB is not among the countries .*operator.*dial_countries/))
  t.match(await call('+19005550123'), refused(/premium.*dial_number_types/))
  t.match(await call('+881612345678'), refused(/satellite/))
  t.match(await call('+24762212'), refused(/AC is not among the countries/))

  const operated = `/operator/workspaces/${eve.workspaceId}`
  t.match(await boss.client.patch(operated, { body: { dial_countries: ['US', 'GB'] } }), { status: 200 })
  t.match(await call(abroad), { status: 'busy' })
  const own = await eve.client.patch(`/workspaces/${eve.workspaceId}`, { body: { dial_countries: ['US'] } })
  t.match(own, { status: 200, body: { dial_countries: ['US'], dial_number_types: null, max_concurrent_calls: null } })
  t.match(await call(abroad), refused(/workspace allows itself \(dial_countries\)/))
  await eve.client.patch(`/workspaces/${eve.workspaceId}`, {
    body: { dial_countries: null, dial_number_types: ['mobile'] },
  })
  t.match(await call(abroad), refused(/workspace allows itself \(dial_number_types\)/))
  await eve.client.patch(`/workspaces/${eve.workspaceId}`, {
    body: { dial_countries: ['FR'], dial_number_types: null },
  })
  t.match(
    await call('+33612349901'),
    refused(/FR is not among the countries .*operator/),
    'nobody widens their own bound',
  )
  for (const body of [{ dial_countries: ['*'] }, { dial_countries: ['usa'] }, { dial_number_types: ['any'] }]) {
    t.equal((await eve.client.patch(`/workspaces/${eve.workspaceId}`, { body })).status, 422)
  }
})
