import { isIPv6 } from 'node:net'
import { LINE_CODECS, type LineCodecName } from '../../../runtime/media/codecs/line-codec.ts'
import type { PayloadTypes } from './payload-types.ts'
import type { CryptoLine, Direction, MediaDescription, SessionDescription } from './sdp.ts'
import { MASTER_KEY_BYTES, MASTER_SALT_BYTES, SRTP_SUITES, type SrtpSuite } from './srtp.ts'

/** Offer and answer (RFC 3264) of one audio stream with telephone events (RFC 4733). Pure. */

export type CodecName = LineCodecName
const DEFAULT_PTIME_MS = 20
/** What telephone events count where the other side has none that count as its audio does: many phones say so beside Opus. */
const COMMON_EVENT_CLOCK_HZ = 8_000

/** Whether media are encrypted with keys in the descriptions (RFC 4568). */
export type MediaEncryption = 'off' | 'optional' | 'required'

/** Terms of an encrypted stream: each side's master key and salt for what it sends. */
export interface SrtpTerms {
  readonly suite: SrtpSuite
  readonly tag: string
  readonly ours: Buffer
  readonly theirs: Buffer
  /** Of the identifier of their key in each packet. */
  readonly theirMkiBytes: number
}

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
  /**
   * What packets to us may hold at any time besides, by the payload types that we named (RFC 3264, section 5.1); before those
   * of the other side.
   */
  readonly received?: ReadonlyMap<number, CodecName | 'events'>
  /** What the durations of events count; absent: as the audio does. */
  readonly eventClockHz?: number
  /** Undefined: the media are plain. */
  readonly srtp?: SrtpTerms
  /** How much a packet of ours holds. */
  readonly ptimeMs: number
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
  /** Our side of an encrypted stream; absent: plain alone. */
  srtp?: { encryption: Exclude<MediaEncryption, 'off'>; key: Buffer }
}

const MIRRORED: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
}

/**
 * What we take of an offer, or what an answer took of ours; undefined when there is no audio both sides speak.
 *
 * @param named the payload types of our offer, to which this is the answer
 */
export function agree(
  description: SessionDescription,
  codecs: readonly CodecName[],
  srtp?: LocalMedia['srtp'],
  named?: PayloadTypes,
): Agreement | undefined {
  const usable = description.media.filter((one) => isUsable(one, srtp) && codecOf(one, codecs) !== undefined)
  // Who offers the stream both ways means the encrypted one.
  const media = usable.find((one) => keyOf(one, srtp) !== undefined) ?? usable[0]
  const chosen = media === undefined ? undefined : codecOf(media, codecs)
  if (media === undefined || chosen === undefined) return undefined
  const { clockHz, ptimesMs } = LINE_CODECS[chosen.codec]
  const events = eventsOf(media, clockHz) ?? eventsOf(media, COMMON_EVENT_CLOCK_HZ)
  // The hold of RFC 2543: an address of zeros.
  const held = media.address === '0.0.0.0' || media.address === '::'
  return {
    address: media.address,
    port: media.port,
    // That an offer would take both on one port (RFC 5761) counts for nothing unless the answer says so, too.
    rtcpPort: media.rtcpPort ?? media.port + 1,
    codec: chosen.codec,
    payloadType: chosen.type,
    eventPayloadType: events?.type,
    ...(named === undefined ? {} : { received: receivedIn(media, codecs, named) }),
    ...(events === undefined ? {} : { eventClockHz: events.clockHz }),
    ptimeMs: ptimesMs.findLast((ms) => ms <= (media.ptimeMs ?? DEFAULT_PTIME_MS)) ?? 10,
    ...termsOf(media, srtp),
    direction: held ? 'inactive' : MIRRORED[media.direction],
  }
}

/**
 * What may come to us after an answer to our offer: every codec and the telephone events of the answer, under the numbers that
 * we named, and under the answer's where those mean nothing else.
 */
function receivedIn(
  media: MediaDescription,
  codecs: readonly CodecName[],
  names: PayloadTypes,
): ReadonlyMap<number, CodecName | 'events'> {
  const ours = new Map<number, CodecName | 'events'>()
  const theirs = new Map<number, CodecName | 'events'>()
  for (const format of media.formats) {
    const encoding = media.encodings.get(Number(format)) ?? ''
    const codec = codecs.find((one) => encoding === LINE_CODECS[one].encoding.toUpperCase())
    const clockHz = /^TELEPHONE-EVENT\/(\d{4,6})$/.exec(encoding)?.[1]
    if (codec !== undefined) {
      ours.set(names.codec(codec), codec)
      theirs.set(Number(format), codec)
    } else if (clockHz !== undefined) {
      ours.set(names.events(Number(clockHz)), 'events')
      theirs.set(Number(format), 'events')
    }
  }
  return new Map([...theirs, ...ours])
}

/** The telephone events of a description that count so. */
function eventsOf(media: MediaDescription, clockHz: number): { type: number; clockHz: number } | undefined {
  const wanted = `TELEPHONE-EVENT/${clockHz}`
  for (const [type, encoding] of media.encodings) {
    if (encoding === wanted && media.formats.includes(String(type))) return { type, clockHz }
  }
  return undefined
}

function isUsable(media: MediaDescription, srtp: LocalMedia['srtp']): boolean {
  if (media.media !== 'audio' || media.port === 0 || media.address === '') return false
  const isPlain = /^RTP\/AVPF?$/.test(media.protocol)
  if (!isPlain && !/^RTP\/SAVPF?$/.test(media.protocol)) return false
  return (isPlain && srtp?.encryption !== 'required') || keyOf(media, srtp) !== undefined
}

/** The first key of a suite that we have, where we encrypt; some name one beside plain media, too. */
function keyOf(media: MediaDescription, srtp: LocalMedia['srtp']): (CryptoLine & { suite: SrtpSuite }) | undefined {
  if (srtp === undefined) return undefined
  return media.crypto.find((one): one is CryptoLine & { suite: SrtpSuite } => {
    const isKnown = SRTP_SUITES.some((suite) => suite === one.suite)
    return isKnown && one.key.length === MASTER_KEY_BYTES + MASTER_SALT_BYTES
  })
}

function termsOf(media: MediaDescription, srtp: LocalMedia['srtp']): { srtp?: SrtpTerms } {
  const crypto = keyOf(media, srtp)
  if (crypto === undefined || srtp === undefined) return {}
  return {
    srtp: { suite: crypto.suite, tag: crypto.tag, ours: srtp.key, theirs: crypto.key, theirMkiBytes: crypto.mkiBytes },
  }
}

const cryptoLine = (tag: string, suite: SrtpSuite, key: Buffer): string =>
  `a=crypto:${tag} ${suite} inline:${key.toString('base64')}`

/** The first codec of the other side's list that we have, too: it prefers that. */
function codecOf(media: MediaDescription, codecs: readonly CodecName[]) {
  for (const format of media.formats) {
    const codec = codecs.find((one) => media.encodings.get(Number(format)) === LINE_CODECS[one].encoding.toUpperCase())
    if (codec !== undefined) return { codec, type: Number(format) }
  }
  return undefined
}

/** Our offer. */
export function writeOffer(local: LocalMedia, codecs: readonly CodecName[], names: PayloadTypes): string {
  const own = codecs.map((codec) => names.codec(codec))
  const clocks = [...new Set(codecs.map((codec) => LINE_CODECS[codec].clockHz))]
  const types = [...own, ...clocks.map((clockHz) => names.events(clockHz))]
  return [
    ...sessionLines(local),
    // Plain media with a key beside them: who has no encryption reads over it.
    `m=audio ${local.port} RTP/${local.srtp?.encryption === 'required' ? 'SAVP' : 'AVP'} ${types.join(' ')}`,
    ...(local.srtp === undefined
      ? []
      : SRTP_SUITES.map((suite, i) => cryptoLine(String(i + 1), suite, local.srtp!.key))),
    ...codecs.flatMap((codec) => codecLines(names.codec(codec), codec)),
    ...clocks.flatMap((clockHz) => eventLines(names.events(clockHz), clockHz)),
    `a=ptime:${DEFAULT_PTIME_MS}`,
    'a=sendrecv',
    '',
  ].join('\r\n')
}

/** Our answer: the agreed audio, everything else refused with port 0, in the offer's order. */
export function writeAnswer(offer: SessionDescription, agreement: Agreement, local: LocalMedia): string {
  const isTaken = (one: MediaDescription) =>
    one.port === agreement.port &&
    isUsable(one, local.srtp) &&
    (keyOf(one, local.srtp) !== undefined) === (agreement.srtp !== undefined)
  const index = offer.media.findIndex(isTaken)
  const lines = offer.media.flatMap((media, at) => {
    if (at !== index) return [`m=${media.media} 0 ${media.protocol} ${media.formats.join(' ')}`]
    const { payloadType, codec, eventPayloadType, eventClockHz = LINE_CODECS[codec].clockHz, srtp } = agreement
    const types = eventPayloadType === undefined ? [payloadType] : [payloadType, eventPayloadType]
    return [
      `m=audio ${local.port} ${media.protocol} ${types.join(' ')}`,
      ...(srtp === undefined ? [] : [cryptoLine(srtp.tag, srtp.suite, srtp.ours)]),
      ...codecLines(payloadType, codec),
      ...(eventPayloadType === undefined ? [] : eventLines(eventPayloadType, eventClockHz)),
      `a=ptime:${agreement.ptimeMs}`,
      `a=${agreement.direction}`,
    ]
  })
  return [...sessionLines(local), ...lines, ''].join('\r\n')
}

function codecLines(type: number, codec: CodecName): string[] {
  const { encoding, parameters } = LINE_CODECS[codec]
  return [`a=rtpmap:${type} ${encoding}`, ...(parameters === undefined ? [] : [`a=fmtp:${type} ${parameters}`])]
}

function eventLines(type: number, clockHz: number): string[] {
  return [`a=rtpmap:${type} telephone-event/${clockHz}`, `a=fmtp:${type} 0-15`]
}

function sessionLines(local: LocalMedia): string[] {
  const address = `IN ${isIPv6(local.address) ? 'IP6' : 'IP4'} ${local.address}`
  return ['v=0', `o=patchbay ${local.sessionId} ${local.version} ${address}`, 's=patchbay', `c=${address}`, 't=0 0']
}
