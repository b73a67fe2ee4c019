/**
 * A leg is one human's media connection: a realtime WebSocket, a WebRTC transport, a phone call. It lives in an api
 * node, never in a voice worker. The session joins a leg to a conversation over the link.
 */

export type Encoding = 'pcm_s16le' | 'pcmu' | 'pcma' | 'opus'

export interface AudioFormat {
  encoding: Encoding
  sampleRateHz: number
}

export type AgentState = 'listening' | 'thinking' | 'speaking'

/** What a leg tells its session. */
export interface LegEvents {
  /**
   * Audio of the caller in the leg's format; `bytes` is valid during the call only. `timestamp` counts samples at the
   * leg's rate and skips what was lost.
   */
  audio(bytes: Uint8Array, timestamp: number): void
  /** A typed turn. */
  text(text: string): void
  dtmf(digit: string): void
  /** Playback reached the mark. */
  played(markId: number): void
  /** The caller is gone or hung up. Sent once; nothing follows. */
  ended(reason: LegEndReason): void
}

/** `transferred`: the caller was led to someone else and talks on without us. */
export type LegEndReason = 'caller_hangup' | 'connection_lost' | 'policy_violation' | 'shutdown' | 'transferred'

/** What a session does to its leg. No method throws; after `ended` they do nothing. */
export interface Leg {
  readonly format: AudioFormat
  start(events: LegEvents): void
  /** The agent is there: the call is answered and audio flows. Called once, before anything is sent. */
  answer(): void
  sendAudio(bytes: Uint8Array): void
  /** Drop what is buffered but not played: the caller barged in. */
  clear(): void
  mark(markId: number): void
  agentState(state: AgentState): void
  transcript(entry: { role: 'user' | 'assistant'; text: string; final: boolean; startMs: number; endMs: number }): void
  error(code: string, message: string): void
  /** Presses keys towards the other side; absent: this leg has none. */
  sendDtmf?(keys: string): void
  /** Say why, then close. */
  close(reason: string): void
}
