import type { Rejection } from '../../runtime/plugin-sdk/telephony/stream/received.ts'
import { xmlText } from '../../runtime/plugin-sdk/telephony/xml-text.ts'

/** TwiML documents for a call. */

const responseOf = (verbs: string): string => `<?xml version="1.0" encoding="UTF-8"?><Response>${verbs}</Response>`

/**
 * Joins the call to our stream. The token travels as a parameter, because Twilio strips the query of a stream's address. A
 * stream that ends without the call asks at `resumeUrl` what to do.
 */
export function connect(streamUrl: string, token: string, resumeUrl: string): string {
  const stream = `<Stream url="${xmlText(streamUrl)}"><Parameter name="token" value="${xmlText(token)}"/></Stream>`
  return responseOf(`<Connect>${stream}</Connect><Redirect method="POST">${xmlText(resumeUrl)}</Redirect>`)
}

export function hangup(): string {
  return responseOf('<Hangup/>')
}

/** Refuses a call that rings, unanswered and free of charge: a busy tone, or "not in service". */
export function reject(reason: Rejection): string {
  return responseOf(`<Reject reason="${reason}"/>`)
}

/** Leads the call to another number and leaves it there. */
export function dial(to: string, callerId: string): string {
  return responseOf(`<Dial callerId="${xmlText(callerId)}">${xmlText(to)}</Dial>`)
}
