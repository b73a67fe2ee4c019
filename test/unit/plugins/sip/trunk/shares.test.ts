import dgram from 'node:dgram'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { answerChallenge, chooseChallenge } from '../../../../../plugins/sip/message/digest.ts'
import { headersOf } from '../../../../../plugins/sip/message/message.ts'
import { NO_DIAL_RULES } from '../../../../../runtime/dialing/dial-policy.ts'
import { startCaller, startCarrier, trunkOf } from '../../../../system/plugins/sip/support/carrier.ts'

/** What one trunk has and does takes nothing from another. */

const SDP = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 9 RTP/AVP 0', ''].join(
  '\r\n',
)

t.test('a trunk that floods with calls nobody answers leaves room for the calls of another', async (t) => {
  const trunks = [
    trunkOf({
      ...{ name: 'flood', host: '127.0.0.8:9', allowedAddresses: ['127.0.0.8'] },
      // As many as are read: what is looked at is transactions alone.
      maxCallsPerSecond: 2_000,
    }),
    trunkOf({ name: 'other', host: '127.0.0.9:9', allowedAddresses: ['127.0.0.9'] }),
  ]
  const { carrier, port } = await startCarrier(t, trunks)
  let waiting = 0
  await carrier.receive(async (call) => {
    // The webhook of the flood's number takes its time.
    if (call.trunks?.[0] === 'flood') {
      waiting++
      return
    }
    const leg = await call.accept({ callId: 'other', trunk: 'other', rules: NO_DIAL_RULES })
    leg?.answer()
  }, new AbortController().signal)
  const flood = dgram.createSocket('udp4').bind(0, '127.0.0.8')
  await once(flood, 'listening')
  t.teardown(() => flood.close())
  const local = flood.address().port
  let overloaded = 0
  flood.on('message', (bytes) => {
    if (String(bytes).startsWith('SIP/2.0 503')) overloaded++
  })
  const invite = (i: number): string =>
    [
      `INVITE sip:+14155550100@127.0.0.1:${port} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.8:${local};branch=z9hG4bK${i};rport`,
      `From: <sip:+14155550142@127.0.0.8>;tag=f${i}`,
      `To: <sip:+14155550100@127.0.0.1>`,
      `Call-ID: flood-${i}`,
      'CSeq: 1 INVITE',
      `Contact: <sip:x@127.0.0.8:${local}>`,
      'Content-Type: application/sdp',
      `Content-Length: ${SDP.length}`,
      '',
      SDP,
    ].join('\r\n')
  // 2,000 a second are read of one trunk; half of the 20,000 transactions are the most it gets.
  for (let i = 0; i < 13_000 && overloaded === 0; i++) {
    flood.send(invite(i), port, '127.0.0.1')
    if (i % 100 === 99) await setTimeout(51)
  }
  t.ok(waiting > 3_000, `${waiting} calls of the flood wait`)
  const caller = await startCaller(t, port, '127.0.0.9')
  t.match(await caller.call('+14155550100', [], SDP), { status: 200 })
})

t.test('a list of a trunk takes nothing from another trunk that is called by password', async (t) => {
  const trunks = [
    trunkOf({ name: 'hostile', workspaceId: 'b', host: '192.0.2.9', allowedAddresses: ['127.0.0.0/24'] }),
    trunkOf({
      ...{ name: 'own', workspaceId: 'a', host: '192.0.2.8', allowedAddresses: [] },
      ...{ username: 'aurora', password: 'circle of life' },
    }),
  ]
  const { carrier, port } = await startCarrier(t, trunks)
  const taken: string[] = []
  await carrier.receive(async (call) => {
    // The number dialled is of the trunk "own".
    if (!call.trunks?.includes('own')) return call.reject('foreign_trunk')
    taken.push(...call.trunks)
    const leg = await call.accept({ callId: `call-${taken.length}`, trunk: 'own', rules: NO_DIAL_RULES })
    leg?.answer()
  }, new AbortController().signal)
  const prove = (challenged: Awaited<ReturnType<typeof caller.call>>, password: string): string => {
    const challenge = chooseChallenge(headersOf(challenged, 'www-authenticate'))
    const asked = { method: 'INVITE', uri: 'sip:1@b', body: new Uint8Array() }
    return `Authorization: ${answerChallenge(challenge!, { username: 'aurora', password }, asked, `c${Math.random()}`, 1)}`
  }
  const caller = await startCaller(t, port, '127.0.0.7')
  const challenged = await caller.call('+14155550100', [], SDP)
  t.match(challenged, { status: 401 }, 'whose call it is is asked, not taken from the list')
  t.match(await caller.call('+14155550100', [prove(challenged, 'circle of life')], SDP), { status: 200 })
  t.same(taken, ['own'])

  const guesser = await startCaller(t, port, '127.0.0.6')
  const asked = await guesser.call('+14155550100', [], SDP)
  for (let i = 0; i < 10; i++)
    t.match(await guesser.call('+14155550100', [prove(asked, `guess ${i}`)], SDP), { status: 403 })
  const silent = await Promise.race([
    guesser.call('+14155550100', [prove(asked, 'circle of life')], SDP),
    setTimeout(1_500, 'silence'),
  ])
  t.equal(silent, 'silence', 'ten wrong passwords lock the source, whatever list it is in')
})
