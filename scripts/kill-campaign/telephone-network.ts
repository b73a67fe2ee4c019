import dgram from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { REFUSED_PREFIX } from '../../bench/dialer/world.ts'
import type { SipRequest } from '../../plugins/sip/message/message.ts'
import { parseMessage } from '../../plugins/sip/message/parser.ts'
import { DEFAULT_TRUNK_SETTINGS, type TrunkSettings } from '../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { insertTrunk, newTrunkId } from '../../store/telephony/trunks.ts'
import { accepted, answerText } from '../../test/system/plugins/sip/support/carrier.ts'

const ADDRESS = '127.0.0.1'
/** Numbers that nobody but a redirection leads to. */
export const REDIRECTED_PREFIX = '+1415888'
const SETUP_MS = 250
/** A person needs longer than an engine to refuse a call. */
const PERSON_MS = 1_300
const TALK_MS = 300

type Fate =
  | { answers: true }
  /** @param afterMs of ringing; undefined: the phone never rings */
  | { status: number; afterMs?: number }
  | { redirectsTo: string }

const BUSY: Fate = { status: 486, afterMs: 20 }
/** By the last digit of a number. */
const FATES: Readonly<Record<string, Fate>> = {
  '0': { status: 480, afterMs: 20 },
  '1': { answers: true },
  '2': { answers: true },
  '3': { status: 480, afterMs: 20 },
  '4': { redirectsTo: REDIRECTED_PREFIX },
  '5': { status: 404 },
  '7': { status: 603, afterMs: PERSON_MS },
}
/** The same in one area alone, where many would make a number or a trunk rest: in order blocked by an engine, and the carrier's fault. */
const FATES_BY_AREA: Readonly<Record<string, Fate>> = {
  '2126': { status: 608 },
  '7046': { status: 503 },
  '4154': { redirectsTo: REFUSED_PREFIX },
  '3034': { redirectsTo: REFUSED_PREFIX },
}

function fateOf(number: string): Fate {
  if (number.startsWith(REDIRECTED_PREFIX)) return { answers: true }
  const digit = number.slice(-1)
  return FATES_BY_AREA[number.slice(2, 5) + digit] ?? FATES[digit] ?? BUSY
}

/** The network's trunk `main`, and `dead`, whose calls go out over `main` once nothing is heard from it. */
export async function addTrunks(tenant: Tenant, network: TelephoneNetwork): Promise<void> {
  const list = (...entries: string[]): string => JSON.stringify(entries)
  const add = (name: string, host: string, settings: Partial<TrunkSettings>) =>
    insertTrunk(tenant, newTrunkId(), {
      ...{ name, host, transport: 'udp', tls_ca: null, tls_key: null, register: false, username: null, password: null },
      ...{ allowed_addresses: list(ADDRESS), codecs: list('PCMU'), countries: list('US') },
      ...{ max_concurrent_calls: 100, max_calls_per_second: 50 },
      settings: JSON.stringify({ ...DEFAULT_TRUNK_SETTINGS, ...settings }),
    })
  await add('main', network.host, {})
  await add('dead', network.deadHost, { fallback_trunk: 'main' })
}

/**
 * What a trunk of 127.0.0.1 leads to: a telephone network whose callees answer, are busy, decline, are blocked or have their calls
 * forwarded, to ordinary and to premium numbers. It notes every number that an INVITE asks for. Callees hang up after a
 * moment, also where the node that called them was killed meanwhile.
 */
export class TelephoneNetwork {
  readonly #socket: dgram.Socket
  readonly #silent: dgram.Socket
  /** Number, Call-ID and time of each INVITE, retransmissions left out. */
  readonly dialled: string[] = []
  /** Messages to the dead trunk. */
  unheard = 0
  readonly #seen = new Set<string>()
  readonly #canceled = new Set<string>()

  static async start(): Promise<TelephoneNetwork> {
    return new TelephoneNetwork(await bound(), await bound())
  }

  private constructor(socket: dgram.Socket, silent: dgram.Socket) {
    this.#socket = socket
    this.#silent = silent
    socket.on('message', (bytes, from) => this.#received(bytes, from))
    silent.on('message', () => {
      this.unheard++
    })
  }

  /** A trunk's host. */
  get host(): string {
    return `${ADDRESS}:${this.#socket.address().port}`
  }

  /** The host of a trunk from which nothing is heard. */
  get deadHost(): string {
    return `${ADDRESS}:${this.#silent.address().port}`
  }

  stop(): void {
    this.#socket.close()
    this.#silent.close()
  }

  #received(bytes: Buffer, from: dgram.RemoteInfo): void {
    let message: ReturnType<typeof parseMessage>
    try {
      message = parseMessage(bytes)
    } catch {
      // A keep-alive.
      return
    }
    if (message.kind === 'response' || message.method === 'ACK') return
    if (message.method === 'INVITE') return void this.#invited(message, from)
    if (message.method === 'CANCEL') this.#canceled.add(message.callId)
    this.#answer(message, from, { status: 200 })
  }

  async #invited(invite: SipRequest, from: dgram.RemoteInfo): Promise<void> {
    const number = invite.uri.user ?? ''
    const key = `${invite.callId} ${invite.cseq.number}`
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    this.dialled.push(`${number} ${invite.callId} ${Math.round(performance.timeOrigin + performance.now())}`)
    this.#answer(invite, from, { status: 100 })
    await sleep(SETUP_MS)
    const fate = fateOf(number)
    const rings = 'answers' in fate || ('afterMs' in fate && fate.afterMs !== undefined)
    if (rings) this.#answer(invite, from, { status: 180 })
    await sleep('afterMs' in fate ? fate.afterMs : 20)
    if (this.#canceled.has(invite.callId)) return this.#answer(invite, from, { status: 487 })
    if ('redirectsTo' in fate) {
      const target = `${fate.redirectsTo}${number.slice(-(12 - fate.redirectsTo.length))}`
      return this.#answer(invite, from, { status: 302, headers: [`Contact: <sip:${target}@${this.host}>`] })
    }
    if ('status' in fate) return this.#answer(invite, from, { status: fate.status })
    this.#answer(invite, from, accepted(invite))
    await sleep(TALK_MS)
    this.#hangUp(invite, from)
  }

  #answer(request: SipRequest, to: dgram.RemoteInfo, answer: Parameters<typeof answerText>[1]): void {
    this.#send(answerText(request, answer, this.#socket.address().port), to)
  }

  #hangUp(invite: SipRequest, to: dgram.RemoteInfo): void {
    const header = (name: string): string => invite.headers.find((one) => one.name === name)?.value ?? ''
    const lines = [
      `BYE ${invite.contacts[0]?.uri.text ?? `sip:${to.address}:${to.port}`} SIP/2.0`,
      `Via: SIP/2.0/UDP ${this.host};branch=z9hG4bKbye${invite.callId};rport`,
      `From: ${header('to')};tag=peer`,
      `To: ${header('from')}`,
      `Call-ID: ${invite.callId}`,
      'CSeq: 1 BYE',
      'Max-Forwards: 70',
      'Content-Length: 0',
    ]
    this.#send([...lines, '', ''].join('\r\n'), to)
  }

  #send(text: string, to: dgram.RemoteInfo): void {
    // A node that was killed has no socket: what is sent to it is lost, as on a real line.
    this.#socket.send(text, to.port, to.address, () => undefined)
  }
}

async function bound(): Promise<dgram.Socket> {
  const socket = dgram.createSocket('udp4').bind(0, ADDRESS)
  await once(socket, 'listening')
  // Of a loopback port that nobody listens at any more.
  socket.on('error', () => undefined)
  return socket
}
