/** What the agent says without its model, and texts that are ready to be chosen. */
export interface Phrases {
  /** No answer could be made; the caller may try again. */
  sayAgain: string
  /** The caller spoke, and no words came of it. */
  didNotCatch: string
  /** No recogniser can be had just now. */
  cannotHear: string
  /** The caller says nothing at all. */
  stillThere: string
  /** An answer is late. */
  oneMoment: string
  /** It is later still. */
  stillHere: string
  /** The agent hangs up without having said so. */
  bye: string
  /** The call can't go on. */
  goodbye: string
  /** The caller is being put through. */
  transferring: string
  /** Asks a transfer's target to take the call, after saying who calls and why. */
  takeCall: string
  /** The transfer's target could not be reached. */
  transferFailed: string
  /** The longest time of a call is over in some seconds. */
  almostOver: string
  /** In place of an answer that its guardrails refused twice. */
  cannotSay: string
  /** Says that an AI speaks. */
  disclosure: string
  /** Ready texts: says that the call is recorded. */
  recordingNotice: string
  /** Asks whether the call may be recorded. */
  recordingConsent: string
  /** Left on an answering machine. */
  voicemail: string
  /** Said to a callee while no agent is free; holds `{{workspace}}` and `{{from_number}}`. */
  abandoned: string
}

/** The names of the phrases that an agent may replace by its own: those that a call says by itself. */
export const OWN_PHRASES = [
  'sayAgain',
  'didNotCatch',
  'cannotHear',
  'stillThere',
  'oneMoment',
  'stillHere',
  'bye',
  'goodbye',
  'transferring',
  'takeCall',
  'transferFailed',
  'almostOver',
  'cannotSay',
  'disclosure',
] as const satisfies readonly (keyof Phrases)[]
export type OwnPhrase = (typeof OWN_PHRASES)[number]

/** Of a language that the runtime doesn't speak: nothing is said by itself. */
export const NO_PHRASES: Phrases = {
  sayAgain: '',
  didNotCatch: '',
  cannotHear: '',
  stillThere: '',
  oneMoment: '',
  stillHere: '',
  bye: '',
  goodbye: '',
  transferring: '',
  takeCall: '',
  transferFailed: '',
  almostOver: '',
  cannotSay: '',
  disclosure: '',
  recordingNotice: '',
  recordingConsent: '',
  voicemail: '',
  abandoned: '',
}
