import type { ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { hostileJson, hostileText, mutatedJson } from '../mutate.ts'
import type { Random } from '../random.ts'
import type { Surface } from '../surface.ts'
import { overUdp, requestLines, withBody } from './sip.ts'

/** How long an answer of ours is held back at most; and how far its pieces are apart. */
const HOLD_MS = 2_000
const PIECE_MS = 5
const MAX_PIECES = 100
const TIMEOUT_MS = 15_000

/** Answers in every way that HTTP knows and some that it does not. */
function answer(random: Random, response: ServerResponse, text: string, type = 'application/json'): void {
  const plain = Buffer.from(text)
  const encoding = random.pick(['', '', '', 'gzip', 'br', 'nonsense'])
  const bytes = encoding === 'gzip' ? gzipSync(plain) : encoding === 'br' ? brotliCompressSync(plain) : plain
  const headers: Record<string, string> = { 'content-type': random.pick([type, type, 'text/html', '']) }
  if (encoding !== '') headers['content-encoding'] = encoding
  switch (random.below(8)) {
    case 0:
      response.destroy()
      return
    case 1:
      response.writeHead(random.pick([200, 301, 302, 307, 400, 404, 429, 500, 503]), { ...headers, location: '/again' })
      response.end(bytes)
      return
    case 2:
      response.writeHead(200, { ...headers, 'content-length': String(bytes.length + 10) })
      response.write(bytes)
      setTimeout(() => response.destroy(), 20)
      return
    case 3: {
      response.writeHead(200, headers)
      const size = Math.max(1, Math.ceil(bytes.length / MAX_PIECES))
      let at = 0
      const timer = setInterval(() => {
        if (at < bytes.length && !response.destroyed) response.write(bytes.subarray(at, at + size))
        at += size
        if (at < bytes.length && !response.destroyed) return
        clearInterval(timer)
        response.end()
      }, PIECE_MS)
      return
    }
    case 4:
      setTimeout(() => response.writeHead(200, headers).end(bytes), random.below(HOLD_MS))
      return
    default:
      response.writeHead(200, { ...headers, 'content-length': String(bytes.length) })
      response.end(bytes)
  }
}

/** What a receiver of webhooks and a number's webhook answer. */
export const webhookAnswer: Surface = {
  name: 'webhook-answer',
  async open(world, random) {
    await world.hostile.post('/webhooks', { url: `${world.server.url}/hook`, types: ['*'] })
    world.server.answer = (request, _, response) => {
      const inbound = { agent_id: world.hostile.agentId, dynamic_variables: { a: 'x' }, reject: false }
      answer(random, response, request.url === '/inbound' ? mutatedJson(random, inbound) : hostileText(random))
    }
    return overUdp(world, async (send, port) => {
      const sdp = `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0\r\n`
      await send(Buffer.from(withBody(requestLines(random, world, 'INVITE', port), 'application/sdp', sdp)))
      await new Promise((resolve) => setTimeout(resolve, 100))
    })
  },
}

/** A server of tools (MCP) and one of an HTTP tool. */
export const mcp: Surface = {
  name: 'mcp',
  async open(world, random) {
    world.server.answer = (_, body, response) => {
      let id: unknown = null
      let method = ''
      try {
        const asked = JSON.parse(body) as { id?: unknown; method?: string }
        id = asked.id
        method = asked.method ?? ''
      } catch {
        // A request without a body: an event stream.
      }
      const result = resultOf(random, method)
      const text = random.chance(0.8)
        ? `{"jsonrpc":"2.0","id":${JSON.stringify(id) ?? 'null'},"result":${result}}`
        : hostileJson(random)
      if (random.chance(0.3)) answer(random, response, `event: message\ndata: ${text}\n\n`, 'text/event-stream')
      else answer(random, response, text)
    }
    let agents = 0
    return {
      attempt: async () => {
        const agentId = await world.hostile
          .agent({ agent_name: 'mcp', tools: [{ type: 'mcp', url: `${world.server.url}/mcp/${agents++ % 50}` }] })
          .catch(() => undefined)
        if (agentId === undefined) return
        await world.hostile.get(`/agents/${agentId}/tools`, AbortSignal.timeout(TIMEOUT_MS))
        await world.hostile
          .post('/chats/interaction', { agent_id: agentId, message: 'go' }, AbortSignal.timeout(TIMEOUT_MS))
          .catch(() => {})
        await fetch(`${world.instance.url}/agents/${agentId}`, {
          method: 'DELETE',
          headers: { cookie: world.hostile.cookies },
        })
      },
    }
  },
}

function resultOf(random: Random, method: string): string {
  if (method === 'initialize') {
    const server = {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'x', version: '1' },
    }
    return random.chance(0.8) ? JSON.stringify(server) : mutatedJson(random, server)
  }
  const tool = (i: number) => ({
    name: `t${i}`,
    description: random.chance(0.3) ? hostileText(random).toWellFormed() : 'd',
    inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
  })
  if (method === 'tools/list') {
    const list = {
      tools: Array.from({ length: random.below(200) }, (_, i) => tool(i)),
      nextCursor: random.pick([undefined, 'x']),
    }
    return random.chance(0.6) ? JSON.stringify(list) : mutatedJson(random, list, 0.05)
  }
  return mutatedJson(random, { content: [{ type: 'text', text: 'x'.repeat(random.below(500_000)) }], isError: false })
}
