import { EventEmitter, once } from 'node:events'
import { openRealtime, type RealtimeSession } from '../../scripts/demo/realtime.ts'
import type { RestClient, SessionToken } from '../../scripts/demo/rest.ts'

/** A web call that runs. */
export interface WebCall {
  session: RealtimeSession
  callId: string
  /** Emits each message of the session by its type, and `closed`. */
  told: EventEmitter
  /** Resolves with `session.ended`. */
  ended: Promise<unknown[]>
}

/** Opens a web call with an agent, over the node at `url`, and waits until the agent is there. */
export async function openWebCall(rest: RestClient, agentId: string, url = rest.url): Promise<WebCall> {
  const token = await rest.send<SessionToken>('GET', `/calls/generate-token?agent_id=${agentId}`)
  const told = new EventEmitter()
  const started = once(told, 'session.started')
  const ended = once(told, 'session.ended')
  const address = new URL(token.realtime_url)
  address.host = new URL(url).host
  const session = await openRealtime(address.href, {
    message: (message) => void told.emit(message.type, message),
    audio: () => {},
    closed: () => void told.emit('closed'),
  })
  await started
  return { session, told, ended, callId: token.call_log_id }
}
