import { addUsage, NO_USAGE } from '../types/add-usage.ts'
import type { Usage } from '../types/usage.ts'
import type { CallEvent, CallEventType, EventOf } from './events.ts'

/** Of a turn of the agent, what became of it on the way; times are milliseconds from the answer. */
export interface TurnEvidence {
  latency: Omit<EventOf<'latency'>, 'type'> | undefined
  /** Until `ms` is known the tool still runs. */
  tools: {
    id: string
    name: string
    arguments: Record<string, unknown>
    startMs: number
    ms?: number
    result?: string
    error?: string
  }[]
  knowledge: { query: string; hits: EventOf<'knowledge_looked_up'>['hits']; startMs: number; ms: number }[]
  usage: Usage
  /** Who served. */
  providers: { stt?: ServingModel; llm?: ServingModel; tts?: ServingModel }
  faults: string[]
}

/** `model` is unknown of one that stood in for another. */
export interface ServingModel {
  provider: string
  model?: string
}

/** The evidence for it. */
export const EVIDENCE = [
  'queued',
  'answered',
  'handed_off',
  'turn',
  'heard',
  'latency',
  'tool_called',
  'tool_returned',
  'knowledge_looked_up',
  'usage',
  'provider_switched',
  'fault',
] as const satisfies readonly CallEventType[]

/**
 * What became of each turn, by its place in the transcript. What happens between a turn of the caller and the next belongs to
 * the agent's turn that answers it; where none does, to the caller's. Knowledge that was looked up while the caller still spoke, and
 * of that the last alone, belongs to the answer that comes. Pure.
 */
export function turnEvidence(events: readonly CallEvent[]): TurnEvidence[] {
  const turns: TurnEvidence[] = []
  let answeredAt = events[0]?.at ?? 0
  let providers: TurnEvidence['providers'] = {}
  let open = nothing(providers)
  /** The agent's turn that `open` went to. */
  let isTaken = false
  /** What was looked up for words that are no turn yet. */
  let ahead: TurnEvidence['knowledge'] = []
  const tools = new Map<string, TurnEvidence['tools'][number]>()

  for (const event of events) {
    const startMs = event.at - answeredAt
    switch (event.type) {
      case 'answered':
        answeredAt = event.at
        providers = event.providers ?? {}
        open.providers = providers
        break
      case 'handed_off':
        // What the next agent says is an answer of its own.
        providers = event.providers ?? providers
        open = nothing(providers)
        isTaken = true
        break
      case 'turn':
        open = nothing(providers)
        open.knowledge = ahead.slice(-1)
        ahead = []
        isTaken = false
        turns.push(open)
        break
      case 'heard':
        if (!event.final || event.text === '') break
        if (isTaken) open = nothing(providers)
        else if (turns.at(-1) === open) turns[turns.length - 1] = nothing(providers)
        isTaken = true
        turns.push(open)
        break
      case 'latency': {
        const { type: _type, seq: _seq, at: _at, ...latency } = event
        open.latency = latency
        break
      }
      case 'tool_called': {
        const tool = { id: event.id, name: event.name, arguments: event.arguments, startMs }
        tools.set(event.id, tool)
        open.tools.push(tool)
        break
      }
      case 'tool_returned': {
        const tool = tools.get(event.id)
        if (tool === undefined) break
        tool.ms = event.ms
        tool.result = event.result
        if (event.error !== undefined) tool.error = event.error
        break
      }
      case 'knowledge_looked_up':
        // Once the answer is under way, what is looked up is for what the caller says next.
        if (isTaken || open.latency !== undefined || turns.at(-1) !== open) ahead.push(lookup(event, startMs))
        else open.knowledge.push(lookup(event, startMs))
        break
      case 'usage':
        open.usage = addUsage(open.usage, event)
        break
      case 'provider_switched':
        providers = { ...providers, [event.stage]: { provider: event.to } }
        open.providers = providers
        break
      case 'fault':
        open.faults.push(event.sentence)
    }
  }
  return turns
}

function lookup({ query, hits, ms }: EventOf<'knowledge_looked_up'>, endMs: number): TurnEvidence['knowledge'][number] {
  return { query, hits, startMs: endMs - ms, ms }
}

function nothing(providers: TurnEvidence['providers']): TurnEvidence {
  return { latency: undefined, tools: [], knowledge: [], usage: NO_USAGE, providers, faults: [] }
}
