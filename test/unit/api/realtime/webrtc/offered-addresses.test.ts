import t from 'tap'
import { issueSessionToken } from '../../../../../api/realtime/tokens.ts'
import { isInternalAddress } from '../../../../../runtime/lib/address.ts'
import { mediaWorker } from '../../../../support/instance/media-worker.ts'
import {
  makeCall,
  RealtimeClient,
  type RealtimeNode,
  startNode,
  startWorker,
  until,
} from '../../../../support/instance/realtime-node.ts'
import type { Teardown } from '../../../../support/instance/services.ts'

const PUBLIC_ADDRESS = '203.0.113.7'

const { path: webrtcWorker, skip } = await mediaWorker()

type Holder = Parameters<typeof issueSessionToken>[1]['holder']

/** The addresses of all candidates that a session of this holder is offered. */
async function addressesFor(t: Teardown, node: RealtimeNode, holder: Holder): Promise<string[]> {
  const { workspaceId, callId } = await makeCall(node)
  const { token } = await issueSessionToken(node.redis, { workspaceId, callId, holder }, Date.now())
  const client = new RealtimeClient(node, token, '&media=webrtc')
  t.teardown(() => client.socket.terminate())
  const { sdp } = await client.got('webrtc.offer')
  const addresses = [...String(sdp).matchAll(/^a=candidate:\S+ 1 (?:udp|tcp) \d+ (\S+) \d+ typ host/gm)]
  return [...new Set(addresses.map(([, address]) => address ?? ''))]
}

t.test('the addresses in an offer', { skip }, async (t) => {
  const visitor = { kind: 'visitor', agentId: '0198c0de-0000-7000-8000-000000000001' } as const
  const key = { kind: 'key', keyId: '0198c0de-0000-7000-8000-000000000002', scope: 'calls' } as const

  t.test('behind a public address', async (t) => {
    const node = await startNode(t, { webrtcWorker, webrtcPublicAddress: PUBLIC_ADDRESS })
    await startWorker(t, [node])
    await until(() => node.sessions.webrtc.terms !== null)
    t.same(await addressesFor(t, node, visitor), [PUBLIC_ADDRESS], 'a visitor is told of it alone')
    const told = await addressesFor(t, node, key)
    t.ok(told.includes(PUBLIC_ADDRESS))
    t.ok(told.some(isInternalAddress), 'who may be in the same network is told of its addresses, too')
  })

  t.test('without one', async (t) => {
    const node = await startNode(t, { webrtcWorker })
    await startWorker(t, [node])
    await until(() => node.sessions.webrtc.terms !== null)
    t.ok((await addressesFor(t, node, visitor)).includes('127.0.0.1'), 'a visitor on this machine reaches the agent')
  })
})
