import dgram from 'node:dgram'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { NO_DIAL_RULES } from '../../../../../runtime/dialing/dial-policy.ts'
import { writeRtp } from '../../../../../runtime/media/line/rtp-packet.ts'
import { startCaller, startCarrier, trunkOf } from '../../../../system/plugins/sip/support/carrier.ts'

/** Strangers who send packets to every port, to be taken for the other side of a call. */

async function openSocket(t: Test, address: string) {
  const socket = dgram.createSocket('udp4').bind(0, address)
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  let heard = 0
  socket.on('message', () => heard++)
  let sequence = 0
  const payload = new Uint8Array(160).fill(0xff)
  return {
    socket,
    heard: () => heard,
    send(port: number): void {
      sequence = (sequence + 1) & 0xffff
      const packet = { payloadType: 0, marker: false, sequence, timestamp: sequence * 160, ssrc: 7, payload }
      socket.send(writeRtp(packet), port, '127.0.0.1')
    },
  }
}

/** A call of somebody behind a router: what its description names is not where its packets come from. */
async function callBehindRouter(t: Test, settings: Parameters<typeof trunkOf>[1], sprayFrom: string) {
  const trunk = trunkOf({ name: 'phones', host: '127.0.0.1:9' }, settings)
  const { carrier, port, firstRtp } = await startCarrier(t, [trunk])
  await carrier.receive(async (call) => {
    // While it rings the stranger has time.
    await setTimeout(300)
    const leg = await call.accept({ callId: 'in', trunk: 'phones', rules: NO_DIAL_RULES })
    await setTimeout(300)
    leg?.start({ audio() {}, text() {}, dtmf() {}, played() {}, ended() {} })
    leg?.answer()
    for (let i = 0; i < 100; i++) leg?.sendAudio(new Uint8Array(160).fill(0x55))
  }, new AbortController().signal)
  const stranger = await openSocket(t, sprayFrom)
  const spraying = setInterval(() => {
    for (let at = 0; at < 100; at += 2) stranger.send(firstRtp + at)
  }, 20)
  t.teardown(() => clearInterval(spraying))
  const caller = await startCaller(t, port)
  const lines = ['v=0', 'o=- 1 1 IN IP4 127.0.9.9', 's=-', 'c=IN IP4 127.0.9.9', 't=0 0', 'm=audio 9 RTP/AVP 0', '']
  const answer = await caller.call('+14155550100', [], lines.join('\r\n'))
  const media = Number(/m=audio (\d+)/.exec(String(Buffer.from(answer.body)))?.[1])
  await setTimeout(400)
  const phone = await openSocket(t, '127.0.0.1')
  for (let i = 0; i < 40; i++) {
    phone.send(media)
    await setTimeout(20)
  }
  return { phone, stranger }
}

t.test('a call goes to where its signalling comes from, and never to who is quicker', async (t) => {
  const { phone, stranger } = await callBehindRouter(t, { comedia: true }, '127.0.0.5')
  t.equal(stranger.heard(), 0)
  t.ok(phone.heard() > 10, `the phone heard ${phone.heard()} packets`)
})

t.test('media from anywhere are taken where the trunk says so', async (t) => {
  const { stranger } = await callBehindRouter(t, { media_from_anywhere: true }, '127.0.0.5')
  t.ok(stranger.heard() > 10)
})
