import { addUsage, NO_USAGE } from '../types/add-usage.ts'
import type { Usage } from '../types/usage.ts'
import type { CallEvent, CallEventBody, EventOf } from './events.ts'
import type { Turn } from './resume.ts'

/** What events of a call's log change in its row and its turns. */
export interface CallChange {
  status?: 'ringing' | 'in_progress'
  agentVersion?: number
  rolloutId?: string
  /** Times in ms since 1970. */
  answeredAt?: number
  pickedUpAt?: number
  /** With their places among the turns of the call. */
  turns?: (Turn & { seq: number })[]
  /** Adds to the sums of the call. */
  usage?: Usage
  /** Beside that: speech that another recognised than the agent's recogniser, which it is priced by. */
  recognised?: { provider: string; model: string; seconds: number }[]
  latenciesMs?: number[]
  consent?: EventOf<'consent'>['consent']
  recording?: 'off' | 'begun'
  answeredBy?: EventOf<'answered_by'>['by']
  carrier?: Omit<EventOf<'carrier'>, 'type'>
  quality?: Pick<EventOf<'media'>, 'codec' | 'loss' | 'jitter_ms' | 'rtt_ms' | 'mos'>
  supervisors?: { id: string; name: string; joined_at: string }[]
  end?: CallEnd
}

/** The one end of a call. */
export interface CallEnd {
  status: EventOf<'ended'>['status']
  endReason: string
  disposition: string
  error?: string
  at: number
  /** Undefined: nobody measured it. */
  durationMs?: number
}

/** Whether the event changes the status of the call. */
export const changesStatus = ({ type }: CallEvent): boolean =>
  type === 'ringing' || type === 'answered' || type === 'ended'

/** What the caller or the agent said, once it is over; undefined for other events. */
export function turnOf(event: CallEventBody): Turn | undefined {
  if (event.type !== 'turn' && !(event.type === 'heard' && event.final && event.text !== '')) return undefined
  const { text, start_ms: startMs, end_ms: endMs } = event
  if (event.type === 'turn') return { role: 'user', text, startMs, endMs, interrupted: false }
  return { role: 'assistant', text, startMs, endMs, interrupted: event.interrupted }
}

/** @param firstTurn the place of the first turn among them */
export function changeOf(events: readonly CallEvent[], firstTurn = 0): CallChange {
  const change: CallChange = {}
  let seq = firstTurn
  for (const event of events) {
    const turn = turnOf(event)
    if (turn !== undefined) {
      change.turns ??= []
      change.turns.push({ ...turn, seq: seq++ })
    }
    add(change, event)
  }
  return change
}

function add(change: CallChange, event: CallEvent): void {
  switch (event.type) {
    case 'transcribed': {
      const { turn: seq, text, start_ms: startMs, end_ms: endMs } = event
      const corrected = { seq, role: 'user' as const, text, startMs, endMs, interrupted: false }
      change.turns = [...(change.turns ?? []).filter((one) => one.seq !== seq), corrected]
      break
    }
    case 'queued':
      if (event.agent_version !== undefined) change.agentVersion = event.agent_version
      if (event.rollout_id !== undefined) change.rolloutId = event.rollout_id
      break
    case 'ringing':
      change.status ??= 'ringing'
      break
    case 'answered':
      change.status = 'in_progress'
      change.answeredAt = event.at
      change.recording ??= 'off'
      break
    case 'recording_started':
      change.recording = 'begun'
      break
    case 'picked_up':
      change.pickedUpAt = event.at
      break
    case 'latency':
      change.latenciesMs = [...(change.latenciesMs ?? []), event.total_ms]
      break
    case 'usage':
      if (event.served_by === undefined) change.usage = addUsage(change.usage ?? NO_USAGE, event)
      else change.recognised = [...(change.recognised ?? []), { ...event.served_by, seconds: event.seconds ?? 0 }]
      break
    case 'consent':
      change.consent = event.consent
      break
    case 'answered_by':
      if (event.source === 'agent') change.answeredBy = event.by
      break
    case 'carrier': {
      const { type: _type, seq: _seq, at: _at, ...carrier } = event
      change.carrier = { ...change.carrier, ...carrier }
      break
    }
    case 'media': {
      const { codec, loss, jitter_ms, rtt_ms, mos } = event
      const known = Object.entries({ codec, loss, jitter_ms, rtt_ms, mos }).filter(([, value]) => value !== undefined)
      if (known.length > 0) change.quality = { ...change.quality, ...Object.fromEntries(known) }
      break
    }
    case 'supervisor_joined': {
      const joined = { ...event.who, joined_at: new Date(event.at).toISOString() }
      change.supervisors = [...(change.supervisors ?? []), joined]
      break
    }
    case 'ended': {
      const { status, end_reason: endReason, disposition, error, duration_ms: durationMs, at } = event
      const known = { ...(error !== undefined && { error }), ...(durationMs !== undefined && { durationMs }) }
      change.end = { status, endReason, disposition, at, ...known }
    }
  }
}
