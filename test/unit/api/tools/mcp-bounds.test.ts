import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pino from 'pino'
import { type Test, test } from 'tap'
import { McpTools } from '../../../../api/tools/mcp-tools.ts'
import { PluginTools } from '../../../../api/tools/plugin-tools.ts'
import { toolSecrets } from '../../../../api/tools/tool-calls.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { parseInfrastructureRule } from '../../../../runtime/plugin/grants/net-rule.ts'
import { McpClients } from '../../../../runtime/tools/mcp/clients.ts'
import type { McpSource } from '../../../../runtime/tools/tool.ts'

const PAGES = 16
const TOOLS_A_PAGE = 8
const TOOL_BYTES = 60_000

/** A server of 128 tools of 60 KB: of every second one it is the schema that is long, of the others the description. */
async function startLongServer(t: Test): Promise<{ port: number; lists: () => number }> {
  let lists = 0
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += String(part)
    const { id, method, params } = JSON.parse(text)
    if (id === undefined) return void response.writeHead(202).end()
    const page = Number(params?.cursor ?? 0)
    if (method === 'tools/list' && page === 0) lists++
    const tools = Array.from({ length: TOOLS_A_PAGE }, (_, i) => ({
      name: `tool_${page * TOOLS_A_PAGE + i}`,
      description: i % 2 === 0 ? 'd'.repeat(TOOL_BYTES) : 'short',
      inputSchema: { type: 'object', properties: {}, title: i % 2 === 0 ? 's'.repeat(8_000) : 's'.repeat(TOOL_BYTES) },
    }))
    const result =
      method === 'tools/list'
        ? { tools, ...(page + 1 < PAGES ? { nextCursor: String(page + 1) } : {}) }
        : { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'long', version: '1' } }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { port: (server.address() as AddressInfo).port, lists: () => lists }
}

test('what servers list is bounded for each tool, each server and each agent', { timeout: 300_000 }, async (t) => {
  const { port, lists } = await startLongServer(t)
  const clients = new McpClients({ allowed: [parseInfrastructureRule('127.0.0.1')], clock: systemClock })
  t.teardown(() => clients.close())
  const server = { workspaceId: 'w', url: `http://127.0.0.1:${port}/`, headers: {}, timeoutMs: 60_000 }
  const listed = await clients.list(server, 128, new AbortController().signal)
  t.ok(listed.length > 20 && JSON.stringify(listed).length < 300_000, `${listed.length} tools`)
  t.ok(listed.every(({ description, name }) => description.length <= 2_000 && Number(name.slice(5)) % 2 === 0))

  const tools = new McpTools({
    clients: async () => clients,
    pluginTools: new PluginTools({ create: () => Promise.reject(new Error('there are no plugins')) }),
    box: toolSecrets('a data key of this test'),
    checks: { faultOfInput: async () => undefined, faultOfSchema: async () => undefined, close: async () => undefined },
    clock: systemClock,
    log: pino({ enabled: false }),
  })
  const sources = Array.from(
    { length: 64 },
    (_, i): McpSource => ({
      ...{ type: 'mcp', name: `s${i}`, description: '', url: `${server.url}?${i}`, headers: {}, timeoutMs: 60_000 },
    }),
  )
  // Two seconds at most are waited for each; the listings go on.
  for (const source of sources) {
    let found = await tools.targets('w', [source])
    while (found.targets.length === 0) found = await tools.targets('w', [source])
  }
  t.equal(lists(), 65)
  const few = sources.slice(-4)
  const { targets, faults } = await tools.targets('w', few)
  t.equal(lists(), 65, 'the last ones are kept')
  const characters = JSON.stringify(targets.map(({ spec }) => spec)).length
  t.ok(characters > 300_000 && characters < 600_000, `${characters} characters`)
  t.match(faults, [/^MCP server "s6\d": with its tools the agent would have over 524288 characters/])
  await tools.targets('w', sources.slice(0, 1))
  t.equal(lists(), 66, 'the first ones made room for them')
  await tools.targets('other', few.slice(0, 1))
  await tools.targets('w', few.slice(-1))
  t.equal(lists(), 67, 'another workspace takes no room of this one')
})
