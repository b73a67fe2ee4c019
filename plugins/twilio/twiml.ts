import twilio from 'twilio'
import type { Rejection } from '../../runtime/plugin-sdk/telephony/stream/received.ts'

/** TwiML documents for a call. */

const { VoiceResponse } = twilio.twiml

/**
 * Joins the call to our stream. The token travels as a parameter, because Twilio strips the query of a stream's address. A
 * stream that ends without the call asks at `resumeUrl` what to do.
 */
export function connect(streamUrl: string, token: string, resumeUrl: string): string {
  const response = new VoiceResponse()
  response.connect().stream({ url: streamUrl }).parameter({ name: 'token', value: token })
  response.redirect({ method: 'POST' }, resumeUrl)
  return response.toString()
}

export function hangup(): string {
  const response = new VoiceResponse()
  response.hangup()
  return response.toString()
}

/** Refuses a call that rings, unanswered and free of charge: a busy tone, or "not in service". */
export function reject(reason: Rejection): string {
  const response = new VoiceResponse()
  response.reject({ reason })
  return response.toString()
}

/** Leads the call to another number and leaves it there. */
export function dial(to: string, callerId: string): string {
  const response = new VoiceResponse()
  response.dial({ callerId }, to)
  return response.toString()
}
