import type { CarrierRequest } from '../../../packages/plugin/telephony.ts'
import type { StreamHandlers, StreamSocket } from './stream/socket.ts'

export type { CarrierRequest } from '../../../packages/plugin/telephony.ts'

/**
 * The HTTP and WebSocket part of a carrier: it learns of calls by requests to `/telephony/<plugin>/…` and
 * streams their media to `/telephony/<plugin>/stream`. Requests there are untrusted until their signature is checked.
 */

/** The addresses of a carrier's requests, without a slash at their ends. */
export interface CarrierEndpoint {
  /** Of all api nodes: `https://voice.example.com/telephony/twilio`. Calls come in here. */
  readonly publicUrl: string
  /** Of this api node: what belongs to a call it holds. The same where there is one node. */
  readonly nodeUrl: string
}

export interface CarrierReply {
  status: 200 | 204
  contentType?: string
  body?: string
}

export interface CarrierWeb {
  /** Throws `forged_request` before anything else when the signature doesn't fit. */
  handle(request: CarrierRequest, signal: AbortSignal): Promise<CarrierReply>
  /** As `handle`, for the request that opens a stream; the function returned is given the open socket. */
  stream(request: StreamRequest): (socket: StreamSocket) => StreamHandlers
}

interface StreamRequest extends Pick<CarrierRequest, 'target' | 'query' | 'header'> {
  /** Where it comes from. */
  readonly address: string
}

/** The addresses under which a carrier may have asked for this target, as they are configured. */
export function publicUrlsOf(door: CarrierEndpoint | undefined, target: string): string[] {
  if (door === undefined) return []
  return [...new Set([door.publicUrl, door.nodeUrl])].map((url) => {
    const { pathname } = new URL(url)
    // A proxy may have taken a prefix off the path, so what follows ours is appended to the address.
    const own = pathname.slice(pathname.lastIndexOf('/telephony/'))
    return url + target.slice(target.indexOf(own) + own.length)
  })
}
