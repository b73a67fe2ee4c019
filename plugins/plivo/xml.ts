import type { Rejection } from '../../runtime/plugin-sdk/telephony/stream/received.ts'

/** Plivo's XML instructions for a call. */

/** Joins the call to our stream, which shows the token among its headers. */
export function connect(streamUrl: string, token: string): string {
  const attributes =
    'bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000" audioTrack="inbound"'
  return `<Response><Stream ${attributes} extraHeaders="token=${token}">${quoted(streamUrl)}</Stream></Response>`
}

export function reject(reason: Rejection): string {
  return `<Response><Hangup reason="${reason}"/></Response>`
}

export function dial(to: string, callerId: string): string {
  return `<Response><Dial callerId="${quoted(callerId)}"><Number>${quoted(to)}</Number></Dial></Response>`
}

function quoted(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
