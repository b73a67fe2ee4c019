import t from 'tap'
import { answerChallenge, chooseChallenge } from '../../../../plugins/sip/message/digest.ts'
import { headersOf, type SipResponse } from '../../../../plugins/sip/message/message.ts'
import { addSipNumber, startSipApi } from '../../../support/sip/sip-phone.ts'
import { startCaller } from '../../../system/plugins/sip/support/carrier.ts'

const SDP = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 9 RTP/AVP 0', ''].join(
  '\r\n',
)

t.test('what another workspace lists answers no number of yours, and hides no call from you', async (t) => {
  // With a database of its own this machine is a trunk that calls every number.
  const database = { DATABASE_URL: 'postgres://database.invalid/named', PATCHBAY_SIGNUP: 'open' }
  const env = { ...database, PATCHBAY_TRUNKS_ALLOW_NET: '127.0.0.1', PATCHBAY_QUEUE_WAIT_MS: '1000' }
  const own = await startSipApi(t, { env })
  const account = { username: 'aurora', password: 'circle of life' }
  const { number } = await addSipNumber(own, { host: 'sip.example.invalid', allowed_addresses: [], ...account })
  const hostile = await own.api.signUp('Eve')
  const { agent_id } = (
    await hostile.client.post('/agents', { body: { agent_name: 'Eve', system_prompt: 'You are Eve.' } })
  ).body
  const trunk = { name: 'all', host: 'eve.example.invalid', allowed_addresses: ['127.0.0.1'] }
  t.equal((await hostile.client.post('/trunks', { body: { ...trunk, default_agent_id: agent_id } })).status, 201)

  const caller = await startCaller(t, own.sipPort)
  const prove = (challenged: SipResponse): string => {
    const challenge = chooseChallenge(headersOf(challenged, 'www-authenticate'))
    const asked = { method: 'INVITE', uri: `sip:${number}@127.0.0.1`, body: new Uint8Array() }
    return `Authorization: ${answerChallenge(challenge!, account, asked, 'c', 1)}`
  }
  const challenged = await caller.call(number, [], SDP)
  t.equal(challenged.status, 401)
  // No voice worker is linked: the call was taken, and waited for one.
  t.equal((await caller.call(number, [prove(challenged)], SDP)).status, 503)
  t.equal((await caller.call('+14155559999', [], SDP)).status, 503, 'what nobody registered is the list’s')

  const logs = async (user: typeof hostile) => (await user.client.get('/calls/logs')).body
  t.equal(JSON.stringify(await logs(own.user)).includes(number), true)
  t.equal(JSON.stringify(await logs(hostile)).includes(number), false)
  t.equal(JSON.stringify((await hostile.client.get('/refused-calls')).body).includes(number), false)
})
