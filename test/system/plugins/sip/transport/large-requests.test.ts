import t from 'tap'
import type { SipRequest } from '../../../../../plugins/sip/message/message.ts'
import { until } from '../../../../support/instance/realtime-node.ts'
import { accepted, startCarrier, startPeer, trunkOf } from '../support/carrier.ts'
import { startStreamPeer } from '../support/stream-peer.ts'

/** Requests over 1,300 bytes go over TCP, and over UDP where the peer takes none (RFC 3261, section 18.1.1). */

const LARGE = { headers: { 'X-Account': 'a'.repeat(500), 'X-Route': 'b'.repeat(400) } }

const via = (request: SipRequest | undefined) => request?.headers.find(({ name }) => name === 'via')?.value

t.test('a large INVITE goes over TCP and says so, and the small requests of its call go over UDP', async (t) => {
  const peer = await startPeer(t, (request) => accepted(request))
  const overTcp = await startStreamPeer(t, (request) => accepted(request), peer.port)
  const { dial } = await startCarrier(t, [trunkOf({ name: 'main', host: `127.0.0.1:${peer.port}` }, LARGE)])
  const placed = await dial('main')
  t.ok(placed.leg)
  t.match(via(overTcp.find(({ method }) => method === 'INVITE')), /^SIP\/2\.0\/TCP /)
  placed.leg?.close('done')
  await peer.saw('BYE')
  t.notOk(peer.requests.some(({ method }) => method === 'INVITE'))
  t.ok(peer.requests.some(({ method }) => method === 'ACK'))
})

t.test('a large INVITE that grows by its password goes over TCP, and its CANCEL too', async (t) => {
  const peer = await startPeer(t, () => ({ status: 200 }))
  const challenge = ['WWW-Authenticate: Digest realm="r", nonce="n", qop="auth"']
  const overTcp = await startStreamPeer(
    t,
    (request) => {
      if (request.method !== 'INVITE') return { status: 200 }
      const isProven = request.headers.some(({ name }) => name === 'authorization')
      return isProven ? { status: 180 } : { status: 401, headers: challenge }
    },
    peer.port,
  )
  const trunk = trunkOf({ name: 'main', host: `127.0.0.1:${peer.port}`, username: 'u', password: 'p' }, LARGE)
  const { dial, carrier } = await startCarrier(t, [trunk])
  const placed = dial('main')
  const seen = (method: string) => overTcp.filter((one) => one.method === method)
  await until(() => carrier.trunkState('main')?.pddMs !== undefined)
  await carrier.hangup('call')
  t.match(await placed, { failure: 'canceled' })
  await until(() => seen('ACK').length === 2)
  t.equal(via(seen('CANCEL')[0]), via(seen('INVITE')[1]), 'it names what it cancels')
})

t.test('a peer without TCP gets large requests over UDP, at once from the second on', async (t) => {
  const peer = await startPeer(t, (request) => accepted(request))
  const { dial } = await startCarrier(t, [trunkOf({ name: 'main', host: `127.0.0.1:${peer.port}` }, LARGE)])
  for (const id of ['first', 'second']) {
    const placed = await dial('main', '+14155550177', id)
    t.ok(placed.leg, id)
    placed.leg?.close('done')
  }
  t.match(via(peer.requests.find(({ method }) => method === 'INVITE')), /^SIP\/2\.0\/UDP /)
})
