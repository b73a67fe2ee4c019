import type { MediaServer } from './media-server.ts'
import type { WebRtcState } from './webrtc.ts'

/** What is looked at, as of `WebRtc`. */
interface DiagnosedWebRtc {
  readonly standing: { state: WebRtcState; sentence: string }
  readonly server: Pick<MediaServer, 'port' | 'addresses' | 'restarts' | 'workerPid'> | undefined
  readonly sessions: number
}

interface WebRtcFinding {
  ok: boolean
  text: string
}

/** Networks behind NAT (RFC 1918), this machine, and links without a network (RFC 3927). */
const PRIVATE = /^(?:10\.|127\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)/

/** How WebRTC stands on this node and what it needs, a sentence each: for `patchbay doctor webrtc`. */
export function diagnoseWebRtc({ standing, server, sessions }: DiagnosedWebRtc): WebRtcFinding[] {
  const findings = [{ ok: standing.state !== 'unavailable', text: standing.sentence }]
  if (server === undefined) return findings
  const ports = server.port === 0 ? 'PATCHBAY_WEBRTC_PORT, once it is set,' : `port ${server.port}, UDP and TCP,`
  findings.push({ ok: true, text: `Browsers need ${ports} of this node: let it through the firewall` })
  const { addresses } = server
  const cure = addresses.every((address) => PRIVATE.test(address))
    ? '; who is elsewhere reaches none of them: set PATCHBAY_WEBRTC_PUBLIC_ADDRESS to this node’s public one'
    : ''
  findings.push({ ok: true, text: `Browsers are told ${addresses.join(', ')}${cure}` })
  const { workerPid, restarts } = server
  const deaths = restarts === 0 ? 'has not died yet' : `died ${restarts} times and was replaced`
  findings.push({ ok: true, text: `The media worker (process ${workerPid}) carries ${sessions} calls and ${deaths}` })
  return findings
}
