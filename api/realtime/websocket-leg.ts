import type { Clock } from '../../runtime/clock.ts'
import type { AgentState, AudioFormat, Leg, LegEvents, PageCall, PageResult } from '../../runtime/session/leg.ts'
import type { Socket, SocketHandlers } from '../../runtime/web-socket.ts'
import { ClientLine } from './client-line.ts'
import type { ClientMessage } from './messages.ts'
import { PageCalls } from './page-calls.ts'
import type { Resumes } from './resumes.ts'

/** The leg of a realtime session over WebSocket: PCM in binary messages both ways, JSON beside it. */

const MAX_AUDIO_MESSAGE_MS = 100
/** Audio kept for a client that reads too slowly. */
const MAX_OUTGOING_AUDIO_MS = 2_000
/** The same of one that may come back: what the agent said meanwhile. */
const MAX_AUDIO_WHILE_AWAY_MS = 20_000
const BYTES_PER_SAMPLE = 2

export interface WebSocketLegOptions {
  callId: string
  sampleRateHz: number
  socket: Socket
  clock: Clock
  /** Present: the client asked for a session that outlives its connection. */
  resumes?: Resumes | undefined
}

export class WebSocketLeg implements Leg {
  readonly format: AudioFormat
  readonly handlers: SocketHandlers
  readonly #callId: string
  readonly #clock: Clock
  readonly #line: ClientLine
  readonly #page: PageCalls
  #events: LegEvents | undefined
  #answered = false
  #samples = 0

  constructor({ callId, sampleRateHz, socket, clock, resumes }: WebSocketLegOptions) {
    this.format = { encoding: 'pcm_s16le', sampleRateHz }
    this.#callId = callId
    this.#clock = clock
    const keptMs = resumes === undefined ? MAX_OUTGOING_AUDIO_MS : MAX_AUDIO_WHILE_AWAY_MS
    const maxAudioBytes = (sampleRateHz * BYTES_PER_SAMPLE * keptMs) / 1000
    this.#line = new ClientLine(
      { socket, clock, maxAudioBytes, resumes },
      {
        message: (message) => this.#message(message),
        binary: (bytes) => this.#audio(bytes),
        ended: (reason) => {
          this.#page.close()
          this.#events?.ended(reason)
        },
      },
    )
    this.#page = new PageCalls((message) => this.#line.send(message))
    this.handlers = this.#line.handlersOf(socket)
  }

  start(events: LegEvents): void {
    this.#events = events
  }

  answer(): void {
    this.#answered = true
    const audio = { encoding: 'pcm_s16le', sample_rate: this.format.sampleRateHz } as const
    const resumeToken = this.#line.issueToken()
    const resumable = resumeToken === undefined ? {} : ({ media: 'websocket', resume_token: resumeToken } as const)
    this.#line.send({ type: 'session.started', call_log_id: this.#callId, audio, ...resumable })
  }

  sendAudio(bytes: Uint8Array): void {
    this.#line.put(bytes)
  }

  clear(): void {
    this.#line.clearAudio()
    this.#line.send({ type: 'audio.clear' })
  }

  mark(markId: number): void {
    this.#line.send({ type: 'audio.mark', id: markId })
  }

  agentState(state: AgentState): void {
    this.#line.agentState(state)
  }

  transcript(entry: Parameters<Leg['transcript']>[0]): void {
    this.#line.transcript(entry)
  }

  error(code: string, message: string): void {
    this.#line.send({ type: 'error', code, message })
  }

  callPage(call: PageCall): Promise<PageResult> {
    return this.#page.call(call)
  }

  close(reason: string): void {
    this.#page.close()
    this.#line.close(reason)
  }

  #message(message: Exclude<ClientMessage, { type: 'end' | 'ping' }>): void {
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
      case 'tool.result':
        if (!this.#page.answered(message)) {
          this.error('unknown_tool_call', `No call of a tool waits as "${message.call_id.slice(0, 100)}"`)
        }
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
      this.#line.tell('not_started', 'Audio before "session.started" is dropped')
    } else if (!this.#line.gate.audio(durationMs, this.#clock.monotonicMs())) {
      this.#line.tell('fast_audio', 'Audio arrives faster than it plays; what is too early is dropped')
    } else if (samples > 0) {
      this.#events?.audio(bytes, this.#samples)
      this.#samples += samples
    }
  }
}
