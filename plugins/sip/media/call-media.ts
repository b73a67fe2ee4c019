import { isIP } from 'node:net'
import { headerOf, type SipHeader, type SipMessage } from '../message/message.ts'
import { type Agreement, agree, type CodecName, type LocalMedia, writeAnswer, writeOffer } from './offer-answer.ts'
import { parseSdp, SdpError, type SessionDescription } from './sdp.ts'

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

/** This side's half of a call's offers and answers: what it said last is said again as long as nothing changes. */
export class CallMedia {
  readonly #local: LocalMedia
  #codecs: readonly CodecName[]
  #said: string | undefined

  constructor(local: { address: string; port: number; sessionId: number }, codecs: readonly CodecName[]) {
    this.#local = { ...local, version: 1 }
    this.#codecs = codecs
  }

  /** Our offer, or what was said last. */
  offer(): Buffer {
    this.#said ??= writeOffer(this.#local, this.#codecs)
    return Buffer.from(this.#said)
  }

  /** Takes an offer. Throws MediaRefused when there is nothing in it for us. */
  accept(offer: SessionDescription): { agreement: Agreement; answer: Buffer } {
    const agreement = this.#agree(offer)
    const before = this.#said
    let answer = writeAnswer(offer, agreement, this.#local)
    if (before !== undefined && answer !== before) {
      this.#local.version++
      answer = writeAnswer(offer, agreement, this.#local)
    }
    this.#said = answer
    return { agreement, answer: Buffer.from(answer) }
  }

  /** Takes the answer to our offer. Throws MediaRefused. */
  complete(answer: SessionDescription): Agreement {
    return this.#agree(answer)
  }

  /** The codec stays for the call: the session's audio has one format. */
  #agree(description: SessionDescription): Agreement {
    const agreement = agree(description, this.#codecs)
    if (agreement === undefined || isIP(agreement.address) === 0) {
      throw new MediaRefused(488, `No audio in common; we have ${this.#codecs.join(', ')}`)
    }
    this.#codecs = [agreement.codec]
    return agreement
  }
}
