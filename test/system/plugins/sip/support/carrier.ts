import dgram from 'node:dgram'
import { once } from 'node:events'
import { pino } from 'pino'
import { SipCarrier } from '../../../../../plugins/sip/carrier.ts'
import type { SipMessage, SipRequest, SipResponse } from '../../../../../plugins/sip/message/message.ts'
import { parseMessage } from '../../../../../plugins/sip/message/parser.ts'
import type { CarrierFigures, Leg } from '../../../../../runtime/call/types/leg.ts'
import { NO_DIAL_RULES } from '../../../../../runtime/dialing/dial-policy.ts'
import type { PhoneNumber } from '../../../../../runtime/lib/phone-number.ts'
import type { SrvRecord } from '../../../../../runtime/plugin/contract.ts'
import { compileGrants } from '../../../../../runtime/plugin/grants/permissions.ts'
import { makeHost } from '../../../../../runtime/plugin/make-host.ts'
import type { DialRules } from '../../../../../runtime/plugin-sdk/telephony/carrier.ts'
import type { Trunk, TrunkDirectory } from '../../../../../runtime/plugin-sdk/telephony/trunk.ts'
import {
  DEFAULT_TRUNK_SETTINGS,
  type TrunkSettings,
} from '../../../../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import type { Teardown } from '../../../../support/instance/services.ts'
import { freePort } from '../../../../support/sip/sip-peers.ts'

/** A SIP carrier of this process on loopback, and peers of a few lines that answer it on real sockets. */

export function trunkOf(
  more: Partial<Omit<Trunk, 'settings'>> & { name: string; host: string },
  settings: Partial<TrunkSettings> = {},
): Trunk {
  return {
    ...{ id: more.name, workspaceId: 'w', transport: 'udp', tlsCa: undefined, tlsKey: undefined, register: false },
    ...{ username: undefined, password: undefined, allowedAddresses: ['127.0.0.1'], codecs: ['PCMU', 'PCMA'] },
    internalAddresses: ['127.0.0.0/8'],
    ...{ maxConcurrentCalls: 10, maxCallsPerSecond: 100, countries: ['US'] },
    ...more,
    settings: { ...DEFAULT_TRUNK_SETTINGS, ...settings },
  }
}

export interface TestNames {
  resolve?: Readonly<Record<string, string[] | Promise<string[]>>>
  srv?: Readonly<Record<string, SrvRecord[]>>
}

export async function startCarrier(
  t: Teardown,
  trunks: readonly Trunk[],
  names: TestNames = {},
  share?: TrunkDirectory['share'],
  admit?: TrunkDirectory['admit'],
) {
  const port = await freePort()
  const firstRtp = 26_000 + Math.floor(Math.random() * 2_000) * 2
  const stopping = new AbortController()
  const env = {
    PATCHBAY_SIP_PORT: String(port),
    PATCHBAY_SIP_HOST: '127.0.0.1',
    PATCHBAY_RTP_PORTS: `${firstRtp}-${firstRtp + 99}`,
  }
  const host = makeHost({
    ...{ plugin: 'sip', dir: import.meta.dirname, env, log: pino({ level: 'silent' }), signal: stopping.signal },
    grants: compileGrants(
      {
        net: ['127.0.0.1'],
        listen: [String(port), `udp:${port}`, `udp:${firstRtp}-${firstRtp + 99}`],
        env: [...Object.keys(env), 'PATCHBAY_SIP_PUBLIC_ADDRESS', 'PATCHBAY_HEP_URL'],
      },
      { env, baseDir: '/' },
    ),
  })
  const net = {
    ...host.net,
    resolve: async (name: string) => names.resolve?.[name] ?? host.net.resolve(name),
    srv: async (name: string) => {
      const records = names.srv?.[name]
      if (records === undefined) throw new Error(`no ${name}`)
      return records
    },
  }
  let known = trunks
  const watchers = new Set<() => Promise<void>>()
  const directory: TrunkDirectory = {
    list: async () => known,
    watch: (changed) => {
      watchers.add(changed)
      return () => watchers.delete(changed)
    },
    ...(share === undefined ? {} : { share }),
    ...(admit === undefined ? {} : { admit }),
  }
  const carrier = new SipCarrier({ ...host, net }, directory, {})
  t.teardown(async () => {
    await carrier.close()
    await new Promise(setImmediate)
    stopping.abort()
  })
  return {
    carrier,
    port,
    /** Its first port for media; there are a hundred. */
    firstRtp,
    /** Resolves once the carrier knows. */
    async change(next: readonly Trunk[]) {
      known = next
      await Promise.all([...watchers].map((watcher) => watcher()))
    },
    /** Dials, and resolves with what became of it. */
    dial(trunk: string, to = '+14155550177', callId = 'call') {
      const figures: CarrierFigures[] = []
      const { promise, resolve } = Promise.withResolvers<{
        leg?: Leg
        failure?: string
        detail?: string | undefined
        figures: CarrierFigures[]
      }>()
      void carrier.dial(
        {
          callId,
          workspaceId: 'w',
          trunk,
          from: '+14155550100' as PhoneNumber,
          to: to as PhoneNumber,
          ringTimeoutMs: 30_000,
        },
        {
          ringing: () => undefined,
          carrier: (known) => figures.push(known),
          answered: (leg) => resolve({ leg, figures }),
          failed: (failure, detail) => resolve({ failure, detail, figures }),
        },
        AbortSignal.timeout(60_000),
      )
      return promise
    },
  }
}

export interface Peer {
  readonly port: number
  readonly requests: SipRequest[]
  /** Sends anything to whoever sent last. */
  send(text: string): void
  /** Resolves with the request number `count` of this method. */
  saw(method: string, count?: number): Promise<SipRequest>
  /** Empty lines that came. */
  pings: number
  close(): void
}

/** What a peer answers: a status with lines of headers and a body; nothing: silence. */
export type Respond = (
  request: SipRequest,
) => { status: number; headers?: readonly string[]; body?: string } | undefined

/** A peer on UDP. */
export async function startPeer(t: Teardown, respond: Respond, port = 0, address = '127.0.0.1'): Promise<Peer> {
  const socket = dgram.createSocket('udp4').bind(port, address)
  await once(socket, 'listening')
  const requests: SipRequest[] = []
  const waiting = new Set<() => void>()
  let last: dgram.RemoteInfo | undefined
  const peer: Peer = {
    port: socket.address().port,
    requests,
    pings: 0,
    send: (text) => last && socket.send(text, last.port, last.address),
    async saw(method, count = 1) {
      for (;;) {
        const found = requests.filter((one) => one.method === method)[count - 1]
        if (found !== undefined) return found
        await new Promise<void>((resolve) => waiting.add(resolve))
      }
    },
    close: () => socket.close(),
  }
  let open = true
  socket.once('close', () => {
    open = false
  })
  socket.on('message', (bytes, from) => {
    last = from
    if (String(bytes) === '\r\n\r\n') {
      peer.pings++
      return
    }
    let message: SipMessage
    try {
      message = parseMessage(bytes)
    } catch {
      return
    }
    if (message.kind !== 'request') return
    requests.push(message)
    for (const resolve of waiting) resolve()
    waiting.clear()
    const answer = respond(message)
    if (answer !== undefined && message.method !== 'ACK') {
      socket.send(answerText(message, answer, peer.port), from.port, from.address)
    }
  })
  t.teardown(() => {
    if (open) socket.close()
  })
  return peer
}

export function answerText(
  request: SipRequest,
  { status, headers = [], body = '' }: NonNullable<ReturnType<Respond>>,
  port: number,
): string {
  const kept = request.headers.filter(({ name }) =>
    ['via', 'from', 'to', 'call-id', 'cseq', 'record-route'].includes(name),
  )
  return [
    `SIP/2.0 ${status} x`,
    ...kept.map(
      ({ name, value }) => `${name}: ${name === 'to' && !value.includes('tag=') ? `${value};tag=peer` : value}`,
    ),
    ...(headers.some((line) => line.startsWith('Contact')) ? [] : [`Contact: <sip:peer@127.0.0.1:${port}>`]),
    ...headers,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

/** An answer that takes the call: its media go nowhere. */
export function accepted(request: SipRequest): NonNullable<ReturnType<Respond>> {
  const lines = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0', 'm=audio 9 RTP/AVP 0', '']
  return { status: 200, ...(request.method === 'INVITE' ? { body: lines.join('\r\n') } : {}) }
}

/** Somebody who calls in over UDP and writes their messages themselves. */
export async function startCaller(t: Teardown, sipPort: number, address = '127.0.0.1') {
  const socket = dgram.createSocket('udp4').bind(0, address)
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  const { port } = socket.address()
  const answers: SipResponse[] = []
  const requests: SipRequest[] = []
  const waiting = new Set<() => void>()
  const statuses = new Map<string, number>()
  socket.on('message', (bytes, from) => {
    const message = parseMessage(bytes)
    if (message.kind === 'response') answers.push(message)
    else {
      requests.push(message)
      const answer = { status: statuses.get(message.method) ?? 200 }
      if (message.method !== 'ACK') socket.send(answerText(message, answer, port), from.port, from.address)
    }
    for (const resolve of waiting) resolve()
    waiting.clear()
  })
  let calls = 0
  const until = async <T>(find: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      await new Promise<void>((resolve) => waiting.add(resolve))
    }
  }
  const send = (method: string, to: string, lines: readonly string[], body: string | Buffer = ''): void => {
    const given = (name: string): boolean =>
      lines.some((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    const usual = [
      `From: <sip:+14155550142@127.0.0.1>;tag=caller`,
      `To: <sip:${to}@127.0.0.1:${sipPort}>`,
      `CSeq: 1 ${method}`,
      `Contact: <sip:caller@127.0.0.1:${port}>`,
      'Max-Forwards: 70',
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
    ].filter((line) => !given(line.slice(0, line.indexOf(':'))))
    const head = [`${method} sip:${to}@127.0.0.1:${sipPort} SIP/2.0`, ...lines, ...usual]
    const bytes = Buffer.concat([
      Buffer.from([...head, `Content-Length: ${Buffer.byteLength(body)}`, '', ''].join('\r\n')),
      Buffer.from(body),
    ])
    socket.send(bytes, sipPort, '127.0.0.1')
  }
  return {
    port,
    answers,
    requests,
    send,
    /** Resolves with the next request of this kind. */
    saw: (method: string) => until(() => requests.find((one) => one.method === method)),
    /** Resolves with the final answer to this request. */
    answer: (callId: string, number: number) =>
      until(() => answers.find((one) => one.callId === callId && one.cseq.number === number && one.status >= 200)),
    /** Answers requests of this kind with this from now on, instead of 200. */
    says: (method: string, status: number) => void statuses.set(method, status),
    /** Calls, and resolves with the final answer, which is acknowledged. */
    async call(to: string, lines: readonly string[], body: string | Buffer = ''): Promise<SipResponse> {
      const callId = `in-${port}-${++calls}`
      const via = (branch: string): string => `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${branch};rport`
      send('INVITE', to, [via(callId), `Call-ID: ${callId}`, ...lines], body)
      const final = await until(() => answers.find((one) => one.callId === callId && one.status >= 200))
      const tag = final.to.params.get('tag')
      const branch = final.status < 300 ? `${callId}a` : callId
      send('ACK', to, [
        via(branch),
        `Call-ID: ${callId}`,
        `To: <sip:${to}@127.0.0.1:${sipPort}>;tag=${tag}`,
        'CSeq: 1 ACK',
      ])
      return final
    },
  }
}

/** Takes every call that comes in, on whatever trunk, of workspaces with these rules. */
export async function takeCalls(carrier: SipCarrier, rules: DialRules = NO_DIAL_RULES): Promise<Leg[]> {
  const legs: Leg[] = []
  let calls = 0
  const ignore = (): void => undefined
  await carrier.receive(async (call) => {
    const leg = await call.accept({ callId: `in-${++calls}`, trunk: call.trunks?.[0] ?? '', rules })
    if (leg === undefined) return
    leg.start({ audio: ignore, text: ignore, dtmf: ignore, played: ignore, ended: ignore })
    leg.answer()
    legs.push(leg)
  }, new AbortController().signal)
  return legs
}
