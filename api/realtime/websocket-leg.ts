import type { Clock } from '../../runtime/clock.ts'
import type { AgentState, AudioFormat, Leg, LegEndReason, LegEvents } from '../../runtime/session/leg.ts'
import type { Socket, SocketHandlers } from '../../runtime/web-socket.ts'
import { Gate } from './gate.ts'
import { readClientMessage, type ServerMessage } from './messages.ts'
import { Outbox } from './outbox.ts'

/** The leg of a realtime session over WebSocket: PCM in binary messages both ways, JSON beside it. */

const MAX_AUDIO_MESSAGE_MS = 100
/** Audio kept for a client that reads too slowly. */
const MAX_OUTGOING_AUDIO_MS = 2_000
const BYTES_PER_SAMPLE = 2
/** How often a client is told again of a fault that repeats by its nature. */
const REPEAT_MS = 1_000

const NORMAL = 1000
const GOING_AWAY = 1001
const NO_CODE = 1005
const POLICY_VIOLATION = 1008

export class WebSocketLeg implements Leg {
  readonly format: AudioFormat
  readonly #callId: string
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #outbox: Outbox
  readonly #gate: Gate
  readonly #toldAtMs = new Map<string, number>()
  /** What the socket tells the leg. */
  readonly handlers: SocketHandlers = {
    message: (data) => this.#received(data),
    drain: () => this.#drained(),
    close: (code) => this.#closed(code),
  }
  #events: LegEvents | undefined
  #answered = false
  #over = false
  #samples = 0

  constructor(callId: string, sampleRateHz: number, socket: Socket, clock: Clock) {
    this.format = { encoding: 'pcm_s16le', sampleRateHz }
    this.#callId = callId
    this.#socket = socket
    this.#clock = clock
    this.#outbox = new Outbox(socket, (sampleRateHz * BYTES_PER_SAMPLE * MAX_OUTGOING_AUDIO_MS) / 1000)
    this.#gate = new Gate(clock.monotonicMs())
  }

  start(events: LegEvents): void {
    this.#events = events
  }

  answer(): void {
    this.#answered = true
    const audio = { encoding: 'pcm_s16le', sample_rate: this.format.sampleRateHz } as const
    this.#send({ type: 'session.started', call_log_id: this.#callId, audio })
  }

  sendAudio(bytes: Uint8Array): void {
    this.#put(bytes)
  }

  clear(): void {
    this.#outbox.clearAudio()
    this.#send({ type: 'audio.clear' })
  }

  mark(markId: number): void {
    this.#send({ type: 'audio.mark', id: markId })
  }

  agentState(state: AgentState): void {
    this.#send({ type: 'agent.state', state })
  }

  transcript(entry: {
    role: 'user' | 'assistant'
    text: string
    final: boolean
    startMs: number
    endMs: number
  }): void {
    const { role, text, final, startMs, endMs } = entry
    this.#send({ type: 'transcript', role, text, final, start_ms: Math.round(startMs), end_ms: Math.round(endMs) })
  }

  error(code: string, message: string): void {
    this.#send({ type: 'error', code, message })
  }

  close(reason: string): void {
    this.#close(reason, NORMAL)
  }

  #received(data: string | Uint8Array): void {
    if (this.#over) return
    const verdict = this.#gate.message(this.#clock.monotonicMs())
    if (verdict !== 'pass') {
      this.#tell('too_many_messages', 'Messages over 200 a second are dropped; going on like this ends the session')
      if (verdict === 'close') this.#end('policy_violation', POLICY_VIOLATION)
      return
    }
    if (typeof data === 'string') this.#text(data)
    else this.#audio(data)
  }

  #drained(): void {
    if (!this.#over && !this.#outbox.drain()) this.#socket.terminate()
  }

  /** The socket is closed, by the client or because it is gone. */
  #closed(code: number): void {
    if (this.#over) return
    this.#over = true
    const leaving = code === NORMAL || code === GOING_AWAY || code === NO_CODE
    this.#events?.ended(leaving ? 'caller_hangup' : 'connection_lost')
  }

  #text(json: string): void {
    const message = readClientMessage(json)
    if ('code' in message) {
      this.error(message.code, message.message)
      return
    }
    switch (message.type) {
      case 'text':
        this.#events?.text(message.text)
        break
      case 'dtmf':
        this.#events?.dtmf(message.digit)
        break
      case 'audio.played':
        this.#events?.played(message.id)
        break
      case 'end':
        this.#end('caller_hangup', NORMAL)
    }
  }

  #audio(bytes: Uint8Array): void {
    const samples = bytes.byteLength / BYTES_PER_SAMPLE
    const durationMs = (samples * 1000) / this.format.sampleRateHz
    if (!Number.isInteger(samples)) {
      this.error('odd_audio', `Audio is 16-bit samples, but the message had ${bytes.byteLength} bytes`)
    } else if (durationMs > MAX_AUDIO_MESSAGE_MS) {
      this.error(
        'long_audio',
        `An audio message holds at most ${MAX_AUDIO_MESSAGE_MS} ms, not ${durationMs.toFixed(1)}`,
      )
    } else if (!this.#answered) {
      this.#tell('not_started', 'Audio before "session.started" is dropped')
    } else if (!this.#gate.audio(durationMs, this.#clock.monotonicMs())) {
      this.#tell('fast_audio', 'Audio arrives faster than it plays; what is too early is dropped')
    } else if (samples > 0) {
      this.#events?.audio(bytes, this.#samples)
      this.#samples += samples
    }
  }

  #tell(code: string, message: string): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - (this.#toldAtMs.get(code) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return
    this.#toldAtMs.set(code, nowMs)
    this.error(code, message)
  }

  #send(message: ServerMessage): void {
    this.#put(JSON.stringify(message))
  }

  #put(data: string | Uint8Array): void {
    if (!this.#over && !this.#outbox.send(data, this.#clock.monotonicMs())) this.#socket.terminate()
  }

  #end(reason: LegEndReason, code: number): void {
    this.#close(reason, code)
    this.#events?.ended(reason)
  }

  #close(reason: string, code: number): void {
    if (this.#over) return
    this.#over = true
    this.#outbox.flush()
    this.#socket.send(JSON.stringify({ type: 'session.ended', reason } satisfies ServerMessage))
    this.#socket.close(code, reason)
  }
}
