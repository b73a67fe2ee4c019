import t, { type Test } from 'tap'
import type { PhoneNumber } from '../../../../runtime/lib/phone-number.ts'
import { assignCarrierNumber } from '../../../../store/telephony/carrier-numbers.ts'
import { setOperatorQuotas } from '../../../../store/workspaces/workspace-quotas.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { TwilioDouble } from '../../../support/providers/doubles/carriers/twilio.ts'

async function start(t: Test, options: Record<string, unknown> = {}) {
  const twilio = await TwilioDouble.start(t)
  const plugins = { twilio: { options } }
  const api = await startTestApi(t, { env: { PUBLIC_URL: 'http://127.0.0.1:0', ...twilio.env }, plugins })
  const operator = await api.signUp()
  const user = await api.signUp()
  /** As the operator does it. */
  const give = (phoneNumber: string, workspaceId = user.workspaceId) =>
    assignCarrierNumber(api.store, {
      ...{ provider: 'twilio', phoneNumber: phoneNumber as PhoneNumber, workspaceId, assignedBy: null },
    })
  return { api, twilio, operator, user, give, voiceUrl: `${api.url}/telephony/twilio/voice` }
}

t.test('a number is bought where it is wanted, delivered here, and given back', async (t) => {
  const { twilio, user, voiceUrl } = await start(t)
  const { status, body } = await user.client.post('/phone-numbers/purchase', {
    body: { provider: 'twilio', country: 'US', area_code: '212' },
  })
  t.equal(status, 201)
  t.match(body, { provider: 'twilio', phone_number: /^\+1212/ })
  t.match(twilio.numbers, [{ phone_number: body.phone_number, voice_url: voiceUrl }])
  t.equal((await user.client.delete(`/phone-numbers/${body.phone_number}`)).status, 200)
  t.same(twilio.numbers, [])
})

t.test(
  'numbers of a country that asks for an address and documents are bought with those of the account',
  async (t) => {
    const body = { provider: 'twilio', country: 'DE' }
    const [addressSid, bundleSid] = [`AD${'1'.repeat(32)}`, `BU${'2'.repeat(32)}`]
    const buy = async (options: Record<string, unknown>) => {
      const { user, twilio } = await start(t, options)
      return { ...(await user.client.post('/phone-numbers/purchase', { body })), owned: twilio.numbers.length }
    }
    const without = await buy({})
    t.match(without, { status: 500, owned: 0 })
    t.match(without.body.detail, /21631.*regulatory\.DE\.addressSid/)
    t.match((await buy({ regulatory: { DE: { addressSid } } })).body.detail, /21649.*regulatory\.DE\.bundleSid/)
    t.match(await buy({ regulatory: { DE: { addressSid, bundleSid } } }), { status: 201, owned: 1 })
  },
)

t.test('a number of the account is registered by the workspace it was given to, and by no other', async (t) => {
  const { api, twilio, user, give, voiceUrl } = await start(t)
  const number = twilio.own('+14155550111')
  number.voice_url = 'https://pbx.example/voice'
  number.status_callback = 'https://pbx.example/status'
  const body = { phone_number: '+14155550111', provider: 'twilio' }
  for (const client of [user.client, await api.keyClient(user, ['numbers'])]) {
    const refused = await client.post('/phone-numbers', { body })
    t.equal(refused.status, 403)
    t.match(
      refused.body.detail,
      /^\+14155550111 is a number of the operator's Twilio account .*\/operator\/phone-numbers/,
    )
  }
  t.equal(number.voice_url, 'https://pbx.example/voice', 'nothing was changed')

  await give('+14155550111')
  t.equal((await user.client.post('/phone-numbers', { body })).status, 201)
  t.equal(number.voice_url, voiceUrl)
  const other = await api.signUp()
  t.equal((await other.client.post('/phone-numbers', { body })).status, 403)
  t.equal(number.voice_url, voiceUrl)
  await user.client.delete('/phone-numbers/+14155550111')
  t.match(number, { voice_url: 'https://pbx.example/voice', status_callback: 'https://pbx.example/status' })
  t.equal(twilio.numbers.length, 1)
})

t.test('a number that somebody had delivered elsewhere meanwhile stays as it is', async (t) => {
  const { twilio, user, give } = await start(t)
  const number = twilio.own('+14155550111')
  await give('+14155550111')
  await user.client.post('/phone-numbers', { body: { phone_number: '+14155550111', provider: 'twilio' } })
  number.voice_url = 'https://pbx.example/voice'
  t.equal((await user.client.delete('/phone-numbers/+14155550111')).status, 200)
  t.equal(number.voice_url, 'https://pbx.example/voice')
})

t.test('a number that an application or a SIP trunk of the account serves is refused with the cure', async (t) => {
  const { twilio, user, give, voiceUrl } = await start(t)
  const number = twilio.own('+14155550111', 'https://pbx.example/voice')
  await give('+14155550111')
  const register = () =>
    user.client.post('/phone-numbers', { body: { phone_number: '+14155550111', provider: 'twilio' } })
  for (const [field, sid, what] of [
    ['voice_application_sid', 'AP0123456789abcdef0123456789abcdef', 'TwiML application'],
    ['trunk_sid', 'TK0123456789abcdef0123456789abcdef', 'SIP trunk'],
  ] as const) {
    number[field] = sid
    const refused = await register()
    t.equal(refused.status, 500)
    t.match(refused.body.detail, new RegExp(`go to the ${what} ${sid}, .* remove it from the number`))
    t.equal(number.voice_url, 'https://pbx.example/voice', 'nothing was changed at Twilio')
    t.same((await user.client.get('/phone-numbers')).body, [], 'nor here')
    number[field] = null
  }
  t.equal((await register()).status, 201)
  t.equal(number.voice_url, voiceUrl)
})

t.test('a number that nothing was set for before is delivered nowhere once it is given up', async (t) => {
  const { twilio, user, give, voiceUrl } = await start(t)
  const number = twilio.own('+14155550111')
  // The name is the account's: it says nothing of who bought the number.
  number.friendly_name = 'Patchbay +14155550111'
  await give('+14155550111')
  const body = { phone_number: '+14155550111', provider: 'twilio' }
  t.equal((await user.client.post('/phone-numbers', { body })).status, 201)
  t.equal(number.voice_url, voiceUrl)
  await user.client.delete('/phone-numbers/+14155550111')
  t.equal(twilio.numbers.length, 1, 'it is no number that was bought here')
  t.equal(number.voice_url, '')
})

t.test('the operator gives numbers, moves them and takes them back', async (t) => {
  const { api, twilio, operator } = await start(t)
  twilio.own('+14155550111')
  const [one, two] = [await api.signUp(), await api.signUp()]
  const body = { phone_number: '+14155550111', provider: 'twilio' }
  const give = (workspaceId: string) =>
    operator.client.post('/operator/phone-numbers', { body: { ...body, workspace_id: workspaceId } })
  t.equal(
    (await one.client.post('/operator/phone-numbers', { body: { ...body, workspace_id: one.workspaceId } })).status,
    403,
  )
  t.match(await give(one.workspaceId), {
    status: 201,
    body: { workspace_id: one.workspaceId, assigned_by: operator.id },
  })
  t.equal((await one.client.post('/phone-numbers', { body })).status, 201)
  t.equal((await give(two.workspaceId)).status, 201)
  t.same((await one.client.get('/phone-numbers')).body, [], 'the one that had it has it no more')
  t.equal((await one.client.post('/phone-numbers', { body })).status, 403)
  t.equal((await two.client.post('/phone-numbers', { body })).status, 201)
  for (const provider of ['sip', 'sim']) {
    const { status, body: refused } = await operator.client.post('/operator/phone-numbers', {
      body: { ...body, provider, workspace_id: two.workspaceId },
    })
    t.match([status, refused.detail], [422, [{ loc: ['body', 'provider'], msg: /POST \/phone-numbers$/ }]])
  }
  t.match((await operator.client.get('/operator/phone-numbers')).body, [{ ...body, workspace_id: two.workspaceId }])
  const path = '/operator/phone-numbers/twilio/+14155550111'
  t.match(await operator.client.delete(path), { status: 200, body: { detail: 'Phone number taken back' } })
  t.equal((await operator.client.delete(path)).status, 404)
  t.same((await two.client.get('/phone-numbers')).body, [])
  t.equal((await operator.client.post('/phone-numbers', { body })).status, 201, 'an operator needs nobody’s leave')
})

t.test('a workspace buys as many numbers as the operator allows, and a new one none', async (t) => {
  const { api, user } = await start(t)
  const body = { provider: 'twilio', country: 'US' }
  await setOperatorQuotas(api.store, user.workspaceId, { bought_numbers: 1 })
  const bought = await user.client.post('/phone-numbers/purchase', { body })
  t.equal(bought.status, 201)
  t.match(await user.client.post('/phone-numbers/purchase', { body }), {
    status: 403,
    body: { detail: 'Quota reached: 1 bought phone numbers' },
  })
  await user.client.delete(`/phone-numbers/${bought.body.phone_number}`)
  t.equal((await user.client.post('/phone-numbers/purchase', { body })).status, 201)
  const stranger = await api.signUpLimited()
  t.equal((await stranger.client.post('/phone-numbers/purchase', { body })).status, 403)
})

t.test('what Twilio refuses is told in its words', async (t) => {
  const { twilio, user, give } = await start(t)
  await give('+14155550112')
  const buy = (country: string, area_code?: string) =>
    user.client.post('/phone-numbers/purchase', { body: { provider: 'twilio', country, area_code } })
  t.same((await buy('US', '999')).body, { detail: 'Twilio error: no number of US with area code 999 is for sale' })
  const foreign = await user.client.post('/phone-numbers', {
    body: { phone_number: '+14155550112', provider: 'twilio' },
  })
  t.equal(foreign.status, 500)
  t.same(foreign.body, { detail: 'Twilio error: the account does not own +14155550112' })
  twilio.refusals.push({ status: 400, code: 21_404, message: 'Trial accounts can have one number' })
  t.same((await buy('US')).body, { detail: 'Twilio error: Trial accounts can have one number (21404)' })
  twilio.refusals.push({ status: 502 })
  t.match((await buy('US')).body.detail, /^Twilio error: /)
  t.equal((await user.client.get('/phone-numbers')).body.length, 0)
})
