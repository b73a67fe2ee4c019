import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { headerOf, type SipRequest } from '../../../../plugins/sip/message/message.ts'
import type { IncomingCall } from '../../../../runtime/plugin-sdk/telephony/carrier.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { freePort } from '../../../support/sip/sip-peers.ts'
import { accepted, type Respond, startCaller, startCarrier, startPeer, trunkOf } from './support/carrier.ts'
import { startStreamPeer } from './support/stream-peer.ts'

/**
 * Each carrier and PBX of docs/sip-peers.md as a scripted peer that behaves as its published documents say, and the settings of
 * that page: a call is placed, and taken where nothing in it is against the documents; and one comes, in the form of the documents. TLS is TCP here.
 */

const PAGE = join(import.meta.dirname, '../../../../docs/sip-peers.md')
const SECRET = 'circle of life'
/** Of the parts of the page that everybody fills in alone. */
const OWN: Readonly<Record<string, string>> = {
  yours: 'acme',
  'sbc fqdn': 'sbc.acme.test',
  '12 digits': '551138572628',
}

/** A call that the peer brings, in the form of its documents. */
interface Brought {
  /** User of the Request-URI; of peers that we register with it is that of our Contact. */
  to: string
  lines: readonly string[]
  /** The caller, and the number that was called, as Patchbay has to read them. */
  reads: { from: string | undefined; to: string }
}

interface PeerRules {
  brings: Brought

  /** `WWW-` 401 or `Proxy-` 407, and the rest of the challenge; absent: calls are known by their address. */
  challenge?: { status: 401 | 407; text: string }
  /** The user that answers it, where it is not that of the trunk. */
  answers?: string
  /** What is against the documents in an INVITE; undefined: nothing. */
  refuses?(invite: SipRequest): string | undefined
  /** The same of REGISTER and OPTIONS. */
  refusesToo?(request: SipRequest): string | undefined
  answer?: Respond
}

const userOf = (text: string | undefined): string => /sip:([^@>;]+)@/.exec(text ?? '')?.[1] ?? ''
const hostOf = (text: string | undefined): string => /sip:(?:[^@>]+@)?([^>;:]+)/.exec(text ?? '')?.[1] ?? ''
const isE164 = (text: string): boolean => /^\+[1-9]\d{6,14}$/.test(text)
const from = (request: SipRequest) => headerOf(request, 'from')
const both = (...faults: (string | false | undefined)[]): string | undefined => faults.find(Boolean) || undefined
const numbers = (invite: SipRequest): string | undefined =>
  both(
    !isE164(invite.uri.user ?? '') && `calls ${invite.uri.user}, which is not E.164`,
    !isE164(userOf(from(invite))) && `comes from ${from(invite)}, which is not E.164`,
  )
const QOP = 'realm="peer", nonce="8f2a", qop="auth", algorithm=MD5'
const OFFER = [
  ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
  ...['m=audio 9 RTP/AVP 0 8 101', 'a=rtpmap:101 telephone-event/8000', ''],
].join('\r\n')
const CRYPTO = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${Buffer.alloc(30, 7).toString('base64')}\r\n`
/** SDES, as an answer that takes the call has it. */
const encrypted: Respond = (request) => {
  const { body = '', ...rest } = accepted(request)
  const isOffered = Buffer.from(request.body).includes('RTP/SAVP')
  if (request.method === 'INVITE' && !isOffered) return { status: 488 }
  return { ...rest, ...(body === '' ? {} : { body: `${body.replace('RTP/AVP', 'RTP/SAVP')}${CRYPTO}` }) }
}

const PEERS: Readonly<Record<string, PeerRules>> = {
  'Twilio Elastic SIP Trunking': {
    brings: {
      to: '+14155550100',
      lines: [
        'From: <sip:+14155550142@acme.pstn.twilio.com>;tag=caller',
        'X-Twilio-CallSid: CA1',
        'X-Twilio-AccountSid: AC1',
      ],
      reads: { from: '+14155550142', to: '+14155550100' },
    },
    challenge: { status: 407, text: 'realm="sip.twilio.com", nonce="t1", qop="auth"' },
    refuses: (invite) =>
      both(numbers(invite), hostOf(invite.uri.text) !== 'acme.pstn.twilio.com' && `names ${invite.uri.text}`),
  },
  Telnyx: {
    challenge: { status: 407, text: QOP },
    refuses: numbers,
    brings: {
      to: '+14155550100',
      lines: [
        'From: "ADA L" <sip:+14155550142@sip.telnyx.com>;tag=caller',
        'P-Asserted-Identity: "ADA L" <sip:+14155550142@sip.telnyx.com>',
      ],
      reads: { from: '+14155550142', to: '+14155550100' },
    },
  },
  'Plivo Zentrunk': {
    challenge: { status: 407, text: QOP },
    refuses: numbers,
    brings: {
      to: '+14155550100',
      lines: ['From: <sip:+14155550142@zt.plivo.com>;tag=caller', 'X-Plivo-CallUUID: 1'],
      reads: { from: '+14155550142', to: '+14155550100' },
    },
  },
  Vonage: {
    // Numbers in E.164 without their plus.
    brings: {
      to: '14155550100',
      lines: ['From: <sip:14155550142@sip.nexmo.com>;tag=caller'],
      reads: { from: '+14155550142', to: '+14155550100' },
    },
    challenge: { status: 407, text: 'realm="nexmo.com", nonce="v", qop="auth"' },
    refuses: (invite) =>
      both(numbers(invite), hostOf(from(invite)) !== 'sip.nexmo.com' && `comes from ${from(invite)}`),
  },
  Bandwidth: {
    refuses: numbers,
    brings: {
      to: '+14155550100;npdi;rn=+14155550999',
      lines: ['From: <sip:+14155550142;isup-oli=62@192.0.2.1>;tag=caller'],
      reads: { from: '+14155550142', to: '+14155550100' },
    },
  },
  sipgate: {
    brings: {
      to: 'user',
      lines: ['From: <sip:+493012345678@sipgate.de>;tag=caller', 'To: <sip:+493087654321@sipgate.de>'],
      reads: { from: '+493012345678', to: '+493087654321' },
    },
    challenge: { status: 407, text: QOP },
    refuses: (invite) =>
      both(
        userOf(from(invite)) !== 'user' && `From is ${from(invite)}, not the SIP-ID`,
        !isE164(userOf(headerOf(invite, 'p-preferred-identity'))) && 'the number is in no P-Preferred-Identity',
      ),
  },
  'Deutsche Telekom CompanyFlex': {
    brings: {
      to: 'user',
      lines: [
        'From: <sip:+493012345678@tel.t-online.de;user=phone>;tag=caller',
        'To: <sip:+493087654321@tel.t-online.de;user=phone>',
        'P-Asserted-Identity: <sip:+493012345678@tel.t-online.de;user=phone>, <tel:+493012345678>',
        'P-Called-Party-ID: <sip:+493087654321@tel.t-online.de;user=phone>',
      ],
      reads: { from: '+493012345678', to: '+493087654321' },
    },
    challenge: { status: 401, text: 'realm="tel.t-online.de", nonce="d", qop="auth"' },
    refuses: (invite) =>
      both(
        hostOf(invite.uri.text) !== 'tel.t-online.de' && `names ${invite.uri.text}`,
        !/primary\.companyflex\.de/.test(headerOf(invite, 'route') ?? '') && 'goes past the outbound proxy',
        !isE164(userOf(headerOf(invite, 'p-preferred-identity'))) && 'the number is in no P-Preferred-Identity',
      ),
    refusesToo: (request) =>
      both(request.method === 'REGISTER' && hostOf(headerOf(request, 'to')) !== 'tel.t-online.de' && 'wrong domain'),
    answer: encrypted,
  },
  'FRITZ!Box': {
    // Numbers of the country as people dial them.
    brings: {
      to: 'user',
      lines: ['From: "Anna" <sip:03012345678@fritz.box>;tag=caller', 'To: <sip:user@fritz.box>'],
      reads: { from: '+493012345678', to: 'user' },
    },
    // RFC 2069: no qop.
    challenge: { status: 401, text: 'realm="fritz.box", nonce="06FD8995AFA7E3EC"' },
    refuses: (invite) => both(userOf(from(invite)) !== 'user' && `From is ${from(invite)}, not the device`),
  },
  'Asterisk, as a trunk': {
    brings: {
      to: '+14155550100',
      lines: [
        'From: "Ada" <sip:+14155550142@pbx.example.com>;tag=caller',
        'Supported: 100rel, timer, replaces, norefersub, histinfo',
      ],
      reads: { from: '+14155550142', to: '+14155550100' },
    },
    refuses: (invite) => both(!headerOf(invite, 'allow')?.includes('UPDATE') && 'allows no UPDATE'),
    answer: (request) => ({ ...accepted(request), headers: ['Session-Expires: 1800;refresher=uas', 'Require: timer'] }),
  },
  FreeSWITCH: {
    challenge: { status: 407, text: QOP },
    brings: {
      to: 'user',
      lines: [
        'From: "Extension 1001" <sip:1001@pbx.example.com>;tag=caller',
        'Remote-Party-ID: "Extension 1001" <sip:1001@pbx.example.com>;party=calling;screen=yes;privacy=off',
        'To: <sip:1000@pbx.example.com>',
      ],
      reads: { from: '1001', to: 'user' },
    },
  },
  '3CX': {
    challenge: { status: 407, text: QOP },
    answers: 'auth',
    brings: {
      to: 'user',
      lines: ['From: "Bob" <sip:101@3cx.example.com:5060>;tag=caller', 'To: <sip:user@3cx.example.com>'],
      reads: { from: '101', to: 'user' },
    },
  },
  'Microsoft Teams Direct Routing': {
    brings: {
      to: '+14155550100',
      lines: [
        'From: "Ada" <sip:+14155550142@sip.pstnhub.microsoft.com:5061;user=phone>;tag=caller',
        'To: <sip:+14155550100@sbc.acme.test:5061;user=phone>',
        'P-Asserted-Identity: <tel:+14155550142>,<sip:ada@acme.example.com>',
        'Privacy: none',
      ],
      reads: { from: '+14155550142', to: '+14155550100' },
    },
    refuses: (invite) =>
      both(
        hostOf(from(invite)) !== 'sbc.acme.test' && `From is ${from(invite)}`,
        hostOf(headerOf(invite, 'contact')) !== 'sbc.acme.test' && `Contact is ${headerOf(invite, 'contact')}`,
        headerOf(invite, 'replaces') !== undefined && 'has Replaces',
      ),
    refusesToo: ({ headers }) =>
      both(!headers.some(({ name, value }) => name === 'contact' && value.includes('sbc.acme.test')) && 'Contact'),
    answer: encrypted,
  },
}

/** The settings of each section of the page, as somebody fills them in. */
async function settingsOfPage(): Promise<Map<string, Record<string, unknown>>> {
  const found = new Map<string, Record<string, unknown>>()
  for (const section of (await readFile(PAGE, 'utf8')).split(/^## /m).slice(1)) {
    const title = section.slice(0, section.indexOf('\n'))
    const json = /```json\n(.*?)```/s.exec(section)?.[1]
    if (json === undefined) continue
    const filled = json.replace(/<([^>]+)>/g, (_, name: string) => {
      if (/user|SIP-ID|API key|extension|registration/i.test(name)) return 'user'
      if (name === 'authentication id') return 'auth'
      return OWN[name] ?? name.replace(/\W/g, '')
    })
    const fields = JSON.parse(filled.replaceAll('"…"', '"user"'))
    found.set(title, { ...fields, ...(fields.password === undefined ? {} : { password: SECRET }) })
  }
  return found
}

const md5 = (...parts: string[]): string => createHash('md5').update(parts.join(':')).digest('hex')

/** Is this the digest of the password (RFC 2069, RFC 7616)? */
function isRight(credentials: string | undefined, method: string, user: string): boolean {
  const of = (name: string): string => new RegExp(`[ ,]${name}="?([^",]*)`).exec(credentials ?? '')?.[1] ?? ''
  if (credentials === undefined || of('username') !== user) return false
  const secret = md5(user, of('realm'), SECRET)
  const request = md5(method, of('uri'))
  const right =
    of('qop') === ''
      ? md5(secret, of('nonce'), request)
      : md5(secret, of('nonce'), of('nc'), of('cnonce'), of('qop'), request)
  return of('response') === right
}

const settings = await settingsOfPage()
for (const [title, rules] of Object.entries(PEERS)) {
  t.test(`${title}: the settings of the page lead to a call that the peer takes`, async (t) => {
    const { name, host, username, password, register, transport, codecs, countries, allowed_addresses, ...own } =
      settings.get(title) as Record<string, never>
    t.ok(host, 'the page has settings')
    const faults: string[] = []
    const user = rules.answers ?? String(username)
    const respond: Respond = (request) => {
      const { challenge, refuses, refusesToo, answer = accepted } = rules
      if (request.method === 'OPTIONS' || request.method === 'REGISTER') {
        const fault = refusesToo?.(request)
        if (fault !== undefined) faults.push(`${request.method}: ${fault}`)
      }
      const asks = challenge !== undefined && (request.method === 'INVITE' || request.method === 'REGISTER')
      const proof = headerOf(request, challenge?.status === 407 ? 'proxy-authorization' : 'authorization')
      if (asks && !isRight(proof, request.method, user)) {
        const header = challenge.status === 407 ? 'Proxy-Authenticate' : 'WWW-Authenticate'
        return { status: challenge.status, headers: [`${header}: Digest ${challenge.text}`] }
      }
      if (request.method === 'REGISTER') {
        return { status: 200, headers: [`Contact: ${headerOf(request, 'contact')};expires=300`] }
      }
      if (request.method !== 'INVITE') return { status: 200 }
      const fault = refuses?.(request)
      if (fault === undefined) return answer(request)
      faults.push(fault)
      return { status: 403 }
    }
    const isUdp = transport === undefined || String(transport) === 'udp'
    const port = isUdp ? (await startPeer(t, respond)).port : await freePort()
    if (!isUdp) await startStreamPeer(t, respond, port)
    const at = String((own as { outbound_proxy?: string }).outbound_proxy ?? 'none.test')
    const trunk = trunkOf(
      {
        ...{
          name: String(name),
          username,
          password,
          register: register ?? false,
          countries: [...((countries ?? []) as string[]), 'US'],
        },
        // Looked up by SRV, as a host without a port is.
        host: String(host).includes('.') ? String(host) : `${String(host).replace(/:\d+$/, '')}.test`,
        transport: isUdp ? 'udp' : 'tcp',
        ...(codecs === undefined ? {} : { codecs }),
      },
      { ...own, fallback_trunk: null, tls_cert: null },
    )
    const service = `_sip._${isUdp ? 'udp' : 'tcp'}`
    const records = [{ name: 'peer.test', port, priority: 1, weight: 1 }]
    const names = [trunk.host, at]
    const {
      dial,
      carrier,
      port: sipPort,
    } = await startCarrier(t, [trunk], {
      resolve: Object.fromEntries([...names, 'peer.test'].map((one) => [one, ['127.0.0.1']])),
      srv: Object.fromEntries(names.map((one) => [`${service}.${one}`, records])),
    })
    const brought = Promise.withResolvers<IncomingCall>()
    await carrier.receive(brought.resolve, new AbortController().signal)
    await until(() => carrier.trunkState(String(name))?.contact?.status === 200)
    const placed = await dial(String(name))
    t.same(faults, [], 'nothing is against the documents')
    t.ok(placed.leg, placed.detail ?? 'taken')
    placed.leg?.close('done')

    const caller = await startCaller(t, sipPort)
    const { to, lines, reads } = rules.brings
    const isEncrypted = (own as { media_encryption?: string }).media_encryption === 'required'
    void caller.call(to, lines, isEncrypted ? OFFER.replace('RTP/AVP', 'RTP/SAVP') + CRYPTO : OFFER)
    const call = await brought.promise
    t.same({ from: call.from, to: call.to }, reads, 'a call that it brings names its caller and its callee')
    call.reject('failed')
  })
}

t.test('every peer of the list has its section', async (t) => {
  t.same(
    Object.keys(PEERS).filter((title) => !settings.has(title)),
    [],
  )
})
