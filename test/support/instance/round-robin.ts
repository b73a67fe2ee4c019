import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Teardown } from './services.ts'

/** One address before several nodes, which may be named later: each request and each WebSocket goes to the next. Returns the address. */
export async function startRoundRobin(t: Teardown, nodes: readonly string[]): Promise<string> {
  let turn = 0
  const next = (): URL => new URL(nodes[turn++ % nodes.length] ?? '')
  const server = createServer((incoming, answer) => {
    const { hostname, port } = next()
    const { method, url, rawHeaders: headers } = incoming
    const passed = request({ hostname, port, method, path: url, headers, agent: false }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.statusMessage, reply.rawHeaders)
      reply.pipe(answer)
      reply.on('error', () => answer.destroy())
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { hostname, port } = next()
    const node = connect(Number(port), hostname)
    const lines = incoming.rawHeaders.flatMap((name, i, all) => (i % 2 === 0 ? [`${name}: ${all[i + 1]}`] : []))
    node.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    node.write(head)
    socket.pipe(node).pipe(socket)
    for (const [one, other] of [
      [socket, node],
      [node, socket],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
