export type CallErrorCode =
  /** The visitor said no, or the browser or the page's frame does. */
  | 'microphone_denied'
  | 'microphone_missing'
  /** Another program holds it. */
  | 'microphone_busy'
  /** Microphones need https, or localhost. */
  | 'insecure_page'
  | 'unsupported_browser'
  /** No session was given: the server's sentence is the message. */
  | 'session_refused'
  /** As many calls as the agent, or this address, may have; later there is room. */
  | 'busy'
  | 'connection_failed'
  /** The server took something not: the message says what. */
  | 'server'

/** Why a call could not begin, or what of it went wrong. */
export class CallError extends Error {
  readonly code: CallErrorCode

  constructor(code: CallErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CallError'
    this.code = code
  }
}
