/** A conversation with an agent over the realtime WebSocket: hears it, types to it. */

export type TalkState = 'connecting' | 'connected' | 'ended'
export type AgentState = 'listening' | 'thinking' | 'speaking'

export interface TalkLine {
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly final: boolean
  readonly startMs: number
}

export interface TalkEvents {
  state(state: TalkState): void
  agent(state: AgentState): void
  line(line: TalkLine): void
  fault(sentence: string): void
  ended(reason: string): void
  /** Loudness of what is heard, 0 to 1. */
  level(level: number): void
}

const MAX_AHEAD_S = 0.05

export class TalkCall {
  readonly #socket: WebSocket
  readonly #audio = new AudioContext()
  readonly #events: TalkEvents
  readonly #playing = new Set<AudioBufferSourceNode>()
  #rateHz = 24_000
  /** When what was taken so far is played, on the audio's clock. */
  #playedUntil = 0
  #ended = false

  /** `url`: of the session, with its token. */
  constructor(url: string, events: TalkEvents) {
    this.#events = events
    this.#socket = new WebSocket(url)
    this.#socket.binaryType = 'arraybuffer'
    this.#socket.onmessage = ({ data }) =>
      typeof data === 'string' ? this.#told(JSON.parse(data) as Told) : this.#play(new Int16Array(data as ArrayBuffer))
    this.#socket.onclose = () => this.#end('connection_lost')
    events.state('connecting')
  }

  /** Sends a typed turn. */
  say(text: string): void {
    this.#send({ type: 'text', text })
  }

  end(): void {
    this.#send({ type: 'end' })
    this.#end('caller_hangup')
  }

  #told(message: Told): void {
    switch (message.type) {
      case 'session.started':
        this.#rateHz = message.audio.sample_rate
        this.#events.state('connected')
        break
      case 'agent.state':
        this.#events.agent(message.state)
        break
      case 'transcript':
        this.#events.line({ role: message.role, text: message.text, final: message.final, startMs: message.start_ms })
        break
      case 'audio.clear':
        for (const source of this.#playing) source.stop()
        this.#playedUntil = 0
        break
      case 'audio.mark': {
        const waitMs = Math.max(0, this.#playedUntil - this.#audio.currentTime) * 1000
        setTimeout(() => this.#send({ type: 'audio.played', id: message.id }), waitMs)
        break
      }
      case 'error':
        this.#events.fault(message.message)
        break
      case 'session.ended':
        this.#end(message.reason)
    }
  }

  #play(samples: Int16Array): void {
    if (samples.length === 0) return
    const buffer = this.#audio.createBuffer(1, samples.length, this.#rateHz)
    const channel = buffer.getChannelData(0)
    let energy = 0
    for (let i = 0; i < samples.length; i++) {
      const value = samples[i]! / 32_768
      channel[i] = value
      energy += value * value
    }
    this.#events.level(Math.min(1, Math.sqrt(energy / samples.length) * 4))
    const source = this.#audio.createBufferSource()
    source.buffer = buffer
    source.connect(this.#audio.destination)
    const at = Math.max(this.#playedUntil, this.#audio.currentTime + MAX_AHEAD_S)
    source.start(at)
    this.#playedUntil = at + buffer.duration
    this.#playing.add(source)
    source.onended = () => this.#playing.delete(source)
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  #end(reason: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#socket.close()
    void this.#audio.close()
    this.#events.state('ended')
    this.#events.ended(reason)
  }
}

type Told =
  | { type: 'session.started'; audio: { sample_rate: number } }
  | { type: 'agent.state'; state: AgentState }
  | { type: 'transcript'; role: TalkLine['role']; text: string; final: boolean; start_ms: number }
  | { type: 'audio.clear' }
  | { type: 'audio.mark'; id: number }
  | { type: 'error'; message: string }
  | { type: 'session.ended'; reason: string }
