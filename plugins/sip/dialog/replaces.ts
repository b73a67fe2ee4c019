import type { SipRequest } from '../message/message.ts'
import { headersOf } from '../message/message.ts'

/** The dialog that a call is to take the place of (RFC 3891), as its receiver knows it. */
interface Replaced {
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
  /** It may only be one that still rings. */
  readonly earlyOnly: boolean
}

/** Undefined: it names none; `bad`: it can't be read. */
export function replacedBy(request: SipRequest): Replaced | 'bad' | undefined {
  const values = headersOf(request, 'replaces')
  if (values.length === 0) return undefined
  if (values.length > 1) return 'bad'
  return parseReplaces(values[0] ?? '') ?? 'bad'
}

/** `7f3a@host;to-tag=1;from-tag=2;early-only` */
export function parseReplaces(text: string): Replaced | undefined {
  const [callId = '', ...params] = text.split(';').map((part) => part.trim())
  const found = new Map(
    params.map((param) => {
      const [name = '', value = ''] = param.split('=')
      return [name.trim().toLowerCase(), value.trim()]
    }),
  )
  const [localTag, remoteTag] = [found.get('to-tag'), found.get('from-tag')]
  if (callId === '' || localTag === undefined || remoteTag === undefined) return undefined
  return { callId, localTag, remoteTag, earlyOnly: found.has('early-only') }
}
