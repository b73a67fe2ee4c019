import { EventEmitter, once } from 'node:events'
import { openRealtime, type RealtimeSession } from '../../../scripts/demo/realtime.ts'
import type { RestClient, SessionToken } from '../../../scripts/demo/rest.ts'
import { withRoom } from '../../../scripts/demo/with-room.ts'

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
  return withRoom(async () => {
    const token = await rest.send<SessionToken>('GET', `/calls/generate-token?agent_id=${agentId}`)
    const told = new EventEmitter()
    const started = once(told, 'session.started').then(() => undefined)
    const ended = once(told, 'session.ended')
    const closed = once(told, 'closed').then(([code]) => `closed with ${code}`)
    const address = new URL(token.realtime_url)
    address.host = new URL(url).host
    const session = await openRealtime(address.href, {
      message: (message) => void told.emit(message.type, message),
      audio: () => {},
      closed: (code) => void told.emit('closed', code),
    })
    const fault = await Promise.race([started, ended.then(([{ reason }]) => String(reason)), closed])
    if (fault !== undefined) throw new Error(`The session ended before it started: ${fault}`)
    return { session, told, ended, callId: token.call_log_id }
  })
}
