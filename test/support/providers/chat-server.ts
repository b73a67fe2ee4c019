import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from '../instance/services.ts'

/** What a server of chat completions was asked. */
export interface Asked {
  model: string
  messages: { role: string; content: string }[]
  headers: IncomingHttpHeaders
}

/** What it calls in place of saying something. */
export interface AskedTool {
  name: string
  arguments: object
}

/**
 * A server of OpenAI's chat completions (platform.openai.com/docs/api-reference/chat) that says what a test wants it to, as a
 * stream of chunks with usage.
 */
export async function startChatServer(t: Teardown, says: (asked: Asked) => string | AskedTool) {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      return response.writeHead(404, { 'content-type': 'application/json' }).end('{"error": {"message": "Not found"}}')
    }
    const body: Asked = { ...JSON.parse(Buffer.concat(parts).toString()), headers: request.headers }
    asked.push(body)
    const text = says(body)
    const chunk = (fields: object) =>
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: body.model, ...fields })}\n\n`
    const choice = (delta: object, finish_reason: string | null) => ({ choices: [{ index: 0, delta, finish_reason }] })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(
      chunk(choice({ role: 'assistant', ...(typeof text === 'string' ? { content: text } : callOf(text)) }, null)),
    )
    response.write(chunk(choice({}, typeof text === 'string' ? 'stop' : 'tool_calls')))
    response.write(chunk({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }))
    response.end('data: [DONE]\n\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { env: { OPENAI_API_KEY: 'test-key', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` }, asked }
}

function callOf({ name, arguments: given }: AskedTool) {
  const called = { name, arguments: JSON.stringify(given) }
  return { content: null, tool_calls: [{ index: 0, id: `call_${name}`, type: 'function', function: called }] }
}
