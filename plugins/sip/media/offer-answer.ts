import { isIPv6 } from 'node:net'
import type { Direction, MediaDescription, SessionDescription } from './sdp.ts'

/** Offer and answer (RFC 3264) of one audio stream with telephone events (RFC 4733). Pure. */

export const CODECS = ['PCMU', 'PCMA'] as const
export type CodecName = (typeof CODECS)[number]
const PAYLOAD_TYPES: Readonly<Record<CodecName, number>> = { PCMU: 0, PCMA: 8 }
/** What our offers call telephone events: the number everyone uses. */
const EVENT_PAYLOAD_TYPE = 101
const EVENTS = 'TELEPHONE-EVENT/8000'

/** Both sides' terms of the audio stream. */
export interface Agreement {
  /** Where the other side wants its audio. */
  readonly address: string
  readonly port: number
  readonly rtcpPort: number
  readonly codec: CodecName
  readonly payloadType: number
  /** Payload type of telephone events; undefined: the other side has none. */
  readonly eventPayloadType: number | undefined
  /** What we may do: on `recvonly` and `inactive` nothing is sent. */
  readonly direction: Direction
}

/** This side of the stream. */
export interface LocalMedia {
  address: string
  port: number
  /** Stays for the call; the version counts changes of the description. */
  sessionId: number
  version: number
}

const MIRRORED: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
}

/** What we take of an offer, or what an answer took of ours; undefined when there is no audio both sides speak. */
export function agree(description: SessionDescription, codecs: readonly CodecName[]): Agreement | undefined {
  const media = description.media.find((one) => isUsable(one) && codecOf(one, codecs) !== undefined)
  const chosen = media === undefined ? undefined : codecOf(media, codecs)
  if (media === undefined || chosen === undefined) return undefined
  const events = [...media.encodings].find(
    ([type, encoding]) => encoding === EVENTS && media.formats.includes(String(type)),
  )
  // The hold of RFC 2543: an address of zeros.
  const held = media.address === '0.0.0.0' || media.address === '::'
  return {
    address: media.address,
    port: media.port,
    // That an offer would take both on one port (RFC 5761) counts for nothing unless the answer says so, too.
    rtcpPort: media.rtcpPort ?? media.port + 1,
    codec: chosen.codec,
    payloadType: chosen.type,
    eventPayloadType: events?.[0],
    direction: held ? 'inactive' : MIRRORED[media.direction],
  }
}

function isUsable(media: MediaDescription): boolean {
  return media.media === 'audio' && media.port !== 0 && media.address !== '' && /^RTP\/AVPF?$/.test(media.protocol)
}

/** The first codec of the other side's list that we have, too: it prefers that. */
function codecOf(media: MediaDescription, codecs: readonly CodecName[]) {
  for (const format of media.formats) {
    const codec = codecs.find((one) => media.encodings.get(Number(format)) === `${one}/8000`)
    if (codec !== undefined) return { codec, type: Number(format) }
  }
  return undefined
}

/** Our offer. */
export function writeOffer(
  local: LocalMedia,
  codecs: readonly CodecName[],
  eventPayloadType = EVENT_PAYLOAD_TYPE,
): string {
  const types = [...codecs.map((codec) => PAYLOAD_TYPES[codec]), eventPayloadType]
  return [
    ...sessionLines(local),
    `m=audio ${local.port} RTP/AVP ${types.join(' ')}`,
    ...codecs.map((codec) => `a=rtpmap:${PAYLOAD_TYPES[codec]} ${codec}/8000`),
    ...eventLines(eventPayloadType),
    'a=ptime:20',
    'a=sendrecv',
    '',
  ].join('\r\n')
}

/** Our answer: the agreed audio, everything else refused with port 0, in the offer's order. */
export function writeAnswer(offer: SessionDescription, agreement: Agreement, local: LocalMedia): string {
  const index = offer.media.findIndex((one) => one.port === agreement.port && isUsable(one))
  const lines = offer.media.flatMap((media, at) => {
    if (at !== index) return [`m=${media.media} 0 ${media.protocol} ${media.formats.join(' ')}`]
    const { payloadType, codec, eventPayloadType } = agreement
    const types = eventPayloadType === undefined ? [payloadType] : [payloadType, eventPayloadType]
    return [
      `m=audio ${local.port} ${media.protocol} ${types.join(' ')}`,
      `a=rtpmap:${payloadType} ${codec}/8000`,
      ...(eventPayloadType === undefined ? [] : eventLines(eventPayloadType)),
      'a=ptime:20',
      `a=${agreement.direction}`,
    ]
  })
  return [...sessionLines(local), ...lines, ''].join('\r\n')
}

function eventLines(type: number): string[] {
  return [`a=rtpmap:${type} telephone-event/8000`, `a=fmtp:${type} 0-15`]
}

function sessionLines(local: LocalMedia): string[] {
  const address = `IN ${isIPv6(local.address) ? 'IP6' : 'IP4'} ${local.address}`
  return ['v=0', `o=patchbay ${local.sessionId} ${local.version} ${address}`, 's=patchbay', `c=${address}`, 't=0 0']
}
