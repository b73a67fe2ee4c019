import t from 'tap'
import { testCallOverTrunk } from '../../../../cli/trunk-test-call.ts'
import { addSipNumber, startSipApi } from '../../../support/sip/sip-phone.ts'
import { startSipResponder } from '../../../support/sip/sip-responder.ts'

const sip = await startSipApi(t)
const { client } = sip.user
const far = await startSipResponder(t, (method) => (method === 'INVITE' ? 403 : 200))
const { number } = await addSipNumber(sip, { name: 'peer', host: `127.0.0.1:${far.port}` })
const { body: trunks } = await client.get('/trunks')
const path = `/trunks/${trunks[0].trunk_id}/test-call`
const call = (body: object) => client.post(path, { body })

t.test('a test call comes from a number of the trunk and explains what the carrier said', async (t) => {
  const { status, body } = await call({ phone_number_to_dial: '+1 (415) 555-0177' })
  t.equal(status, 200, JSON.stringify(body))
  t.match(body, {
    healthy: false,
    from_number: number,
    findings: [{ check: 'call', ok: false, text: /^403 .*; it knows us and refuses/ }],
  })
  t.match(body.ladder, /INVITE \(SDP\).*\n.*403 Forbidden \(INVITE\)/)
  const { body: log } = await client.get('/calls/logs')
  t.equal((log.items ?? log).length, 0, 'it is in no call log')
})

t.test('the rules of every call hold for a test call', async (t) => {
  t.match((await call({ phone_number_to_dial: '+19005551234' })).body, {
    findings: [{ check: 'call', ok: false, text: /premium|not allowed|number_types/i }],
    ladder: '',
  })
  await client.post('/do-not-call', { body: { phone_number: '+14155550178' } })
  t.match(await call({ phone_number_to_dial: '+14155550178' }), { status: 409, body: { detail: /do-not-call/ } })
  t.match(await call({ phone_number_to_dial: 'nobody home' }), {
    status: 400,
    body: { detail: 'Invalid phone number format' },
  })
  const foreign = { phone_number_to_dial: '+14155550177', agent_phone_number: '+14155559999' }
  t.match(await call(foreign), { status: 404, body: { detail: 'Phone number not found' } })
  const { body: bare } = await client.post('/trunks', {
    body: { name: 'bare', host: '127.0.0.1:9', allowed_addresses: ['127.0.0.1'] },
  })
  const without = await client.post(`/trunks/${bare.trunk_id}/test-call`, {
    body: { phone_number_to_dial: '+19005551234' },
  })
  t.match(
    without,
    { status: 200, body: { from_number: 'patchbay', healthy: false } },
    'a trunk without numbers can be tried',
  )
})

t.test('the doctor places it by the name of the trunk', async (t) => {
  const { body: key } = await client.post('/api-keys', { body: { name: 'doctor', scopes: ['numbers'] } })
  const env = { PATCHBAY_URL: sip.api.url, PATCHBAY_API_KEY: key.key }
  const { text, healthy } = await testCallOverTrunk({ call: '+14155550177', trunk: 'peer' }, env)
  t.notOk(healthy)
  t.match(text, new RegExp(`^A call of \\+14155550177 from \\${number} over peer\nsip  FAULT   call: 403 `))
  t.match(text, /Patchbay INVITE \(SDP\)/)
  await t.rejects(testCallOverTrunk({ call: '+14155550177', trunk: undefined }, env), /Say which trunk.*bare, peer/)
})
