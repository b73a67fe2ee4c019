import type { CallEvent, EventOf } from '../call/log/events.ts'
import type { ServingModel } from '../call/log/turn-evidence.ts'
import { spanIdOf } from './trace-context.ts'

/**
 * A call as a trace: spans folded from its log after the fact, none measured a second time. The trace's id is the call's own, so
 * that one leads to the other. Names and attributes of models and tools are those of OpenTelemetry's conventions
 * for generative AI. Pure.
 */

export interface TraceSpan {
  /** 16 hex digits. */
  id: string
  /** Undefined: the trace begins with it. */
  parentId: string | undefined
  name: string
  kind: 'server' | 'client' | 'internal'
  /** Milliseconds since 1970. */
  startMs: number
  endMs: number
  attributes: Record<string, string | number | boolean>
  notes: { name: string; atMs: number; attributes: Record<string, string> }[]
  error?: string
}

interface TracedCall {
  callId: string
  workspaceId: string
  /** The text of callers, agents and tools is exported, too. */
  content: boolean
}

type Providers = Partial<Record<'stt' | 'llm' | 'tts', ServingModel>>

/** By so much the clock of a worker may be ahead of the node's that has the line, as far as it is known. */
const MOST_SKEW_MS = 500

/** The turn of the caller that is being answered. */
interface OpenTurn {
  span: TraceSpan
  caller: TraceSpan
  /** When the caller had stopped speaking. */
  endMs: number
  llm: TraceSpan | undefined
  /** From its end to the first sound of the answer, until that is heard. */
  stages: TraceSpan[]
  /** Something was said to fill the time. */
  filled: boolean
}

export function callTrace(call: TracedCall, events: readonly CallEvent[]): TraceSpan[] {
  return new Folding(call).fold(events)
}

class Folding {
  readonly #call: TracedCall
  readonly #spans: TraceSpan[] = []
  readonly #open = new Map<string, TraceSpan>()
  readonly #root: TraceSpan
  #answeredMs = 0
  #providers: Providers = {}
  #turn: OpenTurn | undefined
  #turns = 0

  constructor(call: TracedCall) {
    this.#call = call
    const attributes = { 'patchbay.call.id': call.callId, 'patchbay.workspace.id': call.workspaceId }
    this.#root = this.#add('call', undefined, 0, 0, attributes, 'call')
  }

  fold(events: readonly CallEvent[]): TraceSpan[] {
    this.#root.startMs = events[0]?.at ?? 0
    this.#answeredMs = this.#root.startMs
    for (const event of events) this.#take(event)
    const lastMs = events.at(-1)?.at ?? 0
    const endMs = Math.max(this.#root.endMs, lastMs, ...this.#spans.map((span) => span.endMs))
    // Open spans end with the call.
    for (const span of this.#open.values()) span.endMs = Math.max(span.startMs, endMs)
    this.#root.endMs = endMs
    this.#encloseTurns()
    return this.#spans
  }

  /** A turn is as long as its parts, some of which move with what was heard later. */
  #encloseTurns(): void {
    const turns = new Map(this.#spans.filter(({ name }) => name === 'turn').map((span) => [span.id, span]))
    for (const turn of turns.values()) Object.assign(turn, { startMs: Infinity, endMs: -Infinity })
    for (const { parentId, startMs, endMs } of this.#spans) {
      const turn = turns.get(parentId ?? '')
      if (turn === undefined) continue
      turn.startMs = Math.min(turn.startMs, startMs)
      turn.endMs = Math.max(turn.endMs, endMs)
    }
  }

  #take(event: CallEvent): void {
    switch (event.type) {
      case 'ringing':
        this.#begin('ring', event.at)
        break
      case 'answered':
        this.#answeredMs = event.at
        this.#providers = event.providers ?? {}
        this.#end('ring', event.at)
        break
      case 'handed_off':
        this.#providers = event.providers ?? this.#providers
        break
      case 'turn':
        this.#callerTurn(event)
        break
      case 'latency':
        this.#stages(event)
        break
      case 'heard':
        this.#heard(event)
        break
      case 'filler':
        if (this.#turn !== undefined) this.#turn.filled = true
        break
      case 'tool_called':
        this.#begin(`tool ${event.id}`, event.at, {
          name: `execute_tool ${event.name}`,
          attributes: {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': event.name,
            'gen_ai.tool.call.id': event.id,
            ...this.#words('gen_ai.tool.call.arguments', JSON.stringify(event.arguments)),
          },
        })
        break
      case 'tool_returned': {
        const span = this.#end(`tool ${event.id}`, event.at, event.error)
        if (span !== undefined) Object.assign(span.attributes, this.#words('gen_ai.tool.call.result', event.result))
        break
      }
      case 'knowledge_looked_up':
        this.#add('knowledge', this.#turn?.span ?? this.#root, event.at - event.ms, event.at, {
          'patchbay.knowledge.hits': event.hits.length,
          ...this.#words('patchbay.knowledge.query', event.query),
        })
        break
      case 'usage':
        if (event.stage === 'llm') this.#tokens(event)
        break
      case 'provider_switched':
        this.#providers = { ...this.#providers, [event.stage]: { provider: event.to } }
        this.#note(event.at, 'provider_switched', { stage: event.stage, from: event.from, to: event.to })
        break
      case 'fault':
        this.#note(event.at, 'fault', { stage: event.stage, sentence: event.sentence })
        break
      case 'worker_lost':
        this.#begin('recovery', event.at)
        break
      case 'resumed':
        this.#end('recovery', event.at)
        break
      case 'transfer_started':
        this.#begin('transfer', event.at, { attributes: { 'patchbay.transfer.mode': event.mode } })
        break
      case 'transfer_done':
        this.#end('transfer', event.at)
        break
      case 'transfer_failed':
        this.#end('transfer', event.at, event.reason)
        break
      case 'took_over':
        this.#begin('taken over', event.at)
        break
      case 'gave_back':
        this.#end('taken over', event.at)
        break
      case 'ended':
        this.#ended(event)
        break
    }
  }

  #callerTurn({ start_ms, end_ms, text, language }: EventOf<'turn'>): void {
    const [startMs, endMs] = [this.#answeredMs + start_ms, this.#answeredMs + end_ms]
    const span = this.#add('turn', this.#root, startMs, endMs, { 'patchbay.turn': ++this.#turns })
    const caller = this.#add('caller speaks', span, startMs, endMs, {
      ...this.#words('patchbay.text', text),
      ...(language === undefined ? {} : { 'patchbay.language': language }),
    })
    this.#turn = { span, caller, endMs, llm: undefined, stages: [], filled: false }
  }

  /** The stages follow each other, from the end of the caller's speech to the first sound of the answer. */
  #stages(latency: EventOf<'latency'>): void {
    if (this.#turn === undefined) return
    const { span, endMs } = this.#turn
    const { stt, llm, tts } = this.#providers
    let atMs = endMs
    const stage = (name: string, ms: number, attributes: TraceSpan['attributes'] = {}) => {
      const added = this.#add(name, span, atMs, atMs + ms, attributes)
      atMs += ms
      this.#turn?.stages.push(added)
      return added
    }
    stage('stt', latency.stt_ms, served('patchbay.stt', stt))
    stage('endpointing', latency.endpointing_ms)
    this.#turn.llm = stage(llm?.model === undefined ? 'chat' : `chat ${llm.model}`, latency.llm_ms, {
      'gen_ai.operation.name': 'chat',
      ...(llm === undefined ? {} : { 'gen_ai.provider.name': llm.provider }),
      ...(llm?.model === undefined ? {} : { 'gen_ai.request.model': llm.model }),
    })
    stage('tts', latency.tts_ms, served('patchbay.tts', tts))
    span.attributes['patchbay.latency_ms'] = latency.total_ms
  }

  #heard({ start_ms, end_ms, text, interrupted, final }: EventOf<'heard'>): void {
    if (!final || text === '') return
    const [startMs, endMs] = [this.#answeredMs + start_ms, this.#answeredMs + end_ms]
    const isGreeting = this.#turns === 0
    if (this.#turn !== undefined) this.#playedOut(this.#turn, startMs)
    this.#add(isGreeting ? 'greeting' : 'agent speaks', this.#turn?.span ?? this.#root, startMs, endMs, {
      'patchbay.interrupted': interrupted,
      ...this.#words('patchbay.text', text),
    })
  }

  /** The stages end with the first sound on the line: behind them it was on its way, through the worker, the link and the api node. */
  #playedOut(turn: OpenTurn, startMs: number): void {
    // What was typed has no stages.
    const leftMs = turn.stages.at(-1)?.endMs ?? turn.caller.endMs
    if (leftMs < startMs) {
      if (turn.stages.length > 0) this.#add('playout', turn.span, leftMs, startMs)
    }
    // Two clocks are never quite one. What fills the time until there is an answer ends nothing.
    else if (!turn.filled && leftMs - startMs < MOST_SKEW_MS) {
      for (const part of [turn.caller, ...turn.stages]) {
        part.startMs = Math.min(part.startMs, startMs)
        part.endMs = Math.min(part.endMs, startMs)
      }
    }
    turn.stages = []
  }

  #tokens({ input_tokens = 0, output_tokens = 0 }: EventOf<'usage'>): void {
    const attributes = this.#turn?.llm?.attributes ?? this.#turn?.span.attributes ?? this.#root.attributes
    const add = (name: string, tokens: number) => {
      if (tokens > 0) attributes[name] = Number(attributes[name] ?? 0) + tokens
    }
    add('gen_ai.usage.input_tokens', input_tokens)
    add('gen_ai.usage.output_tokens', output_tokens)
  }

  #ended({ status, end_reason, disposition, error, at }: EventOf<'ended'> & { at: number }): void {
    this.#root.endMs = at
    Object.assign(this.#root.attributes, {
      'patchbay.call.status': status,
      'patchbay.call.end_reason': end_reason,
      'patchbay.call.disposition': disposition,
    })
    if (status === 'failed') this.#root.error = error ?? end_reason
  }

  #begin(
    key: string,
    atMs: number,
    { name = key, attributes = {} }: Partial<Pick<TraceSpan, 'name' | 'attributes'>> = {},
  ): void {
    const isTool = key.startsWith('tool ')
    const parent = isTool ? (this.#turn?.span ?? this.#root) : this.#root
    // A tool's outgoing requests need the span's context before the span exists.
    this.#open.set(key, this.#add(name, parent, atMs, atMs, attributes, isTool ? key : undefined))
  }

  #end(key: string, atMs: number, error?: string): TraceSpan | undefined {
    const span = this.#open.get(key)
    this.#open.delete(key)
    if (span === undefined) return undefined
    span.endMs = Math.max(span.startMs, atMs)
    if (error !== undefined) span.error = error
    return span
  }

  #note(atMs: number, name: string, attributes: Record<string, string>): void {
    const { notes } = this.#turn?.span ?? this.#root
    notes.push({ name, atMs, attributes })
  }

  #words(name: string, text: string): Record<string, string> {
    return this.#call.content ? { [name]: text } : {}
  }

  #add(
    name: string,
    parent: TraceSpan | undefined,
    startMs: number,
    endMs: number,
    attributes: TraceSpan['attributes'] = {},
    key = `${name} ${this.#spans.length}`,
  ): TraceSpan {
    const span: TraceSpan = {
      id: spanIdOf(this.#call.callId, key),
      parentId: parent?.id,
      name,
      kind: parent === undefined ? 'server' : 'internal',
      startMs,
      endMs: Math.max(startMs, endMs),
      attributes,
      notes: [],
    }
    this.#spans.push(span)
    return span
  }
}

const served = (prefix: string, by: ServingModel | undefined): Record<string, string> => ({
  ...(by === undefined ? {} : { [`${prefix}.provider`]: by.provider }),
  ...(by?.model === undefined ? {} : { [`${prefix}.model`]: by.model }),
})
