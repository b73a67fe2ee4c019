import dgram from 'node:dgram'
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { SipMessage } from '../../../../../plugins/sip/message/message.ts'
import { serializeRequest } from '../../../../../plugins/sip/message/serializer.ts'
import { systemTimers, type Timers } from '../../../../../plugins/sip/transaction/timers.ts'
import type { Flow } from '../../../../../plugins/sip/transport/flow.ts'
import { Gatekeeper } from '../../../../../plugins/sip/transport/gatekeeper.ts'
import { Transport } from '../../../../../plugins/sip/transport/transport.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import { compileGrants } from '../../../../../runtime/plugin/grants/permissions.ts'
import { makeHost } from '../../../../../runtime/plugin/make-host.ts'
import { freePort } from '../../../../support/sip/sip-peers.ts'
import { FakeTimers } from '../support/fake-timers.ts'
import { requestOf } from '../support/wire.ts'

const log = pino({ level: 'silent' })
const LOOPBACK = { host: '127.0.0.1', ca: undefined, own: undefined }

/** A transport on loopback, with all it received. */
async function openTransport(t: Test, knows = true, timers: Timers = systemTimers) {
  const port = await freePort()
  const stopping = new AbortController()
  const host = makeHost({
    ...{ plugin: 'sip', dir: import.meta.dirname, env: {}, log, signal: stopping.signal },
    grants: compileGrants({ net: ['127.0.0.1'], listen: [String(port)] }, { env: {}, baseDir: '/' }),
  })
  const received: { message: SipMessage; flow: Flow }[] = []
  const trunkAt = (): string | undefined => (knows ? 'carrier' : undefined)
  const gatekeeper = new Gatekeeper({ clock: systemClock, log, trunkAt, takesStrangers: () => !knows })
  const transport = new Transport({
    ...{ host, port, address: '127.0.0.1', publicAddress: undefined, tls: undefined, gatekeeper },
    ...{ trunkAt, timers },
    receive: (message, flow) => received.push({ message, flow }),
  })
  await transport.open()
  t.teardown(() => {
    transport.close()
    stopping.abort()
  })
  return { transport, port, received, gatekeeper }
}

/** A TCP server that keeps its connections and what came over each. */
async function openPeer(t: Test) {
  const sockets: Socket[] = []
  const heard: string[] = []
  const server = net.createServer((socket) => {
    const at = sockets.push(socket) - 1
    heard[at] = ''
    socket.on('error', () => undefined)
    socket.setEncoding('latin1').on('data', (text: string) => {
      heard[at] += text
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sockets, heard, close: () => server.close() }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10)
}

t.test('a connection of ours that is lost is opened anew with the next message', async (t) => {
  const { transport } = await openTransport(t)
  const peer = await openPeer(t)
  const flow = await transport.flowTo('tcp', '127.0.0.1', peer.port, LOOPBACK)
  t.equal(await transport.flowTo('tcp', '127.0.0.1', peer.port, LOOPBACK), flow, 'and shared as long as it is there')
  flow.send(Buffer.from('one'))
  await until(() => peer.heard[0] === 'one')
  peer.sockets[0]?.destroy()
  await until(() => transport.openFlow('tcp', '127.0.0.1', peer.port) === undefined)
  t.ok(flow.isOpen)
  flow.send(Buffer.from('two'))
  flow.send(Buffer.from('three'))
  await until(() => peer.heard[1] === 'twothree')
  peer.close()
  peer.sockets[1]?.destroy()
  await until(() => transport.openFlow('tcp', '127.0.0.1', peer.port) === undefined)
  await new Promise<void>((resolve) => flow.send(Buffer.from('four'), resolve))
  t.equal(peer.sockets.length, 2)
})

t.test('over a connection of somebody else answers go as long as it is there', async (t) => {
  const { port, received } = await openTransport(t)
  const socket = net.connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(serializeRequest({ ...requestOf('OPTIONS'), uri: 'sip:a@b' }))
  await until(() => received.length === 1)
  const { flow } = received[0]!
  t.match(flow, { protocol: 'tcp', address: '127.0.0.1', isOpen: true })
  socket.destroy()
  await until(() => !flow.isOpen)
  await new Promise<void>((resolve) => flow.send(Buffer.from('gone'), resolve))
})

t.test('a datagram that is no message is answered for those who are known, and for nobody else', async (t) => {
  const broken = String(serializeRequest({ ...requestOf('OPTIONS'), uri: 'sip:a@b' }))
  const bytes = Buffer.from(broken.replace('CSeq: 1 OPTIONS', 'CSeq: 1 INVITE'))
  const answered = async (knows: boolean) => {
    const { port, gatekeeper } = await openTransport(t, knows)
    const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1')
    t.teardown(() => socket.close())
    await once(socket, 'listening')
    const answers: string[] = []
    socket.on('message', (message) => answers.push(String(message)))
    socket.send(bytes, port, '127.0.0.1')
    await until(() => gatekeeper.refusals.get('malformed') === 1)
    if (knows) await until(() => answers.length > 0)
    return answers
  }
  t.match(await answered(true), [/^SIP\/2\.0 400 Bad Request\r\n/])
  t.same(await answered(false), [])
})

t.test('a source that proves nothing keeps no connection, and has few of them', async (t) => {
  const timers = new FakeTimers()
  const { port, gatekeeper } = await openTransport(t, false, timers)
  const open = async (): Promise<Socket> => {
    const socket = net.connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }
  const sockets: Socket[] = []
  for (let i = 0; i < 20; i++) sockets.push(await open())
  await until(() => timers.pending === 20)
  // A stranger's pace is five connections a second, the burst is over.
  await sleep(1_100)
  const one = await open()
  await once(one, 'close')
  t.equal(gatekeeper.refusals.get('overloaded'), 1)
  sockets[0]?.destroy()
  await until(() => timers.pending === 19)
  const another = await open()
  await until(() => timers.pending === 20)
  t.notOk(another.destroyed, 'a place that is given back is free')
  timers.advance(30_000)
  await Promise.all([...sockets.slice(1), another].map((socket) => socket.closed || once(socket, 'close')))
  t.equal(timers.pending, 0)
})

t.test('a connection from a trunk’s address stays', async (t) => {
  const timers = new FakeTimers()
  const { port, received } = await openTransport(t, true, timers)
  const socket = net.connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  await until(() => timers.pending === 1)
  timers.advance(60_000)
  socket.write(serializeRequest({ ...requestOf('OPTIONS'), uri: 'sip:a@b' }))
  await until(() => received.length === 1)
})
