import { type CallEvent, isPassing, mayComeLate } from '../call/log/events.ts'
import { boundary } from '../lib/async/boundary.ts'
import type { Logger } from '../process/log.ts'
import { callTrace } from './call-trace.ts'
import type { SpanExport } from './span-exporter.ts'
import { traceIdOf } from './trace-context.ts'

/** Calls of a node whose events are kept until they are over, and events of one; what is beyond is not traced. */
const MAX_CALLS = 5_000
const MAX_EVENTS = 20_000
/** Events accepted after a call's end: its last tokens, its line quality. */
const AFTERWARDS_MS = 1_000
/** What says nothing about how long something took. */
const UNTRACED = new Set<CallEvent['type']>(['words', 'media', 'carrier', 'speech_started', 'speech_ended', 'key'])

interface Kept {
  workspaceId: string
  events: CallEvent[]
  ending?: NodeJS.Timeout
}

/** Turns the logs of a node's calls into traces, once each is over. */
export class CallTraces {
  readonly #spans: SpanExport
  readonly #content: boolean
  readonly #log: Logger
  readonly #calls = new Map<string, Kept>()

  constructor(options: { spans: SpanExport; content: boolean; log: Logger }) {
    this.#spans = options.spans
    this.#content = options.content
    this.#log = options.log
  }

  /** An event of a call, in its order. Never throws. */
  event(workspaceId: string, callId: string, event: CallEvent): void {
    if (isPassing(event) || UNTRACED.has(event.type)) return
    const kept = this.#calls.get(callId) ?? { workspaceId, events: [] }
    if (!this.#calls.has(callId)) {
      // Of a call that was sent already no more is known.
      if (this.#calls.size === MAX_CALLS || mayComeLate(event.type)) return
      this.#calls.set(callId, kept)
    }
    if (kept.events.length < MAX_EVENTS || event.type === 'ended') kept.events.push(event)
    if (event.type === 'ended')
      kept.ending ??= setTimeout(
        boundary('call', () => this.#send(callId)),
        AFTERWARDS_MS,
      )
  }

  /** Sends what is over. */
  stop(): void {
    for (const [callId, { ending }] of this.#calls) if (ending !== undefined) this.#send(callId)
  }

  #send(callId: string): void {
    const kept = this.#calls.get(callId)
    if (kept === undefined) return
    clearTimeout(kept.ending)
    this.#calls.delete(callId)
    try {
      const call = { callId, workspaceId: kept.workspaceId, content: this.#content }
      this.#spans.send(traceIdOf(callId), callTrace(call, kept.events))
    } catch (err) {
      this.#log.warn({ err, callId }, 'A call could not be traced')
    }
  }
}
