import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { LINE_CODECS } from '../../../runtime/media/codecs/line-codec.ts'
import { quote } from '../message/grammar.ts'
import { headerOf, type SipHeader, type SipMessage, SipParseError } from '../message/message.ts'
import { mediaTypeOf, type Part, partsOf } from '../message/multipart.ts'
import {
  type Agreement,
  agree,
  type CodecName,
  type LocalMedia,
  type MediaEncryption,
  writeAnswer,
  writeOffer,
} from './offer-answer.ts'
import { PayloadTypes } from './payload-types.ts'
import { parseSdp, SdpError, type SessionDescription } from './sdp.ts'
import { MASTER_KEY_BYTES, MASTER_SALT_BYTES } from './srtp.ts'

/** What a refusal says of encryption. */
const SPOKEN: Readonly<Record<MediaEncryption, string>> = {
  off: ', unencrypted',
  optional: ', plain or SRTP with SDES',
  required: ', with SRTP by SDES alone',
}

export const SDP_TYPE = { name: 'content-type', value: 'application/sdp' }

const ACCEPTED = [
  { name: 'accept', value: `${SDP_TYPE.value}, multipart/mixed` },
  { name: 'accept-encoding', value: 'identity' },
]

/** The description of a message can't be used: the status that says so. */
export class MediaRefused extends Error {
  override readonly name = 'MediaRefused'
  readonly status: 415 | 488
  /** What goes with the status: of a body that can't be read, what can; else what was wrong with it. */
  readonly headers: readonly SipHeader[]

  constructor(status: 415 | 488, message: string) {
    super(message)
    this.status = status
    this.headers = status === 415 ? ACCEPTED : [{ name: 'warning', value: `305 patchbay ${quote(message)}` }]
  }
}

/** The description a message carries; undefined when it has no body. Throws MediaRefused. */
export function descriptionOf(message: SipMessage): SessionDescription | undefined {
  if (message.body.length === 0) return undefined
  const encoding = headerOf(message, 'content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') throw new MediaRefused(415, `The body is encoded as ${encoding}`)
  const contentType = headerOf(message, 'content-type')
  const type = mediaTypeOf(contentType)
  const body = type?.startsWith('multipart/') ? sdpAmong(contentType ?? '', message.body) : message.body
  if (body === undefined) return undefined
  if (body === message.body && type !== SDP_TYPE.value) {
    throw new MediaRefused(415, `The body is ${type ?? 'of no known type'}`)
  }
  try {
    return parseSdp(body)
  } catch (error) {
    if (error instanceof SdpError) throw new MediaRefused(488, error.message)
    throw error
  }
}

/** The session description among several parts; undefined without one. What else is there may be left, unless it says otherwise. */
function sdpAmong(contentType: string, body: Uint8Array): Uint8Array | undefined {
  let parts: Part[]
  try {
    parts = partsOf(contentType, body)
  } catch (error) {
    if (error instanceof SipParseError) throw new MediaRefused(415, error.message)
    throw error
  }
  const unknown = parts.find(({ type, required }) => required && type !== SDP_TYPE.value)
  if (unknown !== undefined)
    throw new MediaRefused(415, `A part of the body is ${unknown.type}, which must be understood`)
  return parts.find(({ type }) => type === SDP_TYPE.value)?.body
}

/** Where a call's media may go. */
interface MediaWay {
  /** Address of the other side's signalling: where its media are sought at first when it names none that may be sent to. */
  readonly peer: string | undefined
  maySendTo(address: string): boolean
}

/** This side's half of a call's offers and answers. Its version counts what changes in them (RFC 3264, section 8). */
export class CallMedia {
  readonly #local: LocalMedia
  readonly #codecs: readonly CodecName[]
  #said: string | undefined
  readonly #names = new PayloadTypes()
  readonly #way: MediaWay

  constructor(
    local: { address: string; port: number; sessionId: number },
    codecs: readonly CodecName[],
    encryption: MediaEncryption = 'off',
    way: MediaWay = { peer: undefined, maySendTo: () => true },
  ) {
    this.#way = way
    // One key for the whole call: a stream of packets may have no other.
    const srtp =
      encryption === 'off' ? {} : { srtp: { encryption, key: randomBytes(MASTER_KEY_BYTES + MASTER_SALT_BYTES) } }
    this.#local = { ...local, version: 1, ...srtp }
    this.#codecs = codecs
  }

  /** A full offer, independent of the last agreement: all our codecs, both ways (RFC 6337, section 5.1). */
  offer(): Buffer {
    return this.#say(() => writeOffer(this.#local, this.#codecs, this.#names))
  }

  /** Takes an offer. Throws MediaRefused when there is nothing in it for us. */
  accept(offer: SessionDescription): { agreement: Agreement; answer: Buffer } {
    const agreement = this.#agree(offer)
    const { codec, payloadType, eventPayloadType: type, eventClockHz = LINE_CODECS[codec].clockHz } = agreement
    this.#names.learn(codec, payloadType, type === undefined ? undefined : { type, clockHz: eventClockHz })
    return { agreement, answer: this.#say(() => writeAnswer(offer, agreement, this.#local)) }
  }

  #say(write: () => string): Buffer {
    let text = write()
    if (this.#said !== undefined && text !== this.#said) {
      this.#local.version++
      text = write()
    }
    this.#said = text
    return Buffer.from(text)
  }

  /** Takes the answer to our offer. Throws MediaRefused. */
  complete(answer: SessionDescription): Agreement {
    return this.#agree(answer, this.#names)
  }

  #agree(description: SessionDescription, offered?: PayloadTypes): Agreement {
    const named = agree(description, this.#codecs, this.#local.srtp, offered)
    const { peer, maySendTo } = this.#way
    const isUsable = named !== undefined && isIP(named.address) !== 0 && maySendTo(named.address)
    const agreement = named && { ...named, address: isUsable ? named.address : (peer ?? '') }
    if (agreement === undefined || agreement.address === '') {
      const lacking = [...new Set(description.media.flatMap((one) => one.lackingCrypto))].join(', ')
      const ours = `we have ${this.#codecs.join(', ')}${SPOKEN[this.#local.srtp?.encryption ?? 'off']}`
      throw new MediaRefused(488, `No audio in common; ${ours}${lacking === '' ? '' : ` and keys without ${lacking}`}`)
    }
    const family = isIP(this.#local.address)
    if (isUsable && family !== 0 && isIP(agreement.address) !== family) {
      throw new MediaRefused(488, `Media for ${agreement.address} cannot be sent from ${this.#local.address}`)
    }
    return agreement
  }
}
