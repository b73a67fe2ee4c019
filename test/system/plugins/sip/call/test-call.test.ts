import dgram from 'node:dgram'
import { once } from 'node:events'
import t from 'tap'
import type { SipRequest } from '../../../../../plugins/sip/message/message.ts'
import { encodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { writeRtp } from '../../../../../runtime/media/line/rtp-packet.ts'
import type { CallFinding, DialOrder, TestCall } from '../../../../../runtime/plugin-sdk/telephony/carrier.ts'
import type { Teardown } from '../../../../support/instance/services.ts'
import { accepted, type Respond, startCarrier, startPeer, trunkOf } from '../support/carrier.ts'
import { inDialog } from '../support/dialog.ts'

const LOUD = encodeG711(
  'pcmu',
  Int16Array.from({ length: 160 }, (_, at) => Math.round(8_000 * Math.sin(at / 4))),
)
const order = (more: Partial<DialOrder> = {}): DialOrder => ({
  ...{
    callId: 'test',
    workspaceId: 'w',
    trunk: 'peer',
    from: '+14155550100',
    to: '+14155550177',
    ringTimeoutMs: 20_000,
  },
  ...more,
})
const signal = () => AbortSignal.timeout(60_000)
const checks = ({ findings }: TestCall): Record<string, CallFinding> =>
  Object.fromEntries(findings.map((one) => [one.check, one]))

/** A phone that speaks, presses 5, holds and takes back the call, and hangs up. */
async function startTalker(t: Teardown) {
  const media = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  await once(media, 'listening')
  t.teardown(() => media.close())
  let echoed = 0
  const seen = { wasEchoed: false }
  let sequence = 0
  const send = (payloadType: number, payload: Uint8Array, port: number) => {
    const at = { sequence: ++sequence & 0xffff, timestamp: sequence * 160, ssrc: 7, marker: false }
    media.send(writeRtp({ ...at, payloadType, payload }), port, '127.0.0.1')
  }
  const answer: Respond = (request) => {
    if (request.method !== 'INVITE') return { status: 200 }
    const body = [
      ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
      ...[
        `m=audio ${media.address().port} RTP/AVP 0 101`,
        'a=rtpmap:0 PCMU/8000',
        'a=rtpmap:101 telephone-event/8000',
        '',
      ],
    ].join('\r\n')
    return {
      status: 200,
      body,
      headers: ['Allow: INVITE, ACK, BYE, REFER', 'Session-Expires: 1800;refresher=uas', 'Require: timer'],
    }
  }
  const peer = await startPeer(t, answer)
  const ask = (invite: SipRequest, method: string, sequence: number, body = ''): void =>
    peer.send(inDialog(invite, { method, sequence, port: peer.port, body }))
  const description = (direction: string) =>
    `v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${media.address().port} RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\na=${direction}\r\n`
  const run = async () => {
    const invite = await peer.saw('INVITE')
    const port = Number(/m=audio (\d+)/.exec(Buffer.from(invite.body).toString())?.[1])
    const keyed = (): void => {
      for (const volume of [0x0a, 0x8a, 0x8a, 0x8a]) {
        const packet = { sequence: ++sequence & 0xffff, timestamp: 90_000, ssrc: 7, marker: false, payloadType: 101 }
        media.send(writeRtp({ ...packet, payload: Buffer.from([5, volume, 3, 32]) }), port, '127.0.0.1')
      }
    }
    let held = 0
    let hasKeyed = false
    media.on('message', (bytes) => {
      if ((bytes[1]! & 0x7f) === 0 && bytes.subarray(12).some((one) => (~one & 0x7f) > 0x30)) echoed++
    })
    const timer = setInterval(() => {
      const isHeld = held > 0 && held < 25
      if (!isHeld) send(0, LOUD, port)
      if (echoed >= 20 && !hasKeyed) {
        hasKeyed = true
        keyed()
      }
      if (echoed >= 40 && held === 0) ask(invite, 'UPDATE', 1, description('sendonly'))
      if (held === 25) ask(invite, 'UPDATE', 2, description('sendrecv'))
      if (held > 0 || echoed >= 40) held++
      if (held === 100) {
        seen.wasEchoed = true
        ask(invite, 'BYE', 3)
        clearInterval(timer)
      }
    }, 20)
    t.teardown(() => clearInterval(timer))
  }
  return { port: peer.port, run, seen }
}

t.test(
  'a test call that is answered shows sound both ways, keys, a hold, the timer, transfers and the end',
  async (t) => {
    const talker = await startTalker(t)
    const { carrier } = await startCarrier(t, [trunkOf({ name: 'peer', host: `127.0.0.1:${talker.port}` })])
    const running = talker.run()
    const call = await carrier.testCall(order(), signal())
    await running
    const found = checks(call)
    t.same(
      call.findings.filter(({ ok }) => !ok),
      [],
    )
    t.ok(talker.seen.wasEchoed, 'the callee hears themselves')
    t.match(found.codec?.text, /^sound goes as PCMU; it answered PCMU, telephone-event$/)
    t.match(found.encryption?.text, /media_encryption of the trunk is off/)
    t.match(found.sound_in?.text, /^sound comes \(\d+ packets/)
    t.match(found.keys?.text, /^the keys 5 came; ours go as telephone events/)
    t.match(found.hold?.text, /took it back, and sound came again/)
    t.match(found.session_timer?.text, /within 1800 s, by the other side/)
    t.match(found.transfer?.text, /^it names REFER/)
    t.match(found.end?.text, /the other side hung up/)
    t.ok(
      call.messages.some(({ text }) => text.startsWith('INVITE ')),
      'with its signalling',
    )
  },
)

t.test('a test call without sound, whose end is not taken, says so with the cures', async (t) => {
  const events = 'RTP/AVP 0 96\r\na=rtpmap:96 telephone-event/8000'
  const peer = await startPeer(t, (request) => {
    const { body = '', ...answer } = accepted(request)
    return request.method === 'BYE' ? { status: 481 } : { ...answer, body: body.replace('RTP/AVP 0', events) }
  })
  const { carrier } = await startCarrier(t, [trunkOf({ name: 'peer', host: `127.0.0.1:${peer.port}` })])
  const call = carrier.testCall(order(), signal())
  const invite = await peer.saw('INVITE')
  await peer.saw('ACK')
  const lines = ['Content-Type: application/dtmf-relay']
  peer.send(
    inDialog(invite, { method: 'INFO', sequence: 1, port: peer.port, lines, body: 'Signal=10\r\nDuration=160' }),
  )
  await t.rejects(carrier.testCall(order({ callId: 'second' }), signal()), /a test call of this trunk is running/)
  const found = checks(await call)
  t.match(found.sound_in, { ok: false, text: /not one packet of sound came: open the ports of PATCHBAY_RTP_PORTS/ })
  t.match(found.transfer?.text, /does not say what it allows/)
  t.match(found.end, { ok: false, text: /our BYE was refused \(481/ })
  t.match(found.hold?.text, /not tried/)
  t.match(found.keys?.text, /^the keys \* came, also by INFO; .*on its number 96; its own come on our 101/)
  t.match(found.session_timer?.text, /one that is held is asked for every five minutes/)
})

t.test('a test call that is refused names the cure, and one that only is busy reached a phone', async (t) => {
  const of = async (answer: Respond, more: Partial<DialOrder> = {}): Promise<CallFinding[]> => {
    const peer = await startPeer(t, answer)
    const { carrier } = await startCarrier(t, [trunkOf({ name: 'peer', host: `127.0.0.1:${peer.port}` })])
    return [...(await carrier.testCall(order(more), signal())).findings]
  }
  const says =
    (status: number): Respond =>
    (request) =>
      request.method === 'INVITE' ? { status } : undefined
  t.match(await of(says(403)), [{ check: 'call', ok: false, text: /^403.*our number is one of this trunk/ }])
  t.match(await of(says(404)), [{ ok: false, text: /does not know the number as we write it.*tech_prefix/ }])
  t.match(await of(says(488)), [{ ok: false, text: /none of our codecs \(.*media_encryption \(now off\)/ }])
  t.match(await of(says(503)), [{ ok: false, text: /no channel free/ }])
  t.match(await of(says(401)), [{ ok: false, text: /user name or password is wrong/ }])
  t.match(await of(says(200), { trunk: 'other' }), [{ ok: false, text: /there is no trunk "other"/ }])
  t.match(await of(says(608)), [{ ok: false, text: /the callee did not refuse it; register our number/ }])
  t.match(await of(says(100), { ringTimeoutMs: 1_000 }), [
    { ok: false, text: /never said that it rings; see whether host/ },
  ])
  const leads: Respond = ({ method }) =>
    method === 'INVITE' ? { status: 302, headers: ['Contact: <sip:+19005551234@127.0.0.1>'] } : undefined
  t.match(await of(leads), [{ ok: false, text: /^302.*turn the forwarding off there/ }])
  t.match(await of(says(486)), [{ ok: true, text: /have somebody answer/ }])
})
