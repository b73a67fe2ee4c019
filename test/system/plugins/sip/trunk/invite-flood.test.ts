import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { headerOf } from '../../../../../plugins/sip/message/message.ts'
import { startCaller, startCarrier, trunkOf } from '../support/carrier.ts'

const SDP = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 9 RTP/AVP 0', ''].join(
  '\r\n',
)
/** Longer than the first repetition of an answer that waits for its ACK. */
const REPEATED_MS = 1_200

t.test('a flood of calls over a trunk is answered 503 once each, and the core hears of a few', async (t) => {
  const { carrier, port } = await startCarrier(t, [
    trunkOf({ name: 'carrier', host: '192.0.2.1', maxCallsPerSecond: 1 }),
  ])
  let offered = 0
  await carrier.receive((call) => {
    offered++
    call.reject('no_agent')
  }, new AbortController().signal)
  const caller = await startCaller(t, port)
  for (let i = 0; i < 200; i++) {
    const via = `Via: SIP/2.0/UDP 127.0.0.1:${caller.port};branch=z9hG4bKflood${i};rport`
    caller.send('INVITE', '+14155550100', [via, `Call-ID: flood-${i}`], SDP)
    if (i % 20 === 19) await sleep(20)
  }
  await sleep(REPEATED_MS)
  const refused = caller.answers.filter(({ status }) => status === 503)
  t.ok(offered > 0 && offered <= 25, `${offered} calls were offered`)
  t.equal(refused.length, 200 - offered)
  t.equal(new Set(refused.map(({ callId }) => callId)).size, refused.length)
  t.ok(refused.every((answer) => headerOf(answer, 'retry-after') === '10'))
})
