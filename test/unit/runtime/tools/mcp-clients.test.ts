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

t.test(
  'a server that forgot the session is asked for a new one and for the same call once, however it says so',
  async (t) => {
    const forgets = {
      '404': [404, ''],
      '400 with words': [
        400,
        '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}',
      ],
      'an error in 200': [200, { code: -32_001, message: 'Session not found' }],
      'an invalid request in 200': [200, { code: -32_600, message: 'Unknown session: a1' }],
    } as const
    const others = {
      'a tool has sessions of its own': [200, { code: -32_602, message: 'session 5 of the clinic not found' }],
      'another refusal': [400, '{"error":"bad arguments"}'],
      'a server in trouble': [200, { code: -32_000, message: 'out of beds' }],
    } as const
    let sessions = 0
    let calls = 0
    /** What is said to calls of any session but the newest; to all of them where it is no loss of a session. */
    let says: readonly [number, string | object] = [404, '']
    let isLoss = true
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      if (request.method !== 'POST') return void response.writeHead(200).end()
      const { id, method, params } = JSON.parse(Buffer.concat(parts).toString())
      if (id === undefined) return void response.writeHead(202).end()
      const answer = (body: object) => response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
      if (method === 'initialize') {
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${++sessions}` })
        const { protocolVersion } = params
        return void answer({ result: { protocolVersion, capabilities: {}, serverInfo: { name: 'x', version: '1' } } })
      }
      calls++
      if (isLoss && request.headers['mcp-session-id'] === `s${sessions}` && sessions > 1) {
        response.writeHead(200, { 'content-type': 'application/json' })
        return void answer({ result: { content: [{ type: 'text', text: 'done' }] } })
      }
      const [status, body] = says
      response.writeHead(status, { 'content-type': 'application/json' })
      if (typeof body === 'string') response.end(body)
      else answer({ error: body })
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const { signal } = new AbortController()
    const of = { workspaceId: 'w', url: `http://localhost:${port}/mcp`, headers: {}, timeoutMs: 30_000 }
    const call = async () => {
      sessions = 0
      calls = 0
      const clients = new McpClients({ allowed: [parseInfrastructureRule('localhost')], clock: systemClock })
      try {
        return await clients.call(of, { name: 'x', input: {}, key: undefined, traceparent: undefined }, signal)
      } finally {
        clients.close()
      }
    }
    for (const [kind, form] of Object.entries(forgets)) {
      says = form
      t.match(await call(), { text: 'done', isError: false }, kind)
      t.same([sessions, calls], [2, 2], kind)
    }
    isLoss = false
    for (const [kind, form] of Object.entries(others)) {
      says = form
      await t.rejects(call(), kind)
      t.same([sessions, calls], [1, 1], kind)
    }
    says = [404, '']
    await t.rejects(call(), 'it forgets every session')
    t.same([sessions, calls], [2, 2], 'asked once more, and no more')
  },
)
