import dgram from 'node:dgram'
import { once } from 'node:events'
import t from 'tap'
import { redact } from '../../../../../plugins/sip/trace/redact.ts'
import { callWhen, isOver, linkWorker } from '../../../../support/phone/phone.ts'
import { freePort } from '../../../../support/sip/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../../../support/sip/sip-phone.ts'
import { startCaller } from '../support/carrier.ts'

/** What a call said over SIP, to be looked at later: on real sockets. */

const SDP = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 9 RTP/AVP 0', ''].join(
  '\r\n',
)

t.test('credentials, keys of media and pressed keys are left out', (t) => {
  const kept = redact(
    Buffer.from(
      [
        'INVITE sip:a@b SIP/2.0',
        'Authorization: Digest username="aurora", response="5f3c8a1b2d",',
        ' nonce="abc"',
        'Call-ID: 1',
        'Content-Type: application/sdp',
        '',
        'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:c2VjcmV0LWtleQ|2^31',
      ].join('\r\n'),
    ),
  )
  t.match(kept, /Authorization: Digest \[redacted\]\r\nCall-ID: 1/)
  t.match(kept, 'inline:[redacted]|2^31')
  t.notOk(/5f3c8a1b2d|c2VjcmV0|nonce/.test(kept))
  const caller = redact(
    Buffer.from(
      'INVITE sip:a@b SIP/2.0\r\nPrivacy: id\r\nP-Asserted-Identity: "Doe" <sip:+14155550188@c>\r\nFrom: x\r\n\r\n',
    ),
  )
  t.match(caller, /P-Asserted-Identity: \[redacted\]\r\nFrom: x/, 'who withholds the number stays hidden')
  const info = redact(Buffer.from('INFO sip:a@b SIP/2.0\r\nContent-Type: application/dtmf-relay\r\n\r\nSignal=7\r\n'))
  t.notOk(info.includes('7'), info)
  const binary = redact(Buffer.from('INVITE sip:a@b SIP/2.0\r\nContent-Type: application/ISUP\r\n\r\nabc'))
  t.match(binary, /\[3 bytes of application\/isup\]$/)
  t.end()
})

t.test('secrets are left out however they are written', (t) => {
  const kept = redact(
    Buffer.from(
      [
        'INVITE sip:a@b SIP/2.0',
        'PROXY-AUTHORIZATION : Digest response="s3cret1"',
        'Identity: s3cret2',
        '\ts3cret3',
        'Authorization:s3cret4="x"',
        'c: application/sdp',
        '',
        'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:s3cret5|2^31;inline:s3cret6 FEC_ORDER=FEC_SRTP',
        'a=crypto:2  AES_CM_128_HMAC_SHA1_80\tINLINE:s3cret7',
        'a=ICE-PWD:s3cret8',
        'a=key-mgmt:mikey s3cret9',
        'a=sendrecv',
      ].join('\r\n'),
    ),
  )
  t.notOk(/s3cret[1-35-9]/.test(kept), kept)
  t.match(kept, 'inline:[redacted]|2^31;inline:[redacted] FEC_ORDER')
  t.match(kept, /a=sendrecv$/)
  const long = redact(Buffer.from(`INVITE sip:a@b SIP/2.0\r\nc: application/sdp\r\n\r\n${'a=crypto:'.repeat(7_000)}`))
  t.ok(long.length < 8_300, `${long.length} characters are kept`)
  const head = redact(Buffer.from(`INVITE sip:a@b SIP/2.0\r\n${'X-Padding: x\r\n'.repeat(5_000)}\r\nbody`))
  t.ok(head.length < 16_500, `${head.length} characters of a long head are kept`)
  t.end()
})

t.test('the messages of a call are kept, drawn, downloaded and sent to a collector', async (t) => {
  const collector = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  await once(collector, 'listening')
  t.teardown(() => collector.close())
  const captured: Buffer[] = []
  collector.on('message', (bytes) => captured.push(bytes))
  const sip = await startSipApi(t, { env: { PATCHBAY_HEP_URL: `udp://127.0.0.1:${collector.address().port}` } })
  const { user, sipPort } = sip
  await linkWorker(t, sip.api)
  const { number } = await addSipNumber(sip, { host: `127.0.0.1:${await freePort()}` })
  const caller = await startCaller(t, sipPort)
  t.match(await caller.call(number, [], SDP), { status: 200 })
  const { call_log_id } = (await user.client.get('/calls/logs')).body.items[0]
  await user.client.post(`/calls/${call_log_id}/hangup`)
  await caller.saw('BYE')
  await callWhen(user, call_log_id, isOver)

  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field
  let body: any
  do {
    await new Promise((resolve) => setTimeout(resolve, 100))
    body = (await user.client.get(`/calls/${call_log_id}/sip`)).body
  } while (!body.ladder.includes('200 x (BYE)'))
  t.match(
    body.messages.map(({ direction, label }: { direction: string; label: string }) => `${direction} ${label}`),
    [
      'in INVITE (SDP)',
      'out 100 Trying (INVITE)',
      'out 180 Ringing (INVITE)',
      'out 200 OK (INVITE, SDP)',
      'in ACK',
      'out BYE',
    ],
  )
  t.match(body.messages[0], { leg: 1, transport: 'udp', remote: `127.0.0.1:${caller.port}` })
  t.match(body.ladder, /^ +0\.000 s {2}Patchbay <-+ INVITE \(SDP\) +127\.0\.0\.1:\d+ udp$/m)

  const cookie = [...user.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const download = await fetch(`${sip.api.url}/calls/${call_log_id}/sip.pcap`, { headers: { cookie } })
  t.equal(download.headers.get('content-type'), 'application/vnd.tcpdump.pcap')
  const pcap = Buffer.from(await download.arrayBuffer())
  t.equal(pcap.readUInt32BE(0), 0xa1b2c3d4)
  t.equal(pcap.readUInt32BE(20), 101, 'raw IP')
  const length = pcap.readUInt32BE(24 + 8)
  t.equal(pcap.readUInt16BE(24 + 16 + 2), length, 'the packet says its own length')
  t.match(pcap.subarray(24 + 16 + 28, 24 + 16 + length).toString(), /^INVITE sip:/)

  const first = captured.find((bytes) => bytes.includes('INVITE sip:'))
  t.equal(first?.subarray(0, 4).toString(), 'HEP3')
  t.equal(first?.readUInt16BE(4), first?.length)
  t.match(first?.toString('latin1'), /INVITE sip:.*Call-ID: in-/s)

  t.test('a call that is turned away is kept as well, for the workspace whose trunk it came over', async (t) => {
    const refused = await caller.call('+14155559998', ['From: <sip:+14155550143@127.0.0.1>;tag=caller'], SDP)
    t.equal(refused.status, 404)
    // biome-ignore lint/suspicious/noExplicitAny: a test reads any field
    let listed: any
    do {
      await new Promise((resolve) => setTimeout(resolve, 100))
      listed = (await user.client.get('/refused-calls')).body
    } while (!listed.items.some(({ reason }: { reason: string }) => reason === 'unknown_number'))
    t.match(listed.items[0], {
      ...{ trunk: 'peer', reason: 'unknown_number', sip_status: 404, address: '127.0.0.1' },
      ...{ from_number: '+14155550143', to_number: '+14155559998' },
    })
    const stranger = await sip.api.signUp()
    t.equal((await stranger.client.get('/refused-calls')).body.total, 0)
    t.equal((await stranger.client.get(`/calls/${call_log_id}/sip`)).status, 404)
  })
})
