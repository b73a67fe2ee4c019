import type { CallEvent, CallEventBody } from '../log/events.ts'
import type { AgentState } from '../types/leg.ts'
import type { SessionEndReason } from '../types/outcome.ts'
import type { AskMethod, AskMethods, OpenSession, Owed, SoundSpan } from './messages.ts'

/** What a conversation may do to its session, over the link. Nothing throws; after `ended` or a close only `tell` is sent. */
export interface SessionPort {
  /** Paced audio in the leg's format: at most one 20 ms frame a tick. `timestamp` counts samples from the answer, by this worker's clock. */
  sendAudio(bytes: Uint8Array, timestamp: number): void
  state(state: AgentState): void
  /**
   * Something happened. It is logged before any later event, and replayed to a worker that takes over.
   * @param sound what of the caller's sound it is about
   */
  tell(event: CallEventBody, sound?: SoundSpan): void
  /** What the requests to providers that are under way will have cost: it counts if this worker is lost. */
  owes(owed: Owed): void
  clear(): void
  mark(id: number): void
  ended(reason: SessionEndReason, error?: string): void
  ask<M extends AskMethod>(
    method: M,
    params: AskMethods[M]['params'],
    signal: AbortSignal,
  ): Promise<AskMethods[M]['result']>
}

/** One conversation of a voice worker: what the link's worker end calls as messages arrive. */
export interface LinkedConversation {
  /** Audio of the caller in the leg's format. `timestamp` counts samples at the leg's rate. */
  audio(bytes: Uint8Array, timestamp: number): void
  /**
   * What the caller, the carrier or a supervisor did: `typed`, `key`, `held`, `unheld`, `answered_by`,
   * `whispered`, `supervisor_said`, `took_over`, `gave_back`. All but `held`, `unheld` and `answered_by` are taken once a `turn`,
   * a `consent` or an `inputs_taken` with its `seq` in `inputs` is reported; otherwise the next worker gets it again.
   */
  input(event: CallEvent): void
  played(markId: number): void
  /** The leg is gone or the api node ends the session. Resolves when everything of it is released. */
  close(reason: string): Promise<void>
}

/** Makes a conversation ready to speak, or throws a PatchbayError that says why it can't. */
export type OpenConversation = (open: OpenSession, port: SessionPort) => Promise<LinkedConversation>
