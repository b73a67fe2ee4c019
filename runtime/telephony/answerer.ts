/** Who picked up an outbound call. `screening`: an assistant that asks who is calling before it lets a human decide. */
export type Answerer = 'human' | 'machine' | 'screening' | 'unknown'

/** What the agent does once an answering machine has picked up. */
export type VoicemailBehaviour = 'hang_up' | 'leave_message' | 'continue'
export const VOICEMAIL_BEHAVIOURS = ['hang_up', 'leave_message', 'continue'] as const satisfies VoicemailBehaviour[]

/** What a caller says to the question whether the call may be recorded. */
export type Consent = 'given' | 'refused' | 'unanswered'
