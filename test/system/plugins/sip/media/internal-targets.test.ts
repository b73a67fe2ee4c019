import dgram from 'node:dgram'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { NO_DIAL_RULES } from '../../../../../runtime/dialing/dial-policy.ts'
import type { TrunkSettings } from '../../../../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import { startCaller, startCarrier, trunkOf } from '../support/carrier.ts'

/** Whose SDP names a machine of the operator's network as its media address: on real sockets. */

const NAMED = '127.0.0.9'

async function listen(t: Test, address: string, port = 0) {
  const socket = dgram.createSocket('udp4').bind(port, address)
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  let heard = 0
  socket.on('message', () => heard++)
  return { port: socket.address().port, heard: () => heard }
}

/** Packets that arrive at the address an SDP names, and at the same port of where signalling comes from. */
async function packetsSent(t: Test, internalAddresses: string[], settings: Partial<TrunkSettings> = {}) {
  const trunk = trunkOf({ name: 'main', host: '127.0.0.1:9', internalAddresses }, settings)
  const { carrier, port } = await startCarrier(t, [trunk])
  const named = await listen(t, NAMED)
  const peer = await listen(t, '127.0.0.1', named.port)
  await carrier.receive(async (call) => {
    const leg = await call.accept({ callId: 'in', trunk: 'main', rules: NO_DIAL_RULES })
    leg?.start({ audio() {}, text() {}, dtmf() {}, played() {}, ended() {} })
    leg?.answer()
    for (let i = 0; i < 50; i++) leg?.sendAudio(new Uint8Array(160).fill(0x55))
  }, new AbortController().signal)
  const caller = await startCaller(t, port)
  const lines = ['v=0', `o=- 1 1 IN IP4 ${NAMED}`, 's=-', `c=IN IP4 ${NAMED}`, 't=0 0']
  const answer = await caller.call('+14155550100', [], [...lines, `m=audio ${named.port} RTP/AVP 0`, ''].join('\r\n'))
  t.equal(answer.status, 200)
  for (let i = 0; i < 500 && named.heard() + peer.heard() < 10; i++) await setTimeout(10)
  return { named: named.heard(), peer: peer.heard() }
}

t.test('media go to no internal address that only SDP names, but to where signalling comes from', async (t) => {
  const { named, peer } = await packetsSent(t, ['127.0.0.1/32'])
  t.equal(named, 0)
  t.ok(peer >= 10)
})

t.test('nor where the trunk alone lists it among its media addresses', async (t) => {
  const { named, peer } = await packetsSent(t, ['127.0.0.1/32'], {
    media_addresses: [NAMED],
    media_from_anywhere: true,
  })
  t.equal(named, 0)
  t.ok(peer >= 10)
})

t.test('they go there where the operator lets the trunk reach it', async (t) => {
  const { named, peer } = await packetsSent(t, ['127.0.0.0/24'])
  t.ok(named >= 10)
  t.equal(peer, 0)
})
