import type { CallEvent, EventOf } from '../../call/log/events.ts'
import { noteOf } from '../../call/log/note.ts'
import type { Order, Signal, SpokenTurn } from './signal.ts'
import { type ConversationStage, consume, emit, type StageResult } from './stage.ts'
import type { ConversationState } from './state.ts'

/** What a supervisor has the agent say and it has not begun with; beyond, it is not said. */
const MAX_WAITING = 16

const BACK = 'You are back with the caller. Go on from where they and your supervisor stopped, in one or two sentences.'

/**
 * What a supervisor does to the conversation: tells the agent something, has it say something, takes the caller over and gives
 * them back. Meanwhile the caller's turns are logged and not answered.
 */
export function supervisor(): ConversationStage {
  let waiting: { seq: number; text: string }[] = []
  /** The first sound of the running one was heard: it waits no more. */
  let begun = false

  const dealtWith = (...inputs: number[]): Order[] =>
    inputs.length === 0 ? [] : [{ type: 'tell', event: { type: 'inputs_taken', inputs } }]
  const note = (event: CallEvent): Order[] => {
    const text = noteOf(event)
    return text === undefined ? [] : [{ type: 'note', role: 'system', text }]
  }

  const takeOver = (event: CallEvent): Signal[] => {
    const unsaid = waiting.map(({ seq }) => seq)
    waiting = []
    begun = false
    return [
      ...dealtWith(event.seq, ...unsaid),
      ...note(event),
      { type: 'suppress_output', on: true },
      { type: 'taken_over', on: true },
    ]
  }
  const giveBack = (event: CallEvent, { takenOver }: ConversationState): Signal[] => {
    if (!takenOver) return dealtWith(event.seq)
    return [
      ...dealtWith(event.seq),
      ...note(event),
      { type: 'suppress_output', on: false },
      { type: 'taken_over', on: false },
      { type: 'awaited' },
      { type: 'continue_reply', instructions: BACK },
    ]
  }
  const say = (
    { seq, text }: CallEvent & EventOf<'supervisor_said'>,
    { takenOver, muted }: ConversationState,
  ): Signal[] => {
    // One who talks with the caller says it with their own voice.
    if (takenOver || muted || text.trim() === '') return dealtWith(seq)
    if (waiting.length === MAX_WAITING) return dealtWith(seq)
    waiting.push({ seq, text })
    return [{ type: 'say', text, purpose: 'supervisor', interruptible: true, remembered: true }]
  }

  /** Of a caller who talks with the supervisor: the language model will need it when it has them back. */
  const noted = (turn: SpokenTurn): StageResult => {
    return consume({ type: 'note', role: 'user', text: turn.text }, { type: 'caller_turn', turn })
  }
  const ofCaller = (event: CallEvent, nowMs: number): StageResult | undefined => {
    if (event.type === 'key') return consume(...dealtWith(event.seq))
    if (event.type !== 'typed') return undefined
    const turn = { text: event.text, startMs: nowMs, endMs: nowMs, inputs: [event.seq] }
    return event.text.trim() === '' ? consume(...dealtWith(event.seq)) : noted(turn)
  }

  const onInput = (event: CallEvent, state: ConversationState, nowMs: number): StageResult | undefined => {
    switch (event.type) {
      case 'whispered':
        return consume(...note(event), ...dealtWith(event.seq))
      case 'supervisor_said':
        return consume(...say(event, state))
      case 'took_over':
        return consume(...takeOver(event))
      case 'gave_back':
        return consume(...giveBack(event, state))
      default:
        return state.takenOver ? ofCaller(event, nowMs) : undefined
    }
  }

  return {
    name: 'supervisor',
    on(report, state, nowMs) {
      switch (report.type) {
        case 'begin':
          return state.takenOver
            ? emit({ type: 'suppress_output', on: true }, { type: 'taken_over', on: true })
            : undefined
        case 'input':
          return onInput(report.event, state, nowMs)
        case 'turn_over':
          return state.takenOver ? noted(report.turn) : undefined
        case 'voice_started': {
          // From its first sound on it is what the agent says: another worker says only the rest of it.
          if (report.purpose !== 'supervisor') return undefined
          const first = waiting.shift()
          if (first === undefined) return undefined
          begun = true
          return emit({ type: 'tell', event: { type: 'said', text: first.text } }, ...dealtWith(first.seq))
        }
        case 'speech_over': {
          if (report.purpose !== 'supervisor') return undefined
          const unsaid = begun ? undefined : waiting.shift()
          begun = false
          return unsaid === undefined ? undefined : emit(...dealtWith(unsaid.seq))
        }
        default:
          return undefined
      }
    },
  }
}
