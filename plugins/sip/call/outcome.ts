import type { DialFailure } from '../../../runtime/telephony/carrier.ts'
import { reasonOf } from '../message/serializer.ts'

/** What became of a call by the status of its last answer, and a sentence for the operator. */
export function failureOf(status: number, reason: string): { failure: DialFailure; detail: string } {
  const words = [...reason].filter((char) => char >= ' ' && char !== '\x7f').join('')
  const detail = `SIP error: ${status} ${words.trim().slice(0, 120) || reasonOf(status)}`
  switch (status) {
    case 486:
    case 600:
      return { failure: 'busy', detail }
    case 408:
    case 480:
    case 487:
      return { failure: 'no_answer', detail }
    case 603:
    case 607:
    case 608:
      return { failure: 'rejected', detail: `${detail}; the callee refused the call` }
    case 404:
    case 410:
    case 484:
    case 604:
      return { failure: 'invalid_number', detail: `${detail}; the number is not in service` }
    case 401:
    case 407:
      return { failure: 'carrier', detail: `${detail}; the trunk's username or password is wrong` }
    case 403:
      return { failure: 'carrier', detail: `${detail}; the trunk refuses this account, source or destination` }
    case 488:
    case 606:
      return { failure: 'carrier', detail: `${detail}; the trunk takes none of the offered codecs` }
    default:
      return { failure: 'carrier', detail }
  }
}
