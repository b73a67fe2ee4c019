/** What travels with a call as Telnyx's `client_state`, and comes back in its webhooks and at the start of its stream. */
interface CallState {
  callId: string
  /** Lets the stream in, once. */
  token: string
}

export function writeState(state: CallState): string {
  return Buffer.from(JSON.stringify([state.callId, state.token])).toString('base64')
}

/** Empty fields for what is no state of ours. */
export function readState(text: string): CallState {
  try {
    const [callId, token] = JSON.parse(Buffer.from(text, 'base64').toString()) as unknown[]
    if (typeof callId === 'string' && typeof token === 'string') return { callId, token }
  } catch {
    // Another application's state.
  }
  return { callId: '', token: '' }
}
