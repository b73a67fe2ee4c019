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

/** What the other side does while it holds the call: `sendonly` plays something, `inactive` sends nothing. */
type HoldDirection = 'sendonly' | 'inactive'

/** The quality of a line since its beginning. */
export interface MediaFigures {
  codec?: string
  /** Of the other side's packets, those that never came: 0–1. */
  loss?: number
  jitterMs?: number
  rttMs?: number
  /** ITU-T G.107, 1–4.5. */
  mos?: number
  /** Packets that came. */
  packets?: number
  /** One side hears nothing: we of the other (`nothing_heard`), or the other of us (`not_heard`). */
  oneWay?: 'nothing_heard' | 'not_heard'
  /** Packets that came too late, and those dropped because a way was full. */
  late?: number
  dropped?: number
  /** Losses that come together, which nothing conceals, and those between (RFC 3611, section 4.7.2): shares 0–1, mean lengths. */
  burstDensity?: number
  burstMs?: number
  gapDensity?: number
  gapMs?: number
}

/** Who may end a call. */
export const RELEASERS = ['caller', 'callee', 'carrier', 'network', 'patchbay'] as const

/** A call as its carrier has it. */
export interface CarrierFigures {
  /** What the carrier calls it: of a SIP call its Call-ID. */
  callId?: string
  trunk?: string
  /** The last answer to the INVITE. */
  sipStatus?: number
  /** Why it ended, in the words of ITU-T Q.850. */
  q850?: number
  releasedBy?: (typeof RELEASERS)[number]
  /** What an unanswered call came to: one of FAILURE_CAUSES. */
  cause?: string
  /** Where one objects to a block: a URL, a number or an e-mail address. */
  redress?: string
  /** From dialling to the first sign of ringing, or to the answer. */
  pddMs?: number
}

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
  /** The other side put the call on hold: it hears nothing, and nothing it sends until `resumed` is its voice. */
  held?(direction: HoldDirection): void
  /** The other side is back. */
  resumed?(): void
  /** How the line is: now and then, and once more at the end. */
  media?(figures: MediaFigures): void
  /** What the carrier knows of the call, as soon as it is known; once more when it ends. */
  carrier?(figures: CarrierFigures): void
  /** The caller is gone or hung up. Sent once; nothing follows. */
  ended(reason: LegEndReason): void
}

/** `transferred`: the caller was led to someone else and talks on without us. */
export type LegEndReason = 'caller_hangup' | 'connection_lost' | 'policy_violation' | 'shutdown' | 'transferred'

/** A function of the caller's page that the agent calls. `id` is new in the call for each call of it. */
export interface PageCall {
  id: string
  name: string
  arguments: Record<string, unknown>
  timeoutMs: number
}

/** What the page's function returned, as JSON, or what went wrong, in words. */
export type PageResult = { result: string } | { error: string }

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
  /** Calls a function of the page; never rejects. Absent: there is no page. */
  callPage?(call: PageCall): Promise<PageResult>
  /** Live audio of another human for the caller, with a short bounded queue. Absent: `sendAudio`. */
  relayAudio?(bytes: Uint8Array): void
  /** It rings at this number: heard wherever the agent says nothing. Undefined: no more. Absent: silence. */
  ringing?(number: string | undefined): void
  /** Music while the caller waits for a human, audible where the agent is silent. Absent: two notes at intervals. */
  music?(on: boolean): void
  /** Say why, then close. */
  close(reason: string): void
}
