import type { Calls } from '../../runtime/call/control/calls.ts'
import type { SupervisorListener } from '../../runtime/call/control/supervision.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Join, Line, LineHandlers } from '../../store/redis/switchboard.ts'
import type { ToolCalls } from '../tools/tool-calls.ts'
import { isSupervisorMessage, type SupervisorMessage, type ToSupervisor } from './messages.ts'

export interface InnerOptions {
  calls: Calls
  tools: ToolCalls
  clock: Clock
  log: Logger
}

/** A supervisor at a call of this node: the call's end of the line. */
export class SupervisorLink implements LineHandlers, SupervisorListener {
  readonly #options: InnerOptions
  readonly #join: Join
  #line: Line | undefined
  #left = false

  /** Does nothing when the call is on another node, or has no conversation. */
  static async join(
    options: InnerOptions,
    request: Join,
    open: (handlers: LineHandlers) => Promise<Line>,
  ): Promise<void> {
    const { calls } = options
    if (calls.supervision(request.callId) === undefined) return
    const link = new SupervisorLink(options, request)
    link.#line = await open(link)
    const supervision = calls.supervision(request.callId)
    if (
      supervision === undefined ||
      !calls.supervised(request.callId, { type: 'supervisor_joined', who: request.who })
    ) {
      link.#tell({ type: 'error', code: 'not_talking', message: 'The call talks with nobody' })
      link.#line.close()
      return
    }
    supervision.add(link)
    link.#tell({
      type: 'listening',
      call_log_id: request.callId,
      audio: { encoding: 'pcm_s16le', sample_rate: supervision.sampleRateHz, channels: 2 },
    })
  }

  private constructor(options: InnerOptions, join: Join) {
    this.#options = options
    this.#join = join
  }

  heard(pcm: Uint8Array): void {
    this.#line?.sound(pcm)
  }

  over(reason: string): void {
    this.#left = true
    this.#tell({ type: 'ended', reason })
    this.#line?.close()
  }

  sound(pcm: Uint8Array): void {
    // A view of the message, which may lie at an odd place.
    if (pcm.byteLength >= 2) this.#supervision?.speak(this, Uint8Array.from(pcm.subarray(0, pcm.byteLength & ~1)))
  }

  message(message: unknown): void {
    if (this.#left || !isSupervisorMessage(message)) return
    this.#act(message).catch((err) => {
      this.#options.log.warn({ err, callId: this.#join.callId }, "A supervisor's order failed")
      this.#tell({ type: 'error', code: 'failed', message: 'It could not be done' })
    })
  }

  lost(): void {
    this.#leave()
  }

  get #supervision() {
    return this.#options.calls.supervision(this.#join.callId)
  }

  async #act(message: SupervisorMessage): Promise<void> {
    const { calls, tools } = this.#options
    const { callId, who } = this.#join
    switch (message.type) {
      case 'whisper':
        calls.supervised(callId, { type: 'whispered', who, text: message.text })
        break
      case 'say':
        calls.supervised(callId, { type: 'supervisor_said', who, text: message.text })
        break
      case 'take_over':
        if (this.#supervision?.speaker === this) break
        if (this.#supervision?.takeOver(this) !== true) {
          return this.#tell({ type: 'error', code: 'taken', message: 'Another supervisor has the call' })
        }
        calls.supervised(callId, { type: 'took_over', who })
        break
      case 'give_back':
        if (!this.#giveBack(message.summary)) {
          return this.#tell({ type: 'error', code: 'not_taken', message: 'You do not have the call' })
        }
        break
      case 'end':
        calls.hangUp(callId, who)
        break
      case 'transfer': {
        const { ok, output } = await tools.transferTo(callId, message.to)
        if (!ok) return this.#tell({ type: 'error', code: 'transfer_failed', message: output })
        break
      }
      case 'leave':
        return this.#leave()
    }
    this.#tell({ type: 'done', of: message.type })
  }

  #giveBack(summary: string | undefined): boolean {
    const supervision = this.#supervision
    if (supervision?.speaker !== this) return false
    supervision.giveBack()
    const { callId, who } = this.#join
    this.#options.calls.supervised(callId, { type: 'gave_back', who, ...(summary === undefined ? {} : { summary }) })
    return true
  }

  #leave(): void {
    if (this.#left) return
    this.#left = true
    this.#giveBack(undefined)
    this.#supervision?.remove(this)
    this.#options.calls.supervised(this.#join.callId, { type: 'left', who: this.#join.who })
    this.#line?.close()
  }

  #tell(message: ToSupervisor): void {
    this.#line?.send(message)
  }
}
