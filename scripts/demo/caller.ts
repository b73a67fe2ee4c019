import { EventEmitter, once } from 'node:events'
import type { ServerMessage } from '../../api/realtime/messages.ts'
import { openRealtime, type RealtimeSession } from './realtime.ts'
import { renderSpeech } from './speech.ts'

/** What the caller hears and is told, as it happens. Times are monotonic milliseconds. */
export interface CallerEvents {
  started: [callLogId: string]
  message: [message: ServerMessage]
  /** The first sound of the agent after silence. */
  agentStarts: [atMs: number]
  /** The agent's last sound, told once the silence has lasted QUIET_MS. */
  agentStops: [atMs: number]
  ended: [reason: string]
}

export interface CallerOptions {
  url: string
  /** Voice of espeak-ng the caller speaks with. */
  voice?: string
}

/** Amplitude below which a sample is silence. */
const AUDIBLE = 200
/** Silence after which the agent counts as silent; a pause between two sentences may be as long. */
const QUIET_MS = 600
const PACKET_MS = 20
/** A caller delayed by a busy machine catches up this much at once, as a network that stalled would; the rest is skipped. */
const MAX_CATCH_UP_PACKETS = 125

/** A simulated human on a realtime session: speaks real audio in real time, and listens. */
export class Caller extends EventEmitter<CallerEvents> {
  readonly #voice: string
  #session: RealtimeSession | undefined
  #rateHz = 0
  #speech: Speech | undefined
  #timer: NodeJS.Timeout | undefined
  #sentPackets = 0
  #startedAtMs = 0
  /** When the audio received so far will have been played. */
  #playedUntilMs = 0
  #lastSoundMs = Number.NEGATIVE_INFINITY
  #agentSpeaking = false
  #audibleMs = 0
  #clears = 0
  #ended: string | undefined

  private constructor(voice: string) {
    super()
    this.#voice = voice
  }

  /** Opens the session and begins to send silence, as a microphone does. Resolves at `session.started`. */
  static async dial({ url, voice = 'en-us' }: CallerOptions, signal: AbortSignal): Promise<Caller> {
    const caller = new Caller(voice)
    const started = once(caller, 'started', { signal })
    started.catch(() => {})
    caller.#session = await openRealtime(url, {
      message: (message) => caller.#told(message),
      audio: (samples) => caller.#heard(samples),
      closed: (code) => caller.#over(`closed with ${code}`),
    })
    const ended = once(caller, 'ended', { signal }).then(([reason]) => {
      throw new Error(`The session ended before it started: ${reason}`)
    })
    await Promise.race([started, ended])
    return caller
  }

  get agentSpeaking(): boolean {
    return this.#agentSpeaking
  }

  /** How much sound of the agent came: the packets that are not silent. */
  get audibleMs(): number {
    return this.#audibleMs
  }

  /** How often the agent was cut off. */
  get clears(): number {
    return this.#clears
  }

  /** Why the session ended; undefined while it lives. */
  get endReason(): string | undefined {
    return this.#ended
  }

  /** A sentence, ready to be said: to render it takes longer than to decide when. */
  prepare(text: string, voice = this.#voice): Promise<Int16Array<ArrayBuffer>> {
    return renderSpeech(text, this.#rateHz, voice)
  }

  /** Speaks a sentence. Resolves with the time its last audible sample was sent. */
  async say(sentence: string | Int16Array<ArrayBuffer>, signal: AbortSignal): Promise<number> {
    const samples = typeof sentence === 'string' ? await this.prepare(sentence) : sentence
    if (this.#ended !== undefined) throw new Error(`The session has ended: ${this.#ended}`)
    return await new Promise<number>((resolve, reject) => {
      const fail = () => reject(signal.reason ?? new Error('The session has ended'))
      signal.addEventListener('abort', fail, { once: true })
      this.once('ended', fail)
      const lastAudible = samples.findLastIndex((sample) => Math.abs(sample) > AUDIBLE)
      const spoken = (atMs: number) => {
        signal.removeEventListener('abort', fail)
        this.off('ended', fail)
        resolve(atMs)
      }
      this.#speech = { samples, offset: 0, lastAudible, spoken }
    })
  }

  /** A typed turn. */
  type(text: string): void {
    this.#session?.send({ type: 'text', text })
  }

  /** Hangs up. Resolves when the server has closed the session. */
  async hangUp(signal: AbortSignal): Promise<void> {
    if (this.#ended !== undefined) return
    const ended = once(this, 'ended', { signal })
    this.#session?.send({ type: 'end' })
    await ended
  }

  /** Loses its network: nothing is sent or read any more, and nobody is told. */
  freeze(): void {
    clearInterval(this.#timer)
    this.#session?.freeze()
  }

  /** Is gone without a word. */
  vanish(): void {
    clearInterval(this.#timer)
    this.#session?.terminate()
  }

  #told(message: ServerMessage): void {
    if (message.type === 'session.started') {
      this.#rateHz = message.audio.sample_rate
      this.#startedAtMs = performance.now()
      this.#timer = setInterval(() => this.#tick(), PACKET_MS)
      this.emit('started', message.call_log_id)
    } else if (message.type === 'audio.mark') {
      const { id } = message
      const waitMs = Math.max(0, this.#playedUntilMs - performance.now())
      setTimeout(() => this.#session?.send({ type: 'audio.played', id }), waitMs)
    } else if (message.type === 'audio.clear') {
      this.#clears++
      this.#playedUntilMs = performance.now()
    }
    this.emit('message', message)
    if (message.type === 'session.ended') this.#over(message.reason)
  }

  #heard(samples: Int16Array<ArrayBuffer>): void {
    const nowMs = performance.now()
    const first = samples.findIndex((sample) => Math.abs(sample) > AUDIBLE)
    this.#playedUntilMs = Math.max(nowMs, this.#playedUntilMs) + (samples.length * 1000) / this.#rateHz
    if (first < 0) return
    this.#lastSoundMs = nowMs
    this.#audibleMs += (samples.length * 1000) / this.#rateHz
    if (this.#agentSpeaking) return
    this.#agentSpeaking = true
    this.emit('agentStarts', nowMs + (first * 1000) / this.#rateHz)
  }

  /** Sends the packets that are due: speech where there is some, silence otherwise. */
  #tick(): void {
    const nowMs = performance.now()
    if (this.#agentSpeaking && nowMs - this.#lastSoundMs > QUIET_MS) {
      this.#agentSpeaking = false
      this.emit('agentStops', this.#lastSoundMs)
    }
    const due = Math.floor((nowMs - this.#startedAtMs) / PACKET_MS)
    this.#sentPackets = Math.max(this.#sentPackets, due - MAX_CATCH_UP_PACKETS)
    for (; this.#sentPackets < due; this.#sentPackets++) this.#session?.sendAudio(this.#nextPacket(nowMs))
  }

  #nextPacket(nowMs: number): Int16Array {
    const length = (this.#rateHz * PACKET_MS) / 1000
    const packet = new Int16Array(length)
    const speech = this.#speech
    if (!speech) return packet
    packet.set(speech.samples.subarray(speech.offset, speech.offset + length))
    const end = speech.offset + length
    if (speech.lastAudible < end) {
      this.#speech = undefined
      speech.spoken(nowMs)
    }
    speech.offset = end
    return packet
  }

  #over(reason: string): void {
    clearInterval(this.#timer)
    if (this.#ended !== undefined) return
    this.#ended = reason
    this.emit('ended', reason)
  }
}

interface Speech {
  samples: Int16Array
  offset: number
  lastAudible: number
  spoken(atMs: number): void
}
