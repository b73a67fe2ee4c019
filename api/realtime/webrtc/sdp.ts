/**
 * Session descriptions (RFC 8866, RFC 8829) of a call with a browser: one we offer, with one line of Opus both ways, and of the answer
 * just what we need. Pure.
 */

export const OPUS_PAYLOAD_TYPE = 111
/** An answer of a browser has two or three thousand characters. */
export const MAX_SDP_CHARACTERS = 16_384

interface OfferParts {
  /** The same for the life of a transport: a new one needs a new peer connection. */
  sessionId: string
  /** Grows with each offer of it. */
  version: number
  ice: { usernameFragment: string; password: string }
  candidates: readonly {
    foundation: string
    priority: number
    address: string
    protocol: 'udp' | 'tcp'
    port: number
    tcpType?: string
  }[]
  /** SHA-256, as `AB:CD:…`. */
  fingerprint: string
  /** Of the agent's voice. */
  ssrc: number
  cname: string
  /** Both sides of a call are sent, one in each channel. */
  stereo?: boolean
}

/** What we ask a browser to agree to. */
export function offerOf(parts: OfferParts): string {
  const { sessionId, version, ice, candidates, fingerprint, ssrc, cname, stereo = false } = parts
  const pt = OPUS_PAYLOAD_TYPE
  return [
    'v=0',
    `o=- ${sessionId} ${version} IN IP4 0.0.0.0`,
    's=-',
    't=0 0',
    'a=ice-lite',
    'a=group:BUNDLE 0',
    'a=msid-semantic: WMS agent',
    `m=audio 7 UDP/TLS/RTP/SAVPF ${pt}`,
    'c=IN IP4 0.0.0.0',
    'a=rtcp:9 IN IP4 0.0.0.0',
    'a=mid:0',
    'a=sendrecv',
    'a=rtcp-mux',
    'a=rtcp-rsize',
    `a=rtpmap:${pt} opus/48000/2`,
    `a=fmtp:${pt} minptime=10;useinbandfec=1;stereo=0${stereo ? ';sprop-stereo=1' : ''}`,
    'a=ptime:20',
    `a=ice-ufrag:${ice.usernameFragment}`,
    `a=ice-pwd:${ice.password}`,
    'a=ice-options:renomination',
    `a=fingerprint:sha-256 ${fingerprint}`,
    'a=setup:actpass',
    `a=msid:agent agent-audio`,
    `a=ssrc:${ssrc} cname:${cname}`,
    ...candidates.map(
      ({ foundation, priority, address, protocol, port, tcpType }) =>
        `a=candidate:${foundation} 1 ${protocol} ${priority} ${address} ${port} typ host${tcpType === undefined ? '' : ` tcptype ${tcpType}`}`,
    ),
    'a=end-of-candidates',
    '',
  ].join('\r\n')
}

interface AnswerParts {
  fingerprint: { algorithm: 'sha-256' | 'sha-384' | 'sha-512'; value: string }
  /** Which side opens DTLS, as the browser has it. */
  role: 'client' | 'server'
  /** Of the caller's voice; undefined: the browser sends none. */
  ssrc: number | undefined
  cname: string | undefined
}

const FINGERPRINT = /^a=fingerprint:(sha-256|sha-384|sha-512) ((?:[0-9A-Fa-f]{2}:){31,63}[0-9A-Fa-f]{2})\s*$/m

/** The relevant parts of an answer; undefined if it doesn't fit our offer. */
export function readAnswer(sdp: string): AnswerParts | undefined {
  if (sdp.length > MAX_SDP_CHARACTERS) return undefined
  const [, algorithm, value] = FINGERPRINT.exec(sdp) ?? []
  const [, port] = /^m=audio (\d{1,5}) \S+ (?:\d{1,3} )*111(?: |\s*$)/m.exec(sdp) ?? []
  const [, setup] = /^a=setup:(active|passive)\s*$/m.exec(sdp) ?? []
  if (algorithm === undefined || value === undefined || port === undefined || port === '0' || setup === undefined) {
    return undefined
  }
  const isMute = /^a=(?:recvonly|inactive)\s*$/m.test(sdp)
  const [, ssrc, cname] = /^a=ssrc:(\d{1,10}) cname:(\S{1,255})/m.exec(sdp) ?? []
  const number = Number(ssrc)
  // A voice announced without its SSRC can't be identified.
  if (!isMute && !(number > 0 && number <= 0xffffffff)) return undefined
  return {
    fingerprint: { algorithm: algorithm as AnswerParts['fingerprint']['algorithm'], value: value.toUpperCase() },
    role: setup === 'active' ? 'client' : 'server',
    ssrc: isMute ? undefined : number,
    cname,
  }
}
