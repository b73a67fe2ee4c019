import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { parseInfrastructureRule } from '../../../../runtime/plugin/grants/net-rule.ts'
import { McpClients } from '../../../../runtime/tools/mcp/clients.ts'
import { ILL_FORMED } from '../../../support/world/ill-formed.ts'

t.test('tools and results of a server are clean in every text of theirs', async (t) => {
  let text = ''
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { id, method, params } = JSON.parse(Buffer.concat(parts).toString() || '{}')
    if (id === undefined) return void response.writeHead(202).end()
    const { protocolVersion } = params
    const inputSchema = { type: 'object', properties: { a: { type: 'string', description: text } } }
    const results: Record<string, unknown> = {
      initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
      'tools/list': { tools: [{ name: 'greet', description: text, inputSchema }] },
      'tools/call': {
        content: params.name === 'greet' ? [{ type: 'text', text }] : [],
        structuredContent: { [text]: text },
      },
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const clients = new McpClients({ allowed: [parseInfrastructureRule('localhost')], clock: systemClock })
  t.teardown(() => clients.close())
  const { signal } = new AbortController()
  const of = { workspaceId: 'w', url: `http://localhost:${port}/mcp`, headers: {}, timeoutMs: 30_000 }
  const call = (name: string) =>
    clients.call(of, { name, input: {}, key: undefined, traceparent: undefined }, signal).then((result) => result.text)
  for (const [kind, { text: given, clean }] of Object.entries(ILL_FORMED)) {
    text = given
    t.match(await clients.list(of, 8, signal), [
      { name: 'greet', description: clean, inputSchema: { properties: { a: { description: clean } } } },
    ])
    t.equal(await call('greet'), clean.trim(), kind)
    t.equal(await call('structured'), JSON.stringify({ [clean]: clean }), kind)
  }
})
