import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from '../instance/realtime-node.ts'
import type { Teardown } from '../instance/services.ts'
import { undeclaredEvent } from '../source/declared-event.ts'

/** A message as it came. */
export interface Received {
  headers: Record<string, string>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  body: any
  atMs: number
}

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** The first message of this type that came, or comes. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  of(type: string, wanted?: (body: any) => boolean): Promise<Received>
}

/** A server on this machine that webhooks are sent to. `answer` may leave a request unanswered; default: 200. */
export async function startReceiver(
  t: Teardown,
  answer: (message: Received, response: ServerResponse, request: IncomingMessage) => void = (_, response) =>
    void response.end('taken'),
): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.concat(parts).toString()
      const headers = request.headers as Record<string, string>
      const message = { headers, text, body: text === '' ? undefined : JSON.parse(text), atMs: Date.now() }
      received.push(message)
      answer(message, response, request)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const find: Receiver['of'] = async (type, wanted = () => true) => {
    // Requests to agents' own webhooks are no events.
    const found = () => received.find(({ body }) => body?.type === type && wanted(body))
    await until(
      () => found() !== undefined,
      () => `${type}; came: ${received.map(({ body }) => body?.type).join(', ')}`,
    )
    const message = found()!
    const fault = message.headers['webhook-id'] === message.body.id ? undeclaredEvent(message.body) : undefined
    if (fault !== undefined) throw new Error(fault)
    return message
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received, of: find }
}
