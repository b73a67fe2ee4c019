import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { headerOf, type SipHeader, type SipMessage } from '../message/message.ts'
import {
  type Agreement,
  agree,
  type CodecName,
  type LocalMedia,
  type MediaEncryption,
  writeAnswer,
  writeOffer,
} from './offer-answer.ts'
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
  { name: 'accept', value: SDP_TYPE.value },
  { name: 'accept-encoding', value: 'identity' },
]

/** The description of a message can't be used: the status that says so. */
export class MediaRefused extends Error {
  override readonly name = 'MediaRefused'
  readonly status: 415 | 488
  /** What goes with the status: of a body that can't be read, what can. */
  readonly headers: readonly SipHeader[]

  constructor(status: 415 | 488, message: string) {
    super(message)
    this.status = status
    this.headers = status === 415 ? ACCEPTED : []
  }
}

/** The description a message carries; undefined when it has no body. Throws MediaRefused. */
export function descriptionOf(message: SipMessage): SessionDescription | undefined {
  if (message.body.length === 0) return undefined
  const type = headerOf(message, 'content-type')?.split(';')[0]?.trim().toLowerCase()
  const encoding = headerOf(message, 'content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') throw new MediaRefused(415, `The body is encoded as ${encoding}`)
  if (type !== 'application/sdp') throw new MediaRefused(415, `The body is ${type ?? 'of no known type'}`)
  try {
    return parseSdp(message.body)
  } catch (error) {
    if (error instanceof SdpError) throw new MediaRefused(488, error.message)
    throw error
  }
}

/** This side's half of a call's offers and answers. Its version counts what changes in them (RFC 3264, section 8). */
export class CallMedia {
  readonly #local: LocalMedia
  readonly #codecs: readonly CodecName[]
  #said: string | undefined
  /** What the other side calls telephone events: a type keeps its meaning for the call (section 8.3.2). */
  #eventPayloadType: number | undefined

  constructor(
    local: { address: string; port: number; sessionId: number },
    codecs: readonly CodecName[],
    encryption: MediaEncryption = 'off',
  ) {
    // One key for the whole call: a stream of packets may have no other.
    const srtp =
      encryption === 'off' ? {} : { srtp: { encryption, key: randomBytes(MASTER_KEY_BYTES + MASTER_SALT_BYTES) } }
    this.#local = { ...local, version: 1, ...srtp }
    this.#codecs = codecs
  }

  /** Our own wish, whatever was agreed last: all our codecs, both ways (RFC 6337, section 5.1). */
  offer(): Buffer {
    return this.#say(() => writeOffer(this.#local, this.#codecs, this.#eventPayloadType))
  }

  /** Takes an offer. Throws MediaRefused when there is nothing in it for us. */
  accept(offer: SessionDescription): { agreement: Agreement; answer: Buffer } {
    const agreement = this.#agree(offer)
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
    return this.#agree(answer)
  }

  #agree(description: SessionDescription): Agreement {
    const agreement = agree(description, this.#codecs, this.#local.srtp)
    if (agreement === undefined || isIP(agreement.address) === 0) {
      throw new MediaRefused(
        488,
        `No audio in common; we have ${this.#codecs.join(', ')}${SPOKEN[this.#local.srtp?.encryption ?? 'off']}`,
      )
    }
    this.#eventPayloadType = agreement.eventPayloadType ?? this.#eventPayloadType
    return agreement
  }
}
