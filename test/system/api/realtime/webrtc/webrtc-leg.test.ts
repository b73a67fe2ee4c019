import { mock } from 'node:test'
import t, { type Test } from 'tap'
import type { MediaTransportEvents } from '../../../../../api/realtime/webrtc/media-transport.ts'
import { WebRtcLeg } from '../../../../../api/realtime/webrtc/webrtc-leg.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import { Pacer } from '../../../../../runtime/media/line/pacer.ts'
import { createLogger } from '../../../../../runtime/process/log.ts'

const SDP = 'v=0\r\n'

/** A leg whose transport was offered and answered; what its media worker tells. */
async function answeredLeg(t: Test, answer: Record<string, unknown> = {}) {
  const opened = Promise.withResolvers<MediaTransportEvents>()
  const transport = {
    offer: () => SDP,
    answer: async () => 'taken' as const,
    restart: async () => SDP,
    send() {},
    figures: async () => undefined,
    close() {},
  }
  const socket = { send: () => true, bufferedBytes: () => 0, ping() {}, close() {}, terminate() {} }
  const leg = new WebRtcLeg({
    callId: 'call',
    socket,
    clock: systemClock,
    pacer: new Pacer(systemClock, (error) => t.fail(String(error))),
    log: createLogger({ level: 'silent', name: 'test' }),
    open: async (events) => {
      opened.resolve(events)
      return transport
    },
    released() {},
  })
  t.teardown(() => leg.close('shutdown'))
  const worker = await opened.promise
  const say = (message: Record<string, unknown>) => leg.handlers.message(JSON.stringify(message))
  say({ type: 'webrtc.answer', sdp: SDP, ...answer })
  /** Without waiting for anything: whether it is known that both ways are open. */
  const connection = () => Promise.race([leg.connection, Promise.resolve('waits')])
  return { worker, say, connection }
}

t.test('a client that announces nothing is not waited for once its keys are agreed on', async (t) => {
  const { worker, say, connection } = await answeredLeg(t)
  t.equal(await connection(), 'waits')
  worker.connected()
  t.equal(await connection(), 'connected')
  say({ type: 'webrtc.connected' })
  t.equal(await connection(), 'connected', 'though it says so as well')
})

t.test('one that announces to say when it is connected is waited for', async (t) => {
  const { worker, say, connection } = await answeredLeg(t, { says_connected: true })
  worker.connected()
  t.equal(await connection(), 'waits')
  say({ type: 'webrtc.connected' })
  t.equal(await connection(), 'connected')
})

t.test('and is known to be by its first packet, or by having said so before the server was', async (t) => {
  const sends = await answeredLeg(t, { says_connected: true })
  sends.worker.connected()
  sends.worker.packet(Uint8Array.of(0xf8, 0xff, 0xfe), 0)
  t.equal(await sends.connection(), 'connected')
  const early = await answeredLeg(t, { says_connected: true })
  early.say({ type: 'webrtc.connected' })
  t.equal(await early.connection(), 'waits', 'nothing can be sent yet')
  early.worker.connected()
  t.equal(await early.connection(), 'connected')
})

t.test('whoever announces it and keeps silent hears the agent a little later', async (t) => {
  const { worker, connection } = await answeredLeg(t, { says_connected: true })
  worker.connected()
  while ((await connection()) === 'waits') await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(await connection(), 'connected')
})

t.test('a handshake that ended in time, though late, is none that failed', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const late = await answeredLeg(t, { says_connected: true })
  mock.timers.tick(9_000)
  late.worker.connected()
  t.equal(await late.connection(), 'waits')
  mock.timers.tick(1_000)
  t.equal(await late.connection(), 'connected')
  const never = await answeredLeg(t, { says_connected: true })
  mock.timers.tick(10_000)
  t.equal(await never.connection(), 'failed')
})
