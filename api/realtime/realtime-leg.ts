import type { AgentState, AudioFormat, Leg, LegEvents, PageCall, PageResult } from '../../runtime/call/types/leg.ts'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { cutText } from '../../runtime/lib/text.ts'
import type { Socket, SocketHandlers } from '../../runtime/process/web-socket.ts'
import { ClientLine } from './client-line.ts'
import type { ClientMessage } from './messages.ts'
import { PageCalls } from './page-calls.ts'
import type { Resumes } from './resumes.ts'

export interface RealtimeLegOptions {
  callId: string
  socket: Socket
  clock: Clock
  /** Present: the client asked for a session that outlives its connection. */
  resumes?: Resumes | undefined
}

type SignalMessage = Extract<ClientMessage, { type: `webrtc.${string}` }>

/** What every realtime session has whichever way its audio goes: a line of messages, and a page with functions. */
export abstract class RealtimeLeg implements Leg {
  abstract readonly format: AudioFormat
  readonly handlers: SocketHandlers
  protected readonly callId: string
  protected readonly clock: Clock
  protected readonly line: ClientLine
  protected events: LegEvents | undefined
  readonly #page: PageCalls

  /** @param maxAudioBytes kept for a client that reads too slowly, or is away */
  constructor({ callId, socket, clock, resumes }: RealtimeLegOptions, maxAudioBytes: number) {
    this.callId = callId
    this.clock = clock
    this.line = new ClientLine(
      { socket, clock, maxAudioBytes, resumes },
      {
        message: (message) => this.#message(message),
        binary: (bytes) => this.binary(bytes),
        resumed: () => this.resumed(),
        ended: (reason) => {
          this.#page.close()
          const last = this.released()
          if (last === undefined) this.events?.ended(reason)
          else
            inBackground(
              'websocket',
              last.finally(() => this.events?.ended(reason)),
            )
        },
      },
    )
    this.#page = new PageCalls((message) => this.line.send(message))
    this.handlers = this.line.handlersOf(socket)
  }

  start(events: LegEvents): void {
    this.events = events
  }

  abstract answer(): void
  abstract sendAudio(bytes: Uint8Array): void
  abstract clear(): void
  abstract mark(markId: number): void

  agentState(state: AgentState): void {
    this.line.agentState(state)
  }

  transcript(entry: Parameters<Leg['transcript']>[0]): void {
    this.line.transcript(entry)
  }

  error(code: string, message: string): void {
    this.line.send({ type: 'error', code, message })
  }

  callPage(call: PageCall): Promise<PageResult> {
    return this.#page.call(call)
  }

  close(reason: string): void {
    this.#page.close()
    this.line.close(reason)
    inBackground('websocket', this.released())
  }

  /** A binary message. */
  protected abstract binary(bytes: Uint8Array): void
  /** How WebRTC is agreed on. */
  protected abstract signal(message: SignalMessage): void
  /** The client is back over another connection. */
  protected resumed(): void {}
  /** The session is over; may be called twice. Resolves with the final line statistics. */
  protected released(): Promise<void> | undefined {
    return undefined
  }

  #message(message: Exclude<ClientMessage, { type: 'end' | 'ping' }>): void {
    switch (message.type) {
      case 'text':
        this.events?.text(message.text)
        break
      case 'dtmf':
        this.events?.dtmf(message.digit)
        break
      case 'audio.played':
        this.events?.played(message.id)
        break
      case 'tool.result':
        if (!this.#page.answered(message)) {
          this.error('unknown_tool_call', `No call of a tool waits as "${cutText(message.call_id, 100)}"`)
        }
        break
      default:
        this.signal(message)
    }
  }
}
