/**
 * Who picked up an outbound call. `screening`: an assistant that asks who is calling before it lets a human decide;
 * `mailbox_full`: a machine that takes no message; `ivr`: a menu or a queue, behind which a human or a machine may come.
 */
export const ANSWERERS = ['human', 'machine', 'screening', 'mailbox_full', 'ivr', 'fax', 'unknown'] as const
export type Answerer = (typeof ANSWERERS)[number]

/** What the agent does once an answering machine has picked up. */
export type VoicemailBehaviour = 'hang_up' | 'leave_message' | 'continue'
export const VOICEMAIL_BEHAVIOURS = ['hang_up', 'leave_message', 'continue'] as const satisfies VoicemailBehaviour[]

/** What a caller says to the question whether the call may be recorded. */
export type Consent = 'given' | 'refused' | 'unanswered'
