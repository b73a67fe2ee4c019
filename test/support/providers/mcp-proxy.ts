import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request as sendTo } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from '../instance/services.ts'

/** A way to an MCP server on which one sees what it is asked. */
export async function startMcpProxy(
  t: Teardown,
  target: string,
  asked: (message: { method: string }, headers: IncomingHttpHeaders) => void,
): Promise<{ url: string }> {
  const { host, pathname, port } = new URL(target)
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    if (body.length > 0) asked(JSON.parse(body.toString()), request.headers)
    const { method = 'GET' } = request
    const onwards = sendTo({ port, path: pathname, method, headers: { ...request.headers, host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onwards.on('error', () => response.destroy())
    response.on('close', () => onwards.destroy())
    onwards.end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}` }
}
