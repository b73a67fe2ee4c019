import { shortText } from '../../lib/text.ts'
import { collectOutput, collectTool } from './collect-output.ts'
import type { CallEvent, CallEventBody, EventOf } from './events.ts'
import { handoffNote, noteOf } from './note.ts'
import type { Handoff, Note, ToolCall, Turn } from './resume.ts'

/** Inputs kept for a worker that takes them; more than a few never wait. The oldest goes. */
const MAX_WAITING = 64
/** Maximum kept of the supervisors' messages to the agent: the newest. */
const MAX_NOTES = 64
const MAX_FAULTS = 5
const MAX_FAULT_CHARACTERS = 300

/** What a call's log says, as far as it goes. Every prefix of a log folds to a valid state. */
export interface CallState {
  readonly queued: boolean
  readonly rang: boolean
  readonly turns: readonly Turn[]
  /** What the caller has heard of the agent's running turn. */
  readonly heard: Turn | undefined
  /** What the agent was to say since the caller's last turn, as far as its words are known. */
  readonly said: string | undefined
  /** A worker that is gone was to say it: the next one says what is left of it, and tells so anew. */
  readonly replayTimestamps: boolean
  readonly tools: readonly ToolCall[]
  /** What is being collected, as far as it is. */
  readonly collecting: EventOf<'collecting'> | undefined
  /** What was collected, by name; without secrets. */
  readonly collected: Readonly<Record<string, string>>
  readonly consent: EventOf<'consent'>['consent'] | undefined
  readonly greeting: EventOf<'greeting'>['step'] | undefined
  /** How many turns were said before that step of the greeting began. */
  readonly greetingFrom: number
  /** Consent was given or refused by words that are no turn yet. */
  readonly consentOwesTurn: boolean
  readonly answeredBy: EventOf<'answered_by'>['by'] | undefined
  readonly carrierVerdict: EventOf<'answered_by'>['by'] | undefined
  readonly muted: boolean
  readonly held: boolean
  /** The caller talks with another human. */
  readonly transferred: boolean
  /** A supervisor talks with the caller, and the agent is silent. */
  readonly takenOver: boolean
  /** The supervisors' messages to the agent, and what it was told when the call was handed to it. */
  readonly notes: readonly Note[]
  /** The procedure whose fixed steps are made, and the next of them. */
  readonly procedure: { readonly id: string; readonly name: string; readonly step: number } | undefined
  readonly handoffs: readonly Handoff[]
  /** The call was handed to an agent, and the caller has heard nothing of it yet. */
  readonly owesReply: boolean
  /** Inputs of the caller and of supervisors that no worker has taken. */
  readonly waiting: readonly CallEvent[]
  /** The first few things that went wrong, each once. */
  readonly faults: readonly string[]
  readonly ended: EventOf<'ended'> | undefined
}

export const NOTHING_YET: CallState = {
  queued: false,
  rang: false,
  turns: [],
  heard: undefined,
  said: undefined,
  replayTimestamps: false,
  tools: [],
  collecting: undefined,
  collected: {},
  consent: undefined,
  greeting: undefined,
  greetingFrom: 0,
  consentOwesTurn: false,
  answeredBy: undefined,
  carrierVerdict: undefined,
  muted: false,
  held: false,
  transferred: false,
  takenOver: false,
  notes: [],
  procedure: undefined,
  handoffs: [],
  owesReply: false,
  waiting: [],
  faults: [],
  ended: undefined,
}

/** The state after one more event. Pure. */
export function fold(state: CallState, event: CallEvent): CallState {
  switch (event.type) {
    case 'queued':
      return { ...state, queued: true }
    case 'ringing':
      return { ...state, rang: true }
    case 'typed':
    case 'key':
    case 'whispered':
    case 'supervisor_said':
      return awaited(state, event)
    case 'took_over':
      // What was about to be said is not.
      return awaited({ ...state, takenOver: true, said: undefined }, event)
    case 'gave_back':
      return awaited(state, event)
    case 'turn': {
      const { text, start_ms: startMs, end_ms: endMs } = event
      const turn: Turn = { role: 'user', text, startMs, endMs, interrupted: false }
      const consentOwesTurn = state.consentOwesTurn && event.inputs !== undefined
      const turns = [...state.turns, turn]
      return taken({ ...state, said: undefined, owesReply: false, consentOwesTurn, turns }, event.inputs)
    }
    case 'transcribed': {
      const turn = state.turns[event.turn]
      if (turn?.role !== 'user') return state
      return { ...state, turns: state.turns.with(event.turn, { ...turn, text: event.text }) }
    }
    case 'said':
      return {
        ...state,
        said: state.said === undefined || state.replayTimestamps ? event.text : `${state.said} ${event.text}`,
        replayTimestamps: false,
      }
    case 'resumed':
      return { ...state, replayTimestamps: true }
    case 'heard':
      return heard(state, event)
    case 'consent':
      return taken(
        {
          ...state,
          consent: event.consent,
          consentOwesTurn: event.inputs === undefined && event.consent !== 'unanswered',
        },
        event.inputs,
      )
    case 'inputs_taken':
      return taken(state, event.inputs)
    case 'greeting':
      return {
        ...state,
        greeting: event.step,
        // Begun again by another worker, it is the same step.
        greetingFrom: event.step === state.greeting ? state.greetingFrom : state.turns.length,
      }
    case 'procedure_begun':
      return { ...state, procedure: { id: event.id, name: event.name, step: 0 } }
    case 'procedure_step':
      return {
        ...state,
        said: undefined,
        procedure: state.procedure && { ...state.procedure, step: event.step + 1 },
      }
    case 'procedure_ended':
      return { ...state, procedure: undefined }
    case 'handed_off':
      return handedOff(state, event)
    case 'muted':
      return { ...state, muted: true, waiting: [] }
    case 'held':
    case 'unheld':
      return { ...state, held: event.type === 'held' }
    case 'transfer_done':
      return { ...state, transferred: true, waiting: [] }
    case 'answered_by':
      return event.source === 'carrier' ? { ...state, carrierVerdict: event.by } : { ...state, answeredBy: event.by }
    case 'tool_called': {
      const { id, name, arguments: given } = event
      return { ...state, tools: [...state.tools, { id, name, arguments: given, turn: state.turns.length }] }
    }
    case 'tool_returned':
      return {
        ...state,
        tools: state.tools.map((tool) =>
          tool.id === event.id
            ? { ...tool, result: event.result, ...(event.error === undefined ? {} : { error: event.error }) }
            : tool,
        ),
      }
    case 'collecting':
      return { ...state, collecting: event }
    case 'collected':
      return collected(state, event)
    case 'fault':
      return { ...state, faults: withFault(state.faults, event.sentence) }
    case 'ended':
      return { ...state, ended: event, waiting: [] }
    default:
      return state
  }
}

/** The event that closes an unfinished turn with the text that was heard; undefined when nothing was heard. */
export function cutOff({ heard }: CallState): CallEventBody | undefined {
  if (heard === undefined || heard.text === '') return undefined
  const { text, startMs, endMs } = heard
  return { type: 'heard', text, start_ms: startMs, end_ms: endMs, interrupted: true, final: true }
}

/** The error of the call log: why the call ended, then what failed before; undefined when nothing did. */
export function errorOf({ faults }: CallState, endError: string | undefined): string | undefined {
  const others = faults.filter((fault) => endError === undefined || !endError.includes(fault))
  const all = endError === undefined ? others : [endError, ...others]
  return all.length === 0 ? undefined : all.join('. ')
}

/** The model reads it as what its tool returned. */
function collected(state: CallState, event: EventOf<'collected'>): CallState {
  const { id, name, value } = event
  const tool = { id, name: collectTool(name), arguments: {}, result: collectOutput(event), turn: state.turns.length }
  return {
    ...state,
    tools: [...state.tools, tool],
    collecting: state.collecting?.id === id ? undefined : state.collecting,
    collected: value === undefined ? state.collected : { ...state.collected, [name]: value },
  }
}

function heard(state: CallState, event: EventOf<'heard'>): CallState {
  const { text, start_ms: startMs, end_ms: endMs, interrupted } = event
  const turn: Turn = { role: 'assistant', text, startMs, endMs, interrupted }
  if (!event.final) return { ...state, heard: turn }
  // A turn heard to its end needs no continuation.
  const said = interrupted ? state.said : undefined
  if (text === '') return { ...state, heard: undefined, said }
  return { ...state, heard: undefined, said, owesReply: false, turns: [...state.turns, turn] }
}

/** The greeting is over: the agent before said it. */
function handedOff(state: CallState, event: EventOf<'handed_off'>): CallState {
  const turn = state.turns.length
  const { from, to, carries, failed = false } = event
  const handoff: Handoff = { from, to, carries, turn, tools: state.tools.length, failed }
  const before = failed
    ? state.handoffs.map((one, i, all) => (i === all.length - 1 ? { ...one, failed } : one))
    : state.handoffs
  return {
    ...state,
    ...{
      heard: undefined,
      said: undefined,
      greeting: 'done',
      owesReply: true,
      procedure: undefined,
      collecting: undefined,
    },
    handoffs: [...before, handoff],
    notes: [...state.notes, { text: handoffNote(event), turn }].slice(-MAX_NOTES),
  }
}

function awaited(state: CallState, input: CallEvent): CallState {
  if (state.muted || state.transferred) return state
  return { ...state, waiting: [...state.waiting, input].slice(-MAX_WAITING) }
}

/** The worker has dealt with these inputs: what they say holds for every other from here on. */
function taken(state: CallState, inputs: readonly number[] | undefined): CallState {
  if (inputs === undefined || inputs.length === 0) return state
  const [done, waiting] = [true, false].map((wanted) =>
    state.waiting.filter(({ seq }) => inputs.includes(seq) === wanted),
  ) as [CallEvent[], CallEvent[]]
  let { takenOver, notes } = state
  for (const input of done) {
    // Until its worker knows of it, the call is still the supervisor's.
    if (input.type === 'gave_back') takenOver = waiting.some(({ type }) => type === 'took_over')
    const text = noteOf(input)
    if (text !== undefined) notes = [...notes, { text, turn: state.turns.length }].slice(-MAX_NOTES)
  }
  return { ...state, takenOver, notes, waiting }
}

function withFault(faults: readonly string[], sentence: string): readonly string[] {
  const short = shortText(sentence, MAX_FAULT_CHARACTERS)
  return faults.length < MAX_FAULTS && !faults.includes(short) ? [...faults, short] : faults
}
