import { headerOf, type SipRequest } from '../../../../../plugins/sip/message/message.ts'

export interface InDialog {
  method: string
  sequence: number
  /** Of the peer. */
  port: number
  /** Headers; a body is a description unless they say otherwise. */
  lines?: readonly string[]
  body?: string
}

/** A request of the callee within the dialog that this INVITE began. */
export function inDialog(invite: SipRequest, { method, sequence, port, lines = [], body = '' }: InDialog): string {
  const isTyped = lines.some((line) => line.startsWith('Content-Type'))
  return [
    `${method} ${/<([^>]+)>/.exec(headerOf(invite, 'contact') ?? '')?.[1]} SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${method}${sequence};rport`,
    `From: ${headerOf(invite, 'to')};tag=peer`,
    `To: ${headerOf(invite, 'from')}`,
    ...[`Call-ID: ${invite.callId}`, `CSeq: ${sequence} ${method}`, 'Max-Forwards: 70'],
    ...[`Contact: <sip:peer@127.0.0.1:${port}>`, ...lines],
    ...(body === '' || isTyped ? [] : ['Content-Type: application/sdp']),
    ...[`Content-Length: ${Buffer.byteLength(body)}`, '', body],
  ].join('\r\n')
}
