import type { Rejection } from '../../runtime/plugin-sdk/telephony/stream/received.ts'
import { xmlText } from '../../runtime/plugin-sdk/telephony/xml-text.ts'

/** Plivo's XML instructions for a call. */

/** Joins the call to our stream, which shows the token among its headers. */
export function connect(streamUrl: string, token: string): string {
  const attributes =
    'bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000" audioTrack="inbound"'
  return `<Response><Stream ${attributes} extraHeaders="token=${token}">${xmlText(streamUrl)}</Stream></Response>`
}

export function reject(reason: Rejection): string {
  return `<Response><Hangup reason="${reason}"/></Response>`
}

export function dial(to: string, callerId: string): string {
  return `<Response><Dial callerId="${xmlText(callerId)}"><Number>${xmlText(to)}</Number></Dial></Response>`
}
