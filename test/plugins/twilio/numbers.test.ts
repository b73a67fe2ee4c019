import t, { type Test } from 'tap'
import { startTestApi } from '../../support/api.ts'
import { TwilioDouble } from '../../support/doubles/twilio.ts'

async function start(t: Test) {
  const twilio = await TwilioDouble.start(t)
  const api = await startTestApi(t, { env: { PUBLIC_URL: 'http://127.0.0.1:0', ...twilio.env } })
  const user = await api.signUp()
  return { twilio, user, voiceUrl: `${api.url}/telephony/twilio/voice` }
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

t.test('a number of the account is delivered here, and stays the account’s when it is given up', async (t) => {
  const { twilio, user, voiceUrl } = await start(t)
  const number = twilio.own('+14155550111')
  const { status } = await user.client.post('/phone-numbers', {
    body: { phone_number: '+14155550111', provider: 'twilio' },
  })
  t.equal(status, 201)
  t.equal(number.voice_url, voiceUrl)
  await user.client.delete('/phone-numbers/+14155550111')
  t.equal(twilio.numbers.length, 1)
  t.equal(number.voice_url, '', 'its calls come here no more')
})

t.test('what Twilio refuses is told in its words', async (t) => {
  const { twilio, user } = await start(t)
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
