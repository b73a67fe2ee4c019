import t from 'tap'
import type { SipRequest } from '../../../../../plugins/sip/message/message.ts'
import type { Teardown } from '../../../../support/instance/services.ts'
import { accepted, answerText, type Peer, startCarrier, startPeer, trunkOf } from '../support/carrier.ts'
import { inDialog } from '../support/dialog.ts'

/** Transfers by REFER as PBXs end them, a carrier that loses calls, and signs that a phone rings elsewhere. */

const signal = () => AbortSignal.timeout(30_000)
const BY = { workspaceId: 'w', from: '+14155550100', trunk: 'peer' }

/** A call that is answered, and a peer that takes a REFER and then sends `after` within the dialog. */
async function transferred(
  t: Teardown,
  after: (send: (method: string, lines?: readonly string[], body?: string) => void) => void,
) {
  const peer = await startPeer(t, (request) => (request.method === 'REFER' ? { status: 202 } : accepted(request)))
  const { carrier, dial } = await startCarrier(t, [trunkOf({ name: 'peer', host: `127.0.0.1:${peer.port}` })])
  const { leg } = await dial('peer')
  const ended = Promise.withResolvers<string>()
  const ignore = (): void => undefined
  leg?.start({ audio: ignore, text: ignore, dtmf: ignore, played: ignore, ended: ended.resolve })
  const invite = await peer.saw('INVITE')
  let sequence = 0
  const send = (method: string, lines: readonly string[] = [], body = ''): void =>
    peer.send(inDialog(invite, { method, sequence: ++sequence, port: peer.port, lines, body }))
  const transfer = carrier.transfer('call', '+14155550188', signal(), BY)
  await peer.saw('REFER')
  after(send)
  return { transfer, ended: ended.promise }
}

/** Says this of each INVITE and no more, until it is canceled. */
async function startUnanswered(t: Teardown, status: number): Promise<Peer> {
  let invite: SipRequest | undefined
  const peer: Peer = await startPeer(t, (request) => {
    if (request.method === 'INVITE') invite = request
    if (request.method === 'CANCEL' && invite !== undefined) peer.send(answerText(invite, { status: 487 }, peer.port))
    return { status: request.method === 'INVITE' ? status : 200 }
  })
  return peer
}

t.test('a PBX that ends the call after a REFER without saying how it went has transferred it', async (t) => {
  const { transfer, ended } = await transferred(t, (send) => send('BYE'))
  t.equal(await ended, 'transferred')
  await transfer
})

const NOTIFY = ['Event: refer', 'Content-Type: message/sipfrag']
for (const [name, body] of [
  ['small letters', 'sip/2.0 200 ok'],
  ['a line before it', '\r\nSIP/2.0 200 OK\r\n'],
] as const) {
  t.test(`news of a transfer in ${name} are read`, async (t) => {
    const lines = [...NOTIFY, 'Subscription-State: terminated;reason=noresource']
    const { transfer, ended } = await transferred(t, (send) => send('NOTIFY', lines, body))
    await transfer
    t.equal(await ended, 'transferred')
  })
}

t.test('news that are over without a word of how it went end the wait', async (t) => {
  const startedMs = performance.now()
  const lines = ['Event: refer', 'Subscription-State: terminated;reason=noresource']
  const { transfer } = await transferred(t, (send) => send('NOTIFY', lines))
  await transfer.catch(() => undefined)
  t.ok(performance.now() - startedMs < 20_000)
})

t.test('a carrier that says 100 and nothing more lost the call, and nobody failed to answer', async (t) => {
  const peer = await startUnanswered(t, 100)
  const { carrier } = await startCarrier(t, [trunkOf({ name: 'peer', host: `127.0.0.1:${peer.port}` })])
  const failed = Promise.withResolvers<[string, string | undefined]>()
  const order = { callId: 'lost', ...BY, to: '+14155550177', ringTimeoutMs: 1_000 }
  const ignore = (): void => undefined
  const events = {
    ringing: ignore,
    answered: ignore,
    failed: (...why: [string, string?]) => failed.resolve([why[0], why[1]]),
  }
  await carrier.dial(order, events, signal())
  t.match(await failed.promise, ['carrier', /took the call and never said that it rings/])
})

t.test('a call that is forwarded or queued there rings', async (t) => {
  for (const status of [181, 182]) {
    const peer = await startUnanswered(t, status)
    const { carrier } = await startCarrier(t, [trunkOf({ name: 'peer', host: `127.0.0.1:${peer.port}` })])
    const rings = Promise.withResolvers<void>()
    const ignore = (): void => undefined
    const order = { callId: 'elsewhere', ...BY, to: '+14155550177', ringTimeoutMs: 20_000 }
    await carrier.dial(order, { ringing: rings.resolve, answered: ignore, failed: ignore }, signal())
    await t.resolves(rings.promise, `${status}`)
    await carrier.hangup('elsewhere')
    await peer.saw('ACK')
  }
})
