import dgram from 'node:dgram'
import { once } from 'node:events'
import type { Teardown } from '../instance/services.ts'

export interface SipResponder {
  readonly port: number
}

/** The far end of a trunk that answers each request of no call with what `statusOf` its method says (RFC 3261, section 8.2.6). */
export async function startSipResponder(t: Teardown, statusOf: (method: string) => number): Promise<SipResponder> {
  const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => void socket.close())
  socket.on('message', (data, from) => {
    const text = data.toString()
    const method = /^([A-Z]+) sip:/.exec(text)?.[1]
    if (method === undefined) return
    const echoed = text.split('\r\n').filter((line) => /^(via|from|to|call-id|cseq):/i.test(line))
    const status = statusOf(method)
    const head = [`SIP/2.0 ${status} ${status === 200 ? 'OK' : 'Forbidden'}`, ...echoed, 'Content-Length: 0', '', '']
    const answer = head.join('\r\n').replace(/^(to:[^\r]*)/im, '$1;tag=far')
    socket.send(answer, from.port, from.address)
  })
  return { port: socket.address().port }
}
