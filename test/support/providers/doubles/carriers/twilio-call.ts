import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import { type Lines, SimCallee } from '../../../../../plugins/sim/sim-callee.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import { Pacer } from '../../../../../runtime/media/line/pacer.ts'

const pacer = new Pacer(systemClock, () => undefined)
const SILENCE = { hello: new Uint8Array(), goodbye: new Uint8Array(), questions: [] }

interface CallOptions {
  from: string
  to: string
  direction: 'inbound' | 'outbound-api'
  person: Person
  statusUrl: string
  twiml?: string
  timeoutS?: number
  amdUrl?: string
}

/** What the person at a number does. */
export interface Person {
  /** Default: `answers`. */
  does?: 'answers' | 'busy' | 'no-answer' | 'failed' | 'hangs-up-at-once'
  sipCode?: number
  errorCode?: number
  ringMs?: number
  /** Rings until then, instead of for a time. */
  picksUp?: Promise<unknown>
  manner?: 'talks' | 'silent' | 'leaves'
  lines?: Lines
  /** Told to the asynchronous machine detection callback, after this many milliseconds. */
  answeredBy?: { value: string; afterMs: number }
  /** Spoken as soon as the line is open, whatever the agent does: an answering machine's greeting. */
  greeting?: Uint8Array
}

/** What a call needs of the account it belongs to. */
interface Account {
  readonly accountSid: string
  sign(url: string): string
  /** Runs until the test is over. */
  run(act: () => Promise<unknown>): void
  callBack(url: string, form: Readonly<Record<string, string>>): void
  post(url: string, form: Readonly<Record<string, string>>): Promise<{ status: number; body: string }>
}

/** One call at Twilio: its status, its TwiML and its stream, with a person at the other end. Emits `status` and `message`. */
export class TwilioCall extends EventEmitter {
  readonly sid = `CA${randomBytes(16).toString('hex')}`
  status = 'queued'
  /** Messages we were sent over streams: names of events. */
  readonly received: string[] = []
  readonly streams: string[] = []
  /** How many of them were opened. */
  opened = 0
  dialled: string | undefined
  rejectedFor: string | undefined
  /** Bytes of audio heard from the agent. */
  heardBytes = 0
  readonly #double: Account
  readonly #options: CallOptions
  #sequence = 0
  #socket: WebSocket | undefined
  #callee: SimCallee | undefined
  #leave: (() => void) | undefined
  /** Of the document that runs: a new one makes what the old one waits for void. */
  #document = 0

  constructor(double: Account, options: CallOptions) {
    super()
    this.#double = double
    this.#options = options
  }

  get over(): boolean {
    return ['completed', 'busy', 'failed', 'no-answer', 'canceled'].includes(this.status)
  }

  json(): Record<string, unknown> {
    const { from, to, direction } = this.#options
    return { sid: this.sid, status: this.status, from, to, direction, account_sid: this.#double.accountSid }
  }

  form(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { from, to, direction } = this.#options
    return {
      CallSid: this.sid,
      AccountSid: this.#double.accountSid,
      From: from,
      To: to,
      Direction: direction,
      CallStatus: this.status,
      SequenceNumber: String(this.#sequence++),
      ...more,
    }
  }

  /** Rings the person, who does what they do. */
  async ring(): Promise<void> {
    const { person, twiml = '', timeoutS = 60, amdUrl = '' } = this.#options
    this.#tell('initiated')
    await sleep(10)
    if (this.over) return
    this.#tell('ringing')
    await (person.picksUp ?? sleep(Math.min(person.ringMs ?? 50, timeoutS * 1000)))
    if (this.over) return
    const { does = 'answers' } = person
    if (does === 'busy' || does === 'no-answer' || does === 'failed') return this.finish(does)
    this.#tell('in-progress')
    if (does === 'hangs-up-at-once') return this.finish('completed')
    if (amdUrl !== '' && person.answeredBy !== undefined) {
      const { value, afterMs } = person.answeredBy
      this.#double.run(async () => {
        await sleep(afterMs)
        this.#double.callBack(amdUrl, this.form({ AnsweredBy: value }))
      })
    }
    await this.execute(twiml)
  }

  /** Does what a TwiML document says. */
  async execute(twiml: string): Promise<void> {
    const document = ++this.#document
    const rejected = /<Reject(?: reason="(\w+)")?\s*\/>/.exec(twiml)
    if (rejected) {
      this.rejectedFor = rejected[1] ?? 'rejected'
      return this.finish(this.rejectedFor === 'busy' ? 'busy' : 'no-answer')
    }
    if (this.#options.direction === 'inbound' && this.status === 'ringing') this.#tell('in-progress')
    const stream = /<Stream url="([^"]+)">(.*?)<\/Stream>/s.exec(twiml)
    if (stream) {
      const parameters = [...(stream[2] ?? '').matchAll(/<Parameter name="([^"]*)" value="([^"]*)"\s*\/>/g)]
      await this.#stream(plain(stream[1]!), Object.fromEntries(parameters.map(([, name, value]) => [name, value])))
      if (this.over || document !== this.#document) return
    }
    const dial = /<Dial[^>]*>([^<]*)<\/Dial>/.exec(twiml)
    if (dial) {
      this.dialled = dial[1]
      this.emit('dialled')
      return
    }
    const redirect = /<Redirect[^>]*>([^<]*)<\/Redirect>/.exec(twiml)
    if (redirect === null) return this.finish('completed')
    const { status, body } = await this.#double.post(plain(redirect[1]!), this.form())
    if (!this.over) await (status === 200 ? this.execute(body) : this.finish('failed'))
  }

  /** A new document takes the place of the running one. */
  redirect(twiml: string): void {
    this.#document++
    this.#closeStream(true)
    this.#double.run(() => this.execute(twiml))
  }

  press(digit: string): void {
    this.#say({ event: 'dtmf', dtmf: { track: 'inbound_track', digit } })
  }

  /** The stream's connection breaks; the call doesn't. */
  breakStream(): void {
    this.#socket?.terminate()
  }

  /** The person hangs up. */
  hangUp(): void {
    this.finish('completed')
  }

  finish(status: string): void {
    if (this.over) return
    const { sipCode, errorCode } = this.#options.person
    this.#closeStream(true)
    this.#tell(status, {
      ...(status === 'completed' ? { CallDuration: '1' } : {}),
      ...(sipCode === undefined ? {} : { SipResponseCode: String(sipCode) }),
      ...(errorCode === undefined ? {} : { ErrorCode: String(errorCode) }),
    })
  }

  /** The test is over. */
  cut(): void {
    this.status = 'completed'
    this.#leave?.()
    this.#socket?.terminate()
  }

  #tell(status: string, more: Readonly<Record<string, string>> = {}): void {
    this.status = status
    this.emit('status', status)
    const { statusUrl, direction } = this.#options
    // A number's callback tells of the end alone.
    if (statusUrl !== '' && (direction !== 'inbound' || this.over)) this.#double.callBack(statusUrl, this.form(more))
  }

  /** Resolves when the stream is over, whoever ended it. */
  async #stream(url: string, customParameters: Readonly<Record<string, string>>): Promise<void> {
    this.streams.push(url)
    const bare = url.split('?')[0]!
    const streamSid = `MZ${randomBytes(16).toString('hex')}`
    const socket = new WebSocket(bare, { headers: { 'x-twilio-signature': this.#double.sign(bare) } })
    this.#socket = socket
    const closed = new Promise<void>((resolve) => {
      socket.on('close', () => resolve())
      socket.on('error', () => resolve())
    })
    socket.on('open', () => {
      socket.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }))
      let sequence = 1
      const say = (message: object) => {
        if (socket.readyState === WebSocket.OPEN) {
          socket.send(JSON.stringify({ ...message, sequenceNumber: String(sequence++), streamSid }))
        }
      }
      this.#say = say
      const { accountSid } = this.#double
      const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 }
      say({
        event: 'start',
        start: { streamSid, accountSid, callSid: this.sid, tracks: ['inbound'], customParameters, mediaFormat },
      })
      this.#converse(say)
      this.opened++
    })
    socket.on('message', (data) => this.#hear(JSON.parse(String(data))))
    await closed
    this.#leave?.()
    this.#leave = undefined
    if (this.#socket === socket) this.#socket = undefined
  }

  #say: (message: object) => void = () => undefined

  #converse(say: (message: object) => void): void {
    const { person } = this.#options
    const { greeting } = person
    const callee =
      this.#callee ??
      new SimCallee({
        clock: systemClock,
        manner: person.manner ?? (person.lines === undefined ? 'silent' : 'talks'),
        lines: person.lines ?? SILENCE,
        gone: () => undefined,
      })
    this.#callee = callee
    let chunk = 0
    let greeted = 0
    callee.start({
      audio: (bytes) => {
        let payload: Uint8Array = bytes
        if (greeting !== undefined && greeted < greeting.length) {
          payload = greeting.subarray(greeted, greeted + bytes.length)
          greeted += bytes.length
        }
        const media = { track: 'inbound', chunk: String(++chunk), timestamp: String((chunk - 1) * 20) }
        say({ event: 'media', media: { ...media, payload: Buffer.from(payload).toString('base64') } })
      },
      played: (id) => say({ event: 'mark', mark: { name: this.#names[id] } }),
      ended: () => this.hangUp(),
      text: () => undefined,
      dtmf: () => undefined,
    })
    this.#leave = pacer.add((frames, nowMs) => {
      for (let i = 0; i < frames; i++) callee.tick(nowMs)
    })
  }

  readonly #names: string[] = []

  #hear(message: { event: string; media?: { payload: string }; mark?: { name: string } }): void {
    this.received.push(message.event)
    this.emit('message', message.event)
    if (message.event === 'media') {
      const bytes = Buffer.from(message.media!.payload, 'base64')
      this.heardBytes += bytes.length
      this.#callee?.sendAudio(bytes)
    } else if (message.event === 'mark') {
      this.#callee?.mark(this.#names.push(message.mark!.name) - 1)
    } else if (message.event === 'clear') this.#callee?.clear()
  }

  #closeStream(told: boolean): void {
    const socket = this.#socket
    if (socket === undefined) return
    this.#leave?.()
    this.#leave = undefined
    if (told) this.#say({ event: 'stop', stop: { accountSid: this.#double.accountSid, callSid: this.sid } })
    this.#socket = undefined
    socket.close()
  }
}

function plain(text: string): string {
  return text.replaceAll('&amp;', '&')
}
