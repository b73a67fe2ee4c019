import { once } from 'node:events'
import net from 'node:net'
import { MessageFraming } from '../../../../../plugins/sip/message/framing.ts'
import type { SipRequest } from '../../../../../plugins/sip/message/message.ts'
import type { Teardown } from '../../../../support/instance/services.ts'
import { answerText, type Respond } from './carrier.ts'

/** A peer on TCP, which may stand beside one on UDP at the same port. Returns its requests. */
export async function startStreamPeer(t: Teardown, respond: Respond, port: number): Promise<SipRequest[]> {
  const requests: SipRequest[] = []
  const server = net.createServer((socket) => {
    const framing = new MessageFraming(() => undefined)
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      for (const message of framing.push(bytes as Buffer)) {
        if (message.kind !== 'request') continue
        requests.push(message)
        const answer = respond(message)
        if (answer !== undefined && message.method !== 'ACK') socket.write(answerText(message, answer, port))
        const canceled = requests.findLast(({ method }) => method === 'INVITE')
        if (message.method === 'CANCEL' && canceled) socket.write(answerText(canceled, { status: 487 }, port))
      }
    })
    t.teardown(() => socket.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return requests
}
