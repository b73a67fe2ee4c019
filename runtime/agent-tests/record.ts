import type { CallEvent, EventOf } from '../call/log/events.ts'
import { fold, NOTHING_YET } from '../call/log/fold.ts'
import type { Usage } from '../call/types/usage.ts'
import type { ExpectedFact } from './schema.ts'
import { speechMs } from './text-speech.ts'

/** What happened in one run of a test: what facts and sentences are judged by. Times are milliseconds since the answer. */
export interface TestRecord {
  turns: TestTurn[]
  tools: TestToolCall[]
  handedOff: { to: string; name: string; reason: string }[]
  /** Of secrets the value is not known. */
  collected: Pick<EventOf<'collected'>, 'name' | 'status' | 'value' | 'attempts'>[]
  guarded: Pick<EventOf<'guarded'>, 'rule' | 'sentence' | 'found'>[]
  /** `toEnd`: the fixed steps were all made. */
  procedures: { name: string; toEnd: boolean }[]
  /** Of each answer, from the end of the caller's words to its first sound. */
  latenciesMs: number[]
  /** The longest time the caller waited and heard nothing; undefined: they never waited. */
  longestSilenceMs?: number
  durationMs: number
  disposition: string
  endedBy: NonNullable<ExpectedFact['ended_by']>
  error?: string
  usage: Usage
  /** US dollars; null: a price is not known. */
  costUsd: number | null
  /** Lines of the script that the conversation never came to. */
  unsaid: string[]
}

export interface TestTurn {
  role: 'user' | 'assistant'
  /** Of the agent: what the caller heard. */
  text: string
  startMs: number
  endMs: number
  interrupted?: true
}

export interface TestToolCall {
  name: string
  arguments: Record<string, unknown>
  atMs: number
  tookMs: number
  result: string
  error?: string
}

/** By the end reason of a call; any other is an error. */
export const ENDED_BY: Readonly<Record<string, TestRecord['endedBy']>> = {
  caller_hangup: 'caller',
  agent_hangup: 'agent',
  idle: 'idle',
  max_duration: 'max_duration',
  transferred: 'transfer',
  voicemail: 'voicemail',
}

/** The record of a conversation whose log this is, to its `ended`; the same of a call and of a simulation. */
export function recordOf(events: readonly CallEvent[]): Omit<TestRecord, 'usage' | 'costUsd' | 'unsaid'> {
  const state = events.reduce(fold, NOTHING_YET)
  const answeredAt = events.find(({ type }) => type === 'answered')?.at ?? events[0]?.at ?? 0
  const returned = new Map(events.flatMap((event) => (event.type === 'tool_returned' ? [[event.id, event]] : [])))
  const tools = events.flatMap((event): TestToolCall[] => {
    if (event.type !== 'tool_called') return []
    const back = returned.get(event.id)
    return [
      {
        name: event.name,
        arguments: event.arguments,
        atMs: event.at - answeredAt,
        tookMs: back?.ms ?? 0,
        result: back?.result ?? '',
        ...(back?.error === undefined ? {} : { error: back.error }),
      },
    ]
  })
  const { ended } = state
  const endReason = ended?.end_reason ?? 'error'
  const lastAt = events.at(-1)?.at ?? answeredAt
  const longestSilenceMs = longestWait(events, answeredAt)
  return {
    turns: state.turns.map(({ role, text, startMs, endMs, interrupted }) => ({
      ...{ role, text, startMs, endMs },
      ...(interrupted ? { interrupted: true as const } : {}),
    })),
    tools,
    ...factsOf(events),
    latenciesMs: events.flatMap((event) => (event.type === 'latency' ? [Math.round(event.total_ms)] : [])),
    ...(longestSilenceMs === undefined ? {} : { longestSilenceMs }),
    durationMs: ended?.duration_ms ?? lastAt - answeredAt,
    disposition: ended?.disposition ?? 'failed',
    endedBy: ENDED_BY[endReason] ?? 'error',
    ...(ended?.error === undefined ? {} : { error: ended.error }),
  }
}

function factsOf(events: readonly CallEvent[]): Pick<TestRecord, 'handedOff' | 'collected' | 'guarded' | 'procedures'> {
  const of = <T extends CallEvent['type']>(type: T) =>
    events.filter((event): event is CallEvent & EventOf<T> => event.type === type)
  return {
    handedOff: of('handed_off').map(({ to, to_name: name, reason }) => ({ to, name, reason })),
    collected: of('collected').map(({ name, status, value, attempts }) => {
      return { name, status, attempts, ...(value === undefined ? {} : { value }) }
    }),
    guarded: of('guarded').map(({ rule, sentence, found }) => ({ rule, sentence, found })),
    procedures: of('procedure_begun').map(({ name, seq }) => {
      return { name, toEnd: of('procedure_ended').some((end) => end.name === name && end.seq > seq) }
    }),
  }
}

/** The longest time between words of the caller, or a filler, and the next sound of the agent. */
function longestWait(events: readonly CallEvent[], answeredAt: number): number | undefined {
  const agentStarts = events
    .flatMap((event) => {
      if (event.type === 'heard' && event.final) return [event.start_ms]
      return event.type === 'filler' ? [event.at - answeredAt] : []
    })
    .sort((a, b) => a - b)
  const waits = events.flatMap((event) => {
    if (event.type !== 'turn' && event.type !== 'filler') return []
    const fromMs = event.type === 'turn' ? event.end_ms : event.at - answeredAt + speechMs(event.text)
    const next = agentStarts.find((startMs) => startMs > fromMs)
    return next === undefined ? [] : [Math.round(next - fromMs)]
  })
  return waits.length === 0 ? undefined : Math.max(...waits)
}

/** What the caller heard of the agent, as one text. */
export function heardText({ turns }: Pick<TestRecord, 'turns'>): string {
  return turns
    .filter(({ role }) => role === 'assistant')
    .map(({ text }) => text)
    .join('\n')
}

/** The transcript with numbered turns, as a judge reads and quotes it. */
export function numberedTranscript({ turns, tools }: Pick<TestRecord, 'turns' | 'tools'>): string {
  const lines = [
    ...turns.map(({ role, text, startMs, interrupted }, i) => ({
      atMs: startMs,
      text: `[${i + 1}] ${role === 'user' ? 'Caller' : 'Agent'}: ${text}${interrupted === true ? ' (cut off)' : ''}`,
    })),
    ...tools.map(({ name, arguments: given, result, atMs }) => ({
      atMs,
      text: `(The agent used ${name} with ${JSON.stringify(given)}; it answered: ${result})`,
    })),
  ]
  return lines
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ text }) => text)
    .join('\n')
}
