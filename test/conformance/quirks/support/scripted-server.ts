import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Teardown } from '../../../support/instance/services.ts'

/** One answer of a scripted server, sent in these pieces. */
export interface Reply {
  status?: number
  type?: string
  pieces: readonly (string | Uint8Array)[]
  /** It never ends: the connection stays open after the last piece. */
  hangs?: boolean
}

export interface ScriptedServer {
  url: string
  /** Bodies of the requests, in order. */
  bodies: Record<string, unknown>[]
}

/** A server that gives these answers in turn, and the last one again and again. */
export async function scriptedServer(t: Teardown, replies: readonly Reply[]): Promise<ScriptedServer> {
  const bodies: Record<string, unknown>[] = []
  const sockets = new Set<Socket>()
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    bodies.push(text.startsWith('{') ? JSON.parse(text) : { text })
    const reply = replies[Math.min(bodies.length, replies.length) - 1] as Reply
    response.writeHead(reply.status ?? 200, { 'content-type': reply.type ?? 'text/event-stream' })
    for (const piece of reply.pieces) {
      response.write(piece)
      await sleep(1)
    }
    if (reply.hangs !== true) response.end()
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies }
}
