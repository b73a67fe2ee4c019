import { answerChallenge, type Credentials, chooseChallenge } from '../message/digest.ts'
import { headersOf, type OutgoingRequest, type SipHeader, SipParseError, type SipResponse } from '../message/message.ts'
import type { Flow } from '../transport/flow.ts'
import type { ClientEvents, ClientTransaction } from './client-transaction.ts'
import type { Transactions } from './transactions.ts'

const NO_BODY = new Uint8Array()
/** A challenge, and one more when the nonce was stale. */
const MAX_CHALLENGES = 2

/** Answers challenges with one trunk's credentials; counts the uses of a nonce (RFC 7616, section 3.4). */
export class Authenticator {
  readonly #credentials: Credentials
  readonly #token: () => string
  #nonce = ''
  #count = 0

  constructor(credentials: Credentials, token: () => string) {
    this.#credentials = credentials
    this.#token = token
  }

  /** The header that answers a 401 or 407; undefined when it can't be answered. */
  answer(response: SipResponse, request: OutgoingRequest): { header: SipHeader; stale: boolean } | undefined {
    const proxy = response.status === 407
    try {
      const challenge = chooseChallenge(headersOf(response, proxy ? 'proxy-authenticate' : 'www-authenticate'))
      if (challenge === undefined) return undefined
      this.#count = challenge.nonce === this.#nonce ? this.#count + 1 : 1
      this.#nonce = challenge.nonce
      const { method, uri, body = NO_BODY } = request
      const value = answerChallenge(challenge, this.#credentials, { method, uri, body }, this.#token(), this.#count)
      return { header: { name: proxy ? 'proxy-authorization' : 'authorization', value }, stale: challenge.stale }
    } catch (error) {
      if (error instanceof SipParseError) return undefined
      throw error
    }
  }
}

/** A request that may be sent several times: as it is, and with the answers to challenges. */
export interface Sending {
  /** The transaction that runs now. */
  current: ClientTransaction | undefined
}

/**
 * Sends a request and answers challenges on the way. `make` is called for each try and counts its CSeq up; `events`
 * learn of the last one's end only.
 */
export function sendAuthenticated(
  transactions: Transactions,
  authenticator: Authenticator | undefined,
  flow: Flow,
  make: (extra: readonly SipHeader[]) => OutgoingRequest,
  events: ClientEvents,
): Sending {
  const sending: Sending = { current: undefined }
  let challenges = 0
  const attempt = (extra: readonly SipHeader[]): void => {
    const request = make(extra)
    sending.current = transactions.send(request, flow, {
      provisional: (response) => events.provisional?.(response),
      failed: (why) => events.failed(why),
      final(response) {
        const asked = response.status === 401 || response.status === 407
        const answer = asked && challenges < MAX_CHALLENGES ? authenticator?.answer(response, request) : undefined
        // A second challenge that doesn't call the nonce stale says that the password is wrong.
        if (answer === undefined || (challenges > 0 && !answer.stale)) return events.final(response)
        challenges++
        attempt([answer.header])
      },
    })
  }
  attempt([])
  return sending
}
