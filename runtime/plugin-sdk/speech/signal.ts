import type { stt } from '@livekit/agents'

/** What a recogniser knows besides words, and LiveKit's events have no place for. */
export type SpeechSignal =
  /** The turn is probably over: an answer may be prepared. Comes with PREFLIGHT_TRANSCRIPT, whose words are the turn's. */
  | { type: 'eager_end_of_turn' }
  /** It was not over: what was prepared is void. Comes with INTERIM_TRANSCRIPT. */
  | { type: 'turn_resumed' }
  /** It is over. Comes with FINAL_TRANSCRIPT. */
  | { type: 'end_of_turn' }
  /** Speech that matches no known sentence, with advice for the operator. Sent with END_OF_SPEECH. */
  | { type: 'unknown_sentence'; message: string }

export interface SignalledEvent extends stt.SpeechEvent {
  signal?: SpeechSignal
}

/** The signal of an event; undefined without one. */
export const signalOf = (event: stt.SpeechEvent): SpeechSignal | undefined => (event as SignalledEvent).signal

/** A recogniser that needs a while before it can hear: until then its silence says nothing, and audio waits in it. */
export interface Preparing {
  readonly ready: Promise<unknown>
}
