import type { SoundSpan } from '../../call/link/messages.ts'
import type { CallEvent, CallEventBody, EventOf } from '../../call/log/events.ts'
import type { AgentState } from '../../call/types/leg.ts'
import type { SessionEndReason } from '../../call/types/outcome.ts'
import type { CollectState } from '../collecting/collecting.ts'
import type { ReadingContext } from '../collecting/reading.ts'

/** What a piece of the agent's speech is for. */
export type Purpose =
  /** A reply of the language model. */
  | 'reply'
  | 'notice'
  | 'consent'
  | 'first_message'
  /** What is left on an answering machine. */
  | 'voicemail'
  /** No answer could be made. */
  | 'apology'
  /** A question of the agent's own, out of a silence: whether the caller is still there, or can say it again. */
  | 'prompt'
  /** Asks for a value, or reads it back. */
  | 'collect'
  /** A fixed step of a procedure. */
  | 'step'
  /** A supervisor's words. */
  | 'supervisor'
  | 'goodbye'

/** When sound of the caller arrived, from the first to the last, in monotonic milliseconds. */
export interface Spoken {
  startMs: number
  endMs: number
  /** Which of their sound it is; undefined: none. */
  sound?: SoundSpan
}

/** What the caller said. */
export interface SpokenTurn extends Spoken {
  text: string
  language?: string
  /** The typed turns and keys it was made of: it was not spoken. */
  inputs?: readonly number[]
}

/**
 * Signals between the stages of a conversation. Times are monotonic milliseconds unless they are fields of an event of the
 * call.
 */
export type Signal = Report | Order

/** Reports of the devices, and of stages to each other. */
export type Report =
  /** The conversation runs. */
  | { type: 'begin' }
  /** Time passed: the only timer of the stages. */
  | { type: 'tick' }
  /** What the caller, the carrier or a supervisor did, from the api node. */
  | { type: 'input'; event: CallEvent }
  /** The caller's voice. */
  | { type: 'speech_started'; atMs: number }
  | { type: 'speech_ended'; atMs: number }
  /** Words of the caller, as they are recognised, also those that are no turn. */
  | ({ type: 'heard_words'; text: string; final: boolean; language?: string } & Spoken)
  /** Words over the agent's speech that are no turn yet: a backchannel, or interruption is disabled. */
  | ({ type: 'over_speech'; text: string; language?: string } & Spoken)
  /** Noise: no words are expected. */
  | { type: 'noise' }
  /** Speech without words. */
  | ({
      type: 'no_words'
      reason: 'no_words' | 'stt_failed' | 'unknown_sentence'
      /** For an operator: what can be done about it. */
      message?: string
    } & Spoken)
  /** Words of speech that ended then are overdue. */
  | { type: 'words_overdue'; endMs: number }
  /** STT is unavailable since `sinceMs`; undefined: available again. */
  | { type: 'stt_unavailable'; sinceMs: number | undefined }
  /** An answering machine's tone. */
  | { type: 'beep'; atMs: number }
  | { type: 'fax'; atMs: number }
  /**
   * The caller's turn is over. `kept`: a stage had it, and the language model is yet to be asked. `groups`: its text, with commas where
   * they paused.
   */
  | { type: 'turn_over'; turn: SpokenTurn; kept: boolean; groups?: string }
  /** A turn of the caller for the call's log, in its place behind what the agent said before. */
  | { type: 'caller_turn'; turn: SpokenTurn }
  /** The language model wants a value of the caller's, and `id` is the call of its tool; or a fixed step does, which `insists`. */
  | { type: 'collect'; id: string; name: string; insists?: boolean }
  /** A value that a procedure wanted is known to all who need it, or was given up. */
  | { type: 'collect_over'; id: string; status: EventOf<'collected'>['status'] }
  /** The caller waits for the agent, from now on. */
  | { type: 'awaited' }
  /** The greeting is over. `before`: another worker had finished it. */
  | { type: 'greeted'; before: boolean }
  /** A machine has the call: the agent stops answering. */
  | { type: 'muted' }
  /** The caller is being led to another person, and hears music or ringing; or no longer. */
  | { type: 'transferring'; on: boolean }
  /** A supervisor talks with the caller from here on, or no longer. */
  | { type: 'taken_over'; on: boolean }
  | { type: 'agent_state'; state: AgentState }
  /** The first frame of a piece of the agent's speech leaves, and its first sound. */
  | { type: 'voice_started'; purpose: Purpose }
  | { type: 'audible'; atMs: number; purpose: Purpose }
  /** The agent has fallen silent: what the caller heard of what it said. */
  | { type: 'voice_ended'; text: string; startMs: number; endMs: number; interrupted: boolean }
  /** The part of the running speech that was heard so far. */
  | { type: 'voice_progress'; text: string; startMs: number; endMs: number }
  /** A piece of speech is over, heard or not. `hangsUp`: the language model wants the call to end with it. */
  | { type: 'speech_over'; purpose: Purpose; interrupted: boolean; hangsUp: boolean }
  /** The language model gave the first words of an answer. */
  | { type: 'first_text'; atMs: number }
  /** What was said out of turn is over. */
  | { type: 'filler_over' }
  /** Something is said to its end from here on, or no longer. */
  | { type: 'uninterruptible'; on: boolean }
  /** No provider of a stage answered; what was to be said is not, or no more is heard. */
  | { type: 'unanswered'; stage: 'stt' | 'llm' | 'tts'; why: string | undefined; hopeless: boolean; purpose: Purpose }
  /** The language model began a procedure that has fixed steps. */
  | { type: 'procedure_begun'; id: string; name: string }
  /** A tool that a stage had run has returned. */
  | { type: 'tool_over'; output: string }
  /** The conversation closes: pending events are reported now. */
  | { type: 'closing' }

/** Orders of a stage to the devices. */
export type Order =
  /** It goes into the call's log. `sound`: which of the caller's it is about. */
  | { type: 'tell'; event: CallEventBody; sound?: SoundSpan }
  /** Says a text. Not `interruptible`: it is always played to its end. Not `remembered`: kept from the language model. */
  | { type: 'say'; text: string; purpose: Purpose; interruptible: boolean; remembered: boolean }
  /** Has the language model answer the caller; interrupts other speech. */
  | { type: 'answer'; text: string; spoken: boolean }
  /** Has the language model continue: from the turns as they are, or with `instructions`. */
  | { type: 'continue_reply'; instructions?: string }
  /** Interrupts running and queued speech. `force`: true includes uninterruptible speech; `keep_uninterruptible` does nothing while such is played. */
  | { type: 'interrupt'; force: boolean | 'keep_uninterruptible' }
  /** Interrupts everything and suppresses output from here on; or allows it again. */
  | { type: 'suppress_output'; on: boolean }
  /** Adds to the language model's context without a reply: the caller's words, or a note they don't hear. */
  | { type: 'note'; role: 'user' | 'system'; text: string }
  /** Calls a tool of the agent without its model, once for each `id`; `tool_over` says what came of it. */
  | { type: 'run_tool'; id: string; name: string; arguments: Record<string, unknown> }
  /** A value is being collected; undefined: none is any more. */
  | { type: 'collecting'; state: CollectState | undefined; context: ReadingContext }
  /** What came of it, for the language model, which goes on where nothing else is collected. `secret`: for the api node alone. */
  | { type: 'collected'; event: EventOf<'collected'>; continues: boolean; secret?: { name: string; value: string } }
  /** Synthesises a phrase that may be needed soon. */
  | { type: 'prepare_filler'; text: string }
  | { type: 'play_filler'; text: string }
  | { type: 'stop_filler' }
  | { type: 'end'; reason: SessionEndReason; error?: string }

const ORDERS: ReadonlySet<string> = new Set([
  'tell',
  'say',
  'answer',
  'continue_reply',
  'interrupt',
  'suppress_output',
  'note',
  'collecting',
  'collected',
  'run_tool',
  'prepare_filler',
  'play_filler',
  'stop_filler',
  'end',
] satisfies Order['type'][])

export const isOrder = (signal: Signal): signal is Order => ORDERS.has(signal.type)
