import dgram from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SipMessage, SipRequest, SipResponse } from '../../../plugins/sip/message/message.ts'
import { parseMessage } from '../../../plugins/sip/message/parser.ts'
import { decodeG711, encodeG711 } from '../../../runtime/media/codecs/g711.ts'
import { readRtp, writeRtp } from '../../../runtime/media/line/rtp-packet.ts'
import type { Teardown } from '../instance/services.ts'

/** How long a request is repeated (RFC 3261, timer B), and how often. */
const GIVE_UP_MS = 32_000
const T1_MS = 500
const T2_MS = 4_000
const AGAIN_MS = 2_000
const FRAME_MS = 20
/** At 8 kHz. */
const FRAME_SAMPLES = 160
/** A frame as loud as this is speech; comfort noise and music are not. */
const SPEECH = 1_400

type Law = 'pcmu' | 'pcma'
const TYPE: Readonly<Record<Law, number>> = { pcmu: 0, pcma: 8 }

/** The lines of a description that say where media go and which way; `c` and `m` are written by the phone. */
export interface Wish {
  /** `sendrecv`, `sendonly`, `inactive`; absent: nothing is said. */
  direction?: string
  /** Of the `c=` line; absent: where the phone is. */
  address?: string
  codec?: Law
}

/** What a phone heard since it was last asked. */
export interface Heard {
  packets: number
  speechMs: number
  payloadTypes: Set<number>
}

/**
 * A phone that does what no softphone can be told to: every way of holding and resuming, changes of codec and port, stray packets.
 * It repeats its requests as RFC 3261 wants, so it may be behind a line that loses them. Its Contact is one of a private network.
 */
export class WirePhone {
  readonly #sip: dgram.Socket
  readonly #to: number
  readonly #from: string
  readonly #messages: SipMessage[] = []
  readonly #waiting = new Set<() => void>()
  #rtp: dgram.Socket
  #mediaTo: number | undefined
  #law: Law = 'pcmu'
  #sequence = 1
  #cseq = 0
  #version = 0
  #callId = ''
  #number = ''
  #remoteTag = ''
  /** By the sequence number of what they acknowledge: a 2xx that comes again has lost its own. */
  readonly #acks = new Map<number, Buffer>()
  #heard: Heard = { packets: 0, speechMs: 0, payloadTypes: new Set() }
  #timer: NodeJS.Timeout | undefined
  /** What it has yet to say, in whole frames. */
  #says: Int16Array[] = []

  /** @param displayName what it says its owner is called */
  static async start(t: Teardown, sipPort: number, displayName?: string): Promise<WirePhone> {
    const phone = new WirePhone(await bound(), await bound(), sipPort, displayName)
    t.teardown(() => phone.close())
    return phone
  }

  private constructor(sip: dgram.Socket, rtp: dgram.Socket, sipPort: number, displayName?: string) {
    this.#from = displayName === undefined ? '' : `"${displayName}" `
    this.#sip = sip
    this.#rtp = rtp
    this.#to = sipPort
    sip.on('message', (bytes, from) => this.#received(bytes, from))
    rtp.on('message', (bytes) => this.#hears(bytes))
  }

  close(): void {
    clearInterval(this.#timer)
    this.#sip.close()
    this.#rtp.close()
  }

  /** Calls a number; resolves once it is answered and acknowledged. Throws when it is refused. */
  async call(number: string, beforeMedia?: (rtpPort: number) => Promise<void>): Promise<void> {
    this.#callId = `wire-${Math.random().toString(36).slice(2)}`
    this.#number = number
    const answer = await this.#invite({})
    if (answer.status >= 300) throw new Error(`${number} answered ${answer.status}`)
    await beforeMedia?.(this.#mediaTo!)
    this.#speak()
  }

  /** Offers something else in the middle of the call; resolves with what is agreed on. */
  async reinvite(wish: Wish): Promise<{ status: number; sdp: string }> {
    let response = await this.#invite(wish)
    // The other side has something under way, or the ACK of the last one has not arrived: later, as RFC 3261 wants it.
    for (let tries = 0; (response.status === 491 || response.status === 500) && tries < 8; tries++) {
      await sleep(AGAIN_MS)
      response = await this.#invite(wish)
    }
    return { status: response.status, sdp: Buffer.from(response.body).toString() }
  }

  /** Asks for an offer, and answers it with this; resolves with the offer. */
  async reinviteWithoutOffer(wish: Wish): Promise<{ status: number; sdp: string }> {
    const response = await this.#invite(undefined, wish)
    return { status: response.status, sdp: Buffer.from(response.body).toString() }
  }

  /** Presses a key and says so by INFO, as many gateways do; resolves once that is heard. */
  async press(key: string): Promise<void> {
    await this.#request('INFO', `Signal=${key}\r\nDuration=160\r\n`)
  }

  /** Hangs up; resolves once that is heard. */
  async hangUp(): Promise<void> {
    await this.#request('BYE', '')
  }

  /** Resolves once the other side has hung up. */
  async left(): Promise<SipRequest> {
    return this.#until((one): one is SipRequest => one.kind === 'request' && one.method === 'BYE')
  }

  get isLeft(): boolean {
    return this.#messages.some((one) => one.kind === 'request' && one.method === 'BYE')
  }

  /** Media come from another port from now on; nobody is told. */
  async moveMedia(): Promise<void> {
    const before = this.#rtp
    this.#rtp = await bound()
    this.#rtp.on('message', (bytes) => this.#hears(bytes))
    before.close()
  }

  /** Says this, after what it says already: 16-bit samples at 8 kHz. */
  say(samples: Int16Array): void {
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
      const frame = new Int16Array(FRAME_SAMPLES)
      frame.set(samples.subarray(at, at + FRAME_SAMPLES))
      this.#says.push(frame)
    }
  }

  /** Sends nothing more, and says nothing of it. */
  fallSilent(): void {
    clearInterval(this.#timer)
  }

  /** What was heard since the last time. */
  heard(): Heard {
    const heard = this.#heard
    this.#heard = { packets: 0, speechMs: 0, payloadTypes: new Set() }
    return heard
  }

  async #invite(wish: Wish | undefined, answer?: Wish): Promise<SipResponse> {
    const response = await this.#request('INVITE', wish === undefined ? '' : this.#describe(wish))
    if (response.status < 300) {
      const text = Buffer.from(response.body).toString()
      this.#mediaTo = Number(/^m=audio (\d+)/m.exec(text)?.[1])
      this.#law = answer?.codec ?? (/^m=audio \d+ \S+ 8/m.test(text) ? 'pcma' : 'pcmu')
      this.#remoteTag = response.to.params.get('tag') ?? ''
      const ack = this.#message('ACK', this.#cseq, answer === undefined ? '' : this.#describe(answer))
      this.#acks.set(this.#cseq, ack)
      this.#send(ack)
    } else this.#send(this.#message('ACK', this.#cseq, '', `INVITE${this.#cseq}`))
    return response
  }

  #describe({ direction, address = '127.0.0.1', codec = 'pcmu' }: Wish): string {
    return [
      'v=0',
      `o=- 1 ${++this.#version} IN IP4 127.0.0.1`,
      's=-',
      `c=IN IP4 ${address}`,
      't=0 0',
      `m=audio ${this.#rtp.address().port} RTP/AVP ${TYPE[codec]}`,
      ...(direction === undefined ? [] : [`a=${direction}`]),
      '',
    ].join('\r\n')
  }

  #message(method: string, cseq: number, body: string, branch = `${method}${cseq}`): Buffer {
    const tag = this.#remoteTag === '' ? '' : `;tag=${this.#remoteTag}`
    return Buffer.from(
      [
        `${method} sip:${this.#number}@127.0.0.1:${this.#to} SIP/2.0`,
        `Via: SIP/2.0/UDP 10.9.8.7:5060;branch=z9hG4bK${this.#callId}${branch};rport`,
        `From: ${this.#from}<sip:+14155550142@10.9.8.7>;tag=wire`,
        `To: <sip:${this.#number}@127.0.0.1>${tag}`,
        `Call-ID: ${this.#callId}`,
        `CSeq: ${cseq} ${method}`,
        'Contact: <sip:+14155550142@10.9.8.7:5060>',
        'Max-Forwards: 70',
        ...(body === '' ? [] : [`Content-Type: application/${method === 'INFO' ? 'dtmf-relay' : 'sdp'}`]),
        `Content-Length: ${Buffer.byteLength(body)}`,
        '',
        body,
      ].join('\r\n'),
    )
  }

  /** Sends a request until it has its final answer. */
  async #request(method: string, body: string): Promise<SipResponse> {
    const cseq = ++this.#cseq
    const bytes = this.#message(method, cseq, body)
    const isOurs = (one: SipMessage): one is SipResponse =>
      one.kind === 'response' && one.callId === this.#callId && one.cseq.number === cseq && one.cseq.method === method
    let heardOf = false
    const stop = new AbortController()
    const repeat = async (): Promise<void> => {
      let waitMs = T1_MS
      for (let waited = 0; waited < GIVE_UP_MS && !stop.signal.aborted; waited += waitMs) {
        // An INVITE that is on its way is repeated no more.
        heardOf ||= method === 'INVITE' && this.#messages.some(isOurs)
        if (!heardOf) this.#send(bytes)
        await sleep(waitMs, undefined, { signal: stop.signal })
        waitMs = Math.min(2 * waitMs, T2_MS)
      }
    }
    repeat().catch(() => undefined)
    try {
      return await this.#until((one): one is SipResponse => isOurs(one) && one.status >= 200)
    } finally {
      stop.abort()
    }
  }

  #send(bytes: Buffer): void {
    this.#sip.send(bytes, this.#to, '127.0.0.1')
  }

  #received(bytes: Buffer, from: dgram.RemoteInfo): void {
    const message = parseMessage(bytes)
    this.#messages.push(message)
    if (message.kind === 'request' && message.method !== 'ACK') {
      const kept = message.headers.filter(({ name }) => ['via', 'from', 'to', 'call-id', 'cseq'].includes(name))
      const lines = kept.map(({ name, value }) => `${name}: ${value}`)
      this.#sip.send(['SIP/2.0 200 OK', ...lines, 'Content-Length: 0', '', ''].join('\r\n'), from.port, from.address)
    }
    if (message.kind === 'response' && message.cseq.method === 'INVITE' && message.status >= 200) {
      const ack = this.#acks.get(message.cseq.number)
      if (ack !== undefined) this.#send(ack)
    }
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  async #until<M extends SipMessage>(is: (one: SipMessage) => one is M): Promise<M> {
    const endMs = performance.now() + 3 * GIVE_UP_MS
    for (;;) {
      const found = this.#messages.find(is)
      if (found !== undefined) return found
      if (performance.now() > endMs) throw new Error('The other side never said so')
      await Promise.race([new Promise<void>((resolve) => this.#waiting.add(resolve)), sleep(1_000)])
    }
  }

  /** Fifty packets a second, also of a process that was busy: what is said, or faint noise. */
  #speak(): void {
    const startedMs = performance.now()
    let sent = 0
    this.#timer ??= setInterval(() => {
      for (; sent * FRAME_MS < performance.now() - startedMs; sent++) this.#sendFrame()
    }, FRAME_MS)
  }

  #sendFrame(): void {
    if (this.#mediaTo === undefined || this.#mediaTo === 0) return
    const sequence = this.#sequence++
    const noise = () => Int16Array.from({ length: FRAME_SAMPLES }, () => Math.round(20 * Math.random() - 10))
    const packet = writeRtp({
      ...{ payloadType: TYPE[this.#law], marker: sequence === 1, ssrc: 4_711, sequence: sequence & 0xffff },
      ...{ timestamp: FRAME_SAMPLES * sequence, payload: encodeG711(this.#law, this.#says.shift() ?? noise()) },
    })
    this.#rtp.send(packet, this.#mediaTo, '127.0.0.1')
  }

  #hears(bytes: Buffer): void {
    const packet = readRtp(bytes)
    if (packet === undefined) return
    this.#heard.packets++
    this.#heard.payloadTypes.add(packet.payloadType)
    const samples = decodeG711(packet.payloadType === 8 ? 'pcma' : 'pcmu', packet.payload)
    const level = Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length)
    if (level > SPEECH) this.#heard.speechMs += 20
  }
}

async function bound(): Promise<dgram.Socket> {
  const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}
