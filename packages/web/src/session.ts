import { CallError } from './call-error.ts'

/** What GET /calls/generate-token and POST /public/agents/{agent_id}/session answer; the rest of it is not needed. */
export interface Session {
  realtime_url: string
  /** How audio may go over WebRTC; none: over the WebSocket alone. */
  webrtc?: { ice_servers: RTCIceServer[] } | null
}

/** Opens a session with a public agent. Rejects with `session_refused` or `busy` and the server's sentence. */
export async function publicSession(server: string, agentId: string): Promise<Session> {
  const url = new URL(`/public/agents/${encodeURIComponent(agentId)}/session`, server)
  let response: Response
  try {
    // Without headers of our own the browser asks no permission first: one way there and back less.
    response = await fetch(url, { method: 'POST', credentials: 'omit' })
  } catch (error) {
    throw new CallError('connection_failed', `${url.origin} was not reached`, error)
  }
  const body = (await response.json().catch(() => ({}))) as Partial<Session> & { detail?: unknown }
  if (response.ok && body.realtime_url !== undefined) return body as Session
  const sentence = typeof body.detail === 'string' ? body.detail : `HTTP ${response.status}`
  throw new CallError(response.status === 429 ? 'busy' : 'session_refused', sentence)
}
