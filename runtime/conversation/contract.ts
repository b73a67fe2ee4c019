import type {
  AskMethod,
  AskMethods,
  OpenSession,
  SessionEndReason,
  Turn,
  TurnLatency,
  Usage,
} from '../link/messages.ts'
import type { AgentState } from '../session/leg.ts'
import type { Answerer, Consent } from '../telephony/answerer.ts'
import type { AnsweredBy } from '../telephony/carrier.ts'

/** What a conversation may do to its session, over the link. Nothing throws; after `ended` or a close only `usage` is sent. */
export interface SessionPort {
  /** Paced audio in the leg's format: at most one 20 ms frame a tick. */
  sendAudio(bytes: Uint8Array, timestamp: number): void
  state(state: AgentState): void
  transcript(turn: Turn, final: boolean): void
  turn(seq: number, turn: Turn): void
  /** The caller hears the first sound of an answer. */
  latency(latency: TurnLatency): void
  heard(seq: number, turn: Turn): void
  clear(): void
  mark(id: number): void
  /** Who picked up an outbound call; told again when it turns out otherwise. */
  answeredBy(by: Answerer): void
  /** What the caller said to the consent message. */
  consent(consent: Consent): void
  usage(usage: Usage): void
  /** A provider failed: what happened and what was done, for the operator. */
  fault(message: string): void
  ended(reason: SessionEndReason, error?: string): void
  ask<M extends AskMethod>(
    method: M,
    params: AskMethods[M]['params'],
    signal: AbortSignal,
  ): Promise<AskMethods[M]['result']>
}

/** One conversation of a voice worker: what the link's worker end calls as messages arrive. */
export interface Conversation {
  /** Audio of the caller in the leg's format. `timestamp` counts samples at the leg's rate. */
  audio(bytes: Uint8Array, timestamp: number): void
  text(text: string): void
  dtmf(digit: string): void
  played(markId: number): void
  /** Who picked up, as the carrier has it. */
  carrierVerdict?(by: AnsweredBy): void
  /** The leg is gone or the api node ends the session. Resolves when everything of it is released. */
  close(reason: string): Promise<void>
}

/** Makes a conversation ready to speak, or throws a PatchbayError that says why it can't. */
export type OpenConversation = (open: OpenSession, port: SessionPort) => Promise<Conversation>
