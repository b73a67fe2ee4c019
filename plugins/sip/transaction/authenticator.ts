import { inBackground } from '../../../runtime/lib/async/boundary.ts'
import { answerChallenge, type Credentials, chooseChallenge } from '../message/digest.ts'
import { headersOf, type OutgoingRequest, type SipHeader, SipParseError, type SipResponse } from '../message/message.ts'
import { serializeRequest } from '../message/serializer.ts'
import { type Flow, MAX_DATAGRAM_BYTES } from '../transport/flow.ts'
import type { ClientEvents, ClientTransaction } from './client-transaction.ts'
import type { Transactions } from './transactions.ts'

const NO_BODY = new Uint8Array()
/** Of a proxy, another proxy and the callee, and once more where a nonce was stale. */
const MAX_CHALLENGES = 6
const MAX_NONCES = 16
/** Of the Via header that a request gets when it is sent. */
const VIA_BYTES = 120

/** The answer to one challenge. */
interface Answered {
  header: SipHeader
  /** The nonce was too old; the password may be right. */
  stale: boolean
  realm: string
}

/** Answers challenges with one trunk's credentials; counts the uses of a nonce (RFC 7616, section 3.4). */
export class Authenticator {
  readonly #credentials: Credentials
  readonly #token: () => string
  /** Uses of the latest nonces. */
  readonly #counts = new Map<string, number>()

  constructor(credentials: Credentials, token: () => string) {
    this.#credentials = credentials
    this.#token = token
  }

  /** The header that answers a 401 or 407; undefined when it can't be answered. */
  answer(response: SipResponse, request: OutgoingRequest): Answered | undefined {
    const proxy = response.status === 407
    try {
      const challenge = chooseChallenge(headersOf(response, proxy ? 'proxy-authenticate' : 'www-authenticate'))
      if (challenge === undefined) return undefined
      const count = (this.#counts.get(challenge.nonce) ?? 0) + 1
      this.#counts.delete(challenge.nonce)
      this.#counts.set(challenge.nonce, count)
      for (const nonce of this.#counts.keys()) {
        if (this.#counts.size <= MAX_NONCES) break
        this.#counts.delete(nonce)
      }
      const { method, uri, body = NO_BODY } = request
      const value = answerChallenge(challenge, this.#credentials, { method, uri, body }, this.#token(), count)
      const header = { name: proxy ? 'proxy-authorization' : 'authorization', value }
      return { header, stale: challenge.stale, realm: challenge.realm }
    } catch (error) {
      if (error instanceof SipParseError) return undefined
      throw error
    }
  }
}

/** A request that may be sent several times: as it is, and with the answers to challenges. */
export interface Sending {
  /** The transaction that runs now; undefined: none yet. */
  current: ClientTransaction | undefined
  /** The way it takes. */
  flow: Flow
  /** What was not sent yet is not sent any more: `failed` follows. */
  isStopped?: boolean
}

/**
 * Sends a request and answers challenges on the way. One too large for a datagram goes over TCP where the peer takes it, and over
 * UDP where it does not (RFC 3261, section 18.1.1). `make` is called for each try and counts its CSeq up; `events`
 * learn of the last one's end only.
 */
export function sendAuthenticated(
  transactions: Transactions,
  authenticator: Authenticator | undefined,
  flow: Flow,
  make: (extra: readonly SipHeader[]) => OutgoingRequest,
  events: ClientEvents,
): Sending {
  const sending: Sending = { current: undefined, flow }
  let challenges = 0
  /** By who asked: a request that passes several of them carries an answer for each (RFC 3261, section 22.3). */
  const askers = new Map<string, SipResponse>()
  const attempt = (extra: readonly SipHeader[]): void => {
    const request = make(extra)
    const isLarge = serializeRequest(request).length + VIA_BYTES > MAX_DATAGRAM_BYTES
    if (!isLarge || flow.larger === undefined) {
      send(request, extra, flow)
      return
    }
    const choose = async (): Promise<void> => {
      const way = await flow.larger?.()
      if (sending.isStopped) events.failed('transport')
      else send(request, extra, way ?? flow)
    }
    inBackground('sip', choose())
  }
  const send = (request: OutgoingRequest, extra: readonly SipHeader[], way: Flow): void => {
    let isHeard = false
    sending.flow = way
    sending.current = transactions.send(request, way, {
      provisional(response) {
        isHeard = true
        events.provisional?.(response)
      },
      failed(why) {
        // The connection was lost before the peer said a word: it may still take a datagram.
        if (way !== flow && why === 'transport' && !isHeard && !sending.isStopped) send(make(extra), extra, flow)
        else events.failed(why)
      },
      final(response) {
        const asked = response.status === 401 || response.status === 407
        const answer = asked && challenges < MAX_CHALLENGES ? authenticator?.answer(response, request) : undefined
        if (answer === undefined) return events.final(response)
        const asker = `${answer.header.name} ${answer.realm}`
        // A second challenge without `stale` means that the password is wrong.
        if (askers.has(asker) && !answer.stale) return events.final(response)
        challenges++
        askers.delete(asker)
        const others = [...askers.values()].map((one) => authenticator?.answer(one, request)?.header)
        askers.set(asker, response)
        attempt([...others.filter((header) => header !== undefined), answer.header])
      },
    })
  }
  attempt([])
  return sending
}
