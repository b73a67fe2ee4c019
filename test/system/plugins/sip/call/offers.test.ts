import t from 'tap'
import { headerOf } from '../../../../../plugins/sip/message/message.ts'
import { NO_DIAL_RULES } from '../../../../../runtime/dialing/dial-policy.ts'
import type { IncomingCall } from '../../../../../runtime/plugin-sdk/telephony/carrier.ts'
import { waitUntil } from '../../../../support/world/wait-until.ts'
import { startCaller, startCarrier, takeCalls, trunkOf } from '../support/carrier.ts'
import { description } from '../support/media-peer.ts'

/** What callers offer and say of themselves: on real sockets. */

const ignore = (): void => undefined

/** Somebody who calls, and what we saw of each of the calls. */
async function answering() {
  const { carrier, port } = await startCarrier(t, [
    trunkOf({ name: 'peer', host: '127.0.0.1:9' }, { media_encryption: 'optional' }),
  ])
  const calls: IncomingCall[] = []
  await carrier.receive(async (call) => {
    calls.push(call)
    const leg = await call.accept({ callId: `in-${calls.length}`, trunk: 'peer', rules: NO_DIAL_RULES })
    leg?.start({ audio: ignore, text: ignore, dtmf: ignore, played: ignore, ended: ignore })
    leg?.answer()
    leg?.close('done')
  }, new AbortController().signal)
  return { caller: await startCaller(t, port), calls }
}

t.test('keys of SRTP with an identifier and harmless parameters are taken, others refused by name', async (t) => {
  const { caller } = await answering()
  const key = Buffer.alloc(30, 7).toString('base64')
  const crypto = (rest: string, tag = 1): string => `a=crypto:${tag} AES_CM_128_HMAC_SHA1_80 inline:${key}${rest}`
  const offer = (...lines: string[]): string => description(4_000, '0', ...lines).replace('RTP/AVP', 'RTP/SAVP')
  for (const rest of ['', '|2^31|1:1', '|2^20|1:4', '|1:4', ' KDR=0', ' FEC_ORDER=FEC_SRTP', ' -FOO=1']) {
    t.equal((await caller.call('+14155550100', [], offer(crypto(rest)))).status, 200, rest)
  }
  for (const rest of ['KDR=1', 'UNENCRYPTED_SRTCP', 'FOO=1']) {
    const refused = await caller.call('+14155550100', [], offer(crypto(` ${rest}`)))
    t.equal(refused.status, 488, rest)
    t.match(headerOf(refused, 'warning'), rest.split('=')[0] ?? rest)
    const both = offer(crypto(` ${rest}`), crypto('', 2))
    t.equal((await caller.call('+14155550100', [], both)).status, 200, `${rest}, and a line without it`)
  }
})

t.test('descriptions that other stacks read over are taken; an address we can not send to is not', async (t) => {
  const { caller } = await answering()
  const usual = description(4_000, '0')
  const odd = {
    'a blank after the version': usual.replace('v=0', 'v=0 '),
    'an empty line first': `\r\n${usual}`,
    'a line that says nothing': usual.replace('t=0 0', 'nonsense\r\nt=0 0'),
    'two blanks': usual.replace('c=IN IP4', 'c=IN  IP4'),
    'an RTCP port that is no number': `${usual}a=rtcp:x\r\n`,
  }
  for (const [name, offer] of Object.entries(odd)) {
    t.equal((await caller.call('+14155550100', [], offer)).status, 200, name)
  }
  const elsewhere = usual.replace('c=IN IP4 127.0.0.1', 'c=IN IP6 2001:4860:4860::8888')
  const refused = await caller.call('+14155550100', [], elsewhere)
  t.equal(refused.status, 488)
  t.match(headerOf(refused, 'warning'), /2001:4860:4860::8888 cannot be sent from 127\.0\.0\.1/)
})

t.test('callers who hide stay hidden, and numbers are told without their parameters', async (t) => {
  const { caller, calls } = await answering()
  const told = async (...lines: string[]) => {
    await caller.call('+14155550100', lines, description(4_000, '0'))
    const call = calls.at(-1)
    return { from: call?.from, variables: call?.variables?.('peer') ?? {} }
  }
  const anonymous = 'From: "Anonymous" <sip:anonymous@anonymous.invalid>;tag=caller'
  for (const wish of [
    ['Privacy: id', 'P-Asserted-Identity: "Doe" <sip:+14155550188@c.example>'],
    ['Remote-Party-ID: "Doe" <sip:+14155550188@c.example>;party=calling;privacy=full'],
  ]) {
    const { from, variables } = await told(anonymous, ...wish)
    t.equal(from, undefined)
    t.ok(variables.sip_privacy)
    t.notMatch(JSON.stringify(variables), /4155550188|Doe/)
  }
  const ported = await told('From: <sip:+14155550142;npdi=yes;rn=+14155550000;cpc=ordinary@127.0.0.1>;tag=caller')
  t.equal(ported.from, '+14155550142')
  t.equal(ported.variables.sip_from_user, '+14155550142')
  const doubled = await told('From: <sip:+1+14155550177@127.0.0.1>;tag=caller')
  t.equal(doubled.from, '+14155550177')
  t.equal(doubled.variables.sip_from_user, '+14155550177')
})

t.test('an offer with more than we have is taken in what we have, and answered line by line', async (t) => {
  const { caller } = await answering()
  const usual = description(4_000, '0')
  const more = (...lines: string[]): string => `${usual}${lines.join('\r\n')}\r\n`
  const offers = {
    'video, text, a floor and a bundle': more(
      ...['m=video 4002 RTP/AVP 96', 'a=rtpmap:96 H264/90000', 'm=text 4004 RTP/AVP 98', 'a=rtpmap:98 t140/1000'],
      ...['m=application 4006 UDP/BFCP *', 'a=floorctrl:c-only'],
    ).replace('t=0 0', 't=0 0\r\na=group:BUNDLE 0 1'),
    'two lines of sound': more('m=audio 4002 RTP/AVP 8'),
    'comfort noise first': description(4_000, '13 0'),
    'a codec on a number of its own': description(4_000, '112', 'a=rtpmap:112 PCMU/8000'),
    'a hold from the start': description(4_000, '0', 'a=inactive').replace('IP4 127.0.0.1\r\nt', 'IP4 0.0.0.0\r\nt'),
  }
  const kinds = (text: string): string[] => text.match(/^m=\w+/gm) ?? []
  for (const [name, offer] of Object.entries(offers)) {
    const { status, body } = await caller.call('+14155550100', [], offer)
    const answer = Buffer.from(body).toString()
    t.equal(status, 200, name)
    t.same(kinds(answer), kinds(offer), `${name}: a line for each`)
    t.equal(answer.match(/^m=\w+ (?!0 )/gm)?.length, 1, `${name}: one is taken`)
  }
  const other = await caller.call('+14155550100', [], description(4_000, '18', 'a=rtpmap:18 G729/8000'))
  t.equal(other.status, 488)
  t.match(headerOf(other, 'warning'), /No audio in common; we have PCMU, PCMA/)
})

t.test('what was dialled is read wherever callers write it', async (t) => {
  const { caller, calls } = await answering()
  const forms: [string, string[]][] = [
    ['+14155550100;npdi=yes;rn=+14155550999', []],
    ['%2B14155550100', []],
    ['0014155550100', []],
    ['14155550100', []],
    ['4155550100', []],
    ['s', ['To: "Desk" <sip:+14155550100;user=phone@127.0.0.1>']],
    ['trunk', ['To: <tel:+1-415-555-0100>']],
    ['s', ['P-Called-Party-ID: <sip:+14155550100@c.example>', 'To: <sip:s@127.0.0.1>']],
  ]
  for (const [user, lines] of forms) {
    t.equal((await caller.call(user, lines, description(4_000, '0'))).status, 200)
    t.equal(calls.at(-1)?.to, '+14155550100', `${user} ${lines}`)
  }
})

t.test('an INVITE of twenty kilobytes in one datagram is taken, one of forty is too large', async (t) => {
  const { caller } = await answering()
  const story = (count: number) => Array.from({ length: count }, (_, i) => `X-Story-${i}: ${'x'.repeat(1_000)}`)
  const head = ['From: <sip:+14155550142@127.0.0.1>;tag=caller', 'To: <sip:+14155550100@127.0.0.1>', 'CSeq: 1 INVITE']
  for (const [count, status] of [
    [20, 200],
    [40, 513],
  ] as const) {
    t.equal((await caller.call('+14155550100', [...head, ...story(count)], description(4_000, '0'))).status, status)
  }
})

t.test('a caller who hangs up before they acknowledge the answer is gone', async (t) => {
  const { carrier, port } = await startCarrier(t, [trunkOf({ name: 'peer', host: '127.0.0.1:9' })])
  const legs = await takeCalls(carrier)
  const caller = await startCaller(t, port)
  const lines = (branch: string): string[] => [
    `Via: SIP/2.0/UDP 127.0.0.1:${caller.port};branch=z9hG4bK${branch};rport`,
    'Call-ID: hasty',
  ]
  const answerTo = async (method: string) => {
    const find = () => caller.answers.find(({ cseq, status }) => cseq.method === method && status >= 200)
    await waitUntil(
      () => find() !== undefined,
      () => `the answer to ${method}`,
      { everyMs: 20 },
    )
    return find()
  }
  caller.send('INVITE', '+14155550100', lines('a'), description(4_000, '0'))
  const tag = (await answerTo('INVITE'))?.to.params.get('tag')
  const to = `To: <sip:+14155550100@127.0.0.1:${port}>;tag=${tag}`
  caller.send('BYE', '+14155550100', [...lines('b'), to, 'CSeq: 2 BYE'])
  t.match(await answerTo('BYE'), { status: 200 })
  t.equal(await carrier.lookup('in-1'), 'unknown')
  t.equal(legs.length, 1)
})
