import { NO_DIAL_RULES } from '../../runtime/dialing/dial-policy.ts'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import type { LineCodecName } from '../../runtime/media/codecs/line-codec.ts'
import { type LineFaults, lineFaults } from '../../runtime/media/line/line-faults.ts'
import type { PluginHost, UdpSocket } from '../../runtime/plugin/contract.ts'
import { CarrierFault, type IncomingCall, type LoopbackCall } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import type { Trunk, TrunkDirectory } from '../../runtime/plugin-sdk/telephony/trunk.ts'
import { DEFAULT_TRUNK_SETTINGS } from '../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import { SipCarrier } from './carrier.ts'
import { readSettings } from './settings.ts'

const ADDRESS = '127.0.0.1'
const WORKSPACE = 'loopback'
const CALL_ID = 'loopback'
/** Of the range of North America that is nobody's. */
const CALLING = '+14155550100'
const CALLED = '+14155550199'
const RING_TIMEOUT_MS = 60_000
const MAX_TRIES = 50
/** A BYE that was lost is sent again after half a second, then after one, and so on (RFC 3261, 17.1.2). */
const GOODBYE_MS = 1_600

/**
 * A call of two carriers of this process over UDP sockets of loopback, every datagram of which goes over a line with these faults:
 * signalling, media and reports.
 */
export async function openLoopback(
  host: PluginHost,
  line: LineFaults & { codec: LineCodecName },
  signal: AbortSignal,
): Promise<LoopbackCall> {
  const first = await freePort(host)
  const second = await freePort(host, first)
  const ends = [carrierAt(host, first, second, line), carrierAt(host, second, first, line)] as const
  const [ours, theirs] = ends
  const stopping = new AbortController()
  const close = async (): Promise<void> => {
    stopping.abort()
    await Promise.all(ends.map((end) => end.hangup(CALL_ID)))
    const release = (): void =>
      inBackground(
        'sip',
        Promise.all(ends.map((end) => end.close())).then(() => {}),
      )
    setTimeout(boundary('sip', release), GOODBYE_MS).unref()
  }
  try {
    const arrived = Promise.withResolvers<IncomingCall>()
    const answered = Promise.withResolvers<Awaited<LoopbackCall['calling']>>()
    answered.promise.catch(() => {})
    const fail = (why: string): void => {
      const fault = new CarrierFault(why)
      arrived.reject(fault)
      answered.reject(fault)
    }
    signal.addEventListener(
      'abort',
      boundary('sip', () => fail('the call was given up')),
      { once: true },
    )
    await theirs.receive(arrived.resolve, stopping.signal)
    const order = { callId: CALL_ID, workspaceId: WORKSPACE, from: CALLING, to: CALLED, ringTimeoutMs: RING_TIMEOUT_MS }
    const events = {
      ringing: () => undefined,
      answered: answered.resolve,
      failed: (failure: string, detail?: string) => fail(detail ?? failure),
    }
    await ours.dial({ ...order, rules: NO_DIAL_RULES }, events, signal)
    const called = await (await arrived.promise).accept({ callId: CALL_ID, trunk: WORKSPACE, rules: NO_DIAL_RULES })
    if (called === undefined) throw new CarrierFault('the call could not be taken')
    return { called, calling: answered.promise, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A carrier that knows the other one alone, and takes no connections. */
function carrierAt(
  host: PluginHost,
  port: number,
  other: number,
  line: LineFaults & { codec: LineCodecName },
): SipCarrier {
  const own: Readonly<Record<string, string | undefined>> = {
    PATCHBAY_SIP_PORT: String(port),
    PATCHBAY_SIP_HOST: ADDRESS,
    PATCHBAY_SIP_PUBLIC_ADDRESS: undefined,
    PATCHBAY_HEP_URL: undefined,
  }
  const net = {
    ...host.net,
    udp: async (target: { port: number; address?: string }) => withFaults(await host.net.udp(target), line),
    listen: async () => ({ port, close: () => undefined }),
  }
  const env = { get: (name: string) => (name in own ? own[name] : host.env.get(name)) }
  const trunk: Trunk = {
    ...{ id: WORKSPACE, workspaceId: WORKSPACE, name: WORKSPACE, host: `${ADDRESS}:${other}`, transport: 'udp' },
    ...{ tlsCa: undefined, tlsKey: undefined, register: false, username: undefined, password: undefined },
    ...{ allowedAddresses: [ADDRESS], internalAddresses: [ADDRESS], codecs: [line.codec], countries: ['US'] },
    ...{ maxConcurrentCalls: 1, maxCallsPerSecond: 10, settings: DEFAULT_TRUNK_SETTINGS },
  }
  const directory: TrunkDirectory = { list: async () => [trunk], watch: () => () => undefined }
  return new SipCarrier({ ...host, env, net }, directory, {})
}

function withFaults(socket: UdpSocket, line: LineFaults): UdpSocket {
  const pass = lineFaults(line, Math.random)
  return {
    address: socket.address,
    port: socket.port,
    send(bytes, port, address) {
      // What waits must not change: its buffer is used again.
      const kept = line.jitterMs === 0 ? bytes : bytes.slice()
      pass(() => socket.send(kept, port, address))
    },
    receive: (handler) => socket.receive(handler),
    close: () => socket.close(),
  }
}

/** A port of the range for media, which a plugin may open anywhere. */
async function freePort(host: PluginHost, taken?: number): Promise<number> {
  const { first, last } = readSettings(host, {}).rtpPorts
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = first + Math.floor(Math.random() * (last - first + 1))
    if (port === taken) continue
    const socket = await host.net.udp({ port, address: ADDRESS }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return undefined
      throw error
    })
    if (socket === undefined) continue
    socket.close()
    return port
  }
  throw new CarrierFault(`no port of ${first}–${last} is free`)
}
