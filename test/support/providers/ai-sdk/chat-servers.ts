import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'

/**
 * The chat APIs of Mistral, Groq and servers like OpenAI's (`/v1/chat/completions`), Anthropic (`/v1/messages`) and Cohere
 * (`/v2/chat`), as the schemas have them by which @ai-sdk/mistral 4.0.87, groq 4.0.84, openai-compatible 3.0.92, anthropic 4.0.105
 * and cohere 4.0.52 read them (November 2026). Each answers "Hello you." or, asked with tools, calls `look_up`; the key `bad` is refused.
 */
export interface ChatServers {
  url: string
  requests: { path: string; key: string | undefined; body: Record<string, unknown> }[]
}

export async function startChatServers(t: Test): Promise<ChatServers> {
  const requests: ChatServers['requests'] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await text(request)) || '{}') as Record<string, unknown>
    const key = request.headers.authorization?.replace('Bearer ', '') ?? String(request.headers['x-api-key'])
    const path = request.url ?? ''
    requests.push({ path, key, body })
    if (key === 'bad') {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ message: 'Invalid key', error: { message: 'Invalid key', type: 'auth' } }))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const hasTools = Array.isArray(body.tools) && !JSON.stringify(body.messages).includes('shipped')
    if (path.endsWith('/messages')) anthropic(response, hasTools)
    else if (path.endsWith('/chat')) cohere(response, hasTools)
    else completions(response, hasTools)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { url: `http://localhost:${(server.address() as AddressInfo).port}`, requests }
}

const ARGUMENTS = '{"id":"7"}'

function send(response: ServerResponse, events: readonly object[], named = false): void {
  for (const event of events) {
    const name = named ? `event: ${(event as { type: string }).type}\n` : ''
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
  }
}

function completions(response: ServerResponse, hasTools: boolean): void {
  const chunk = (delta: object, finish: string | null = null, more: object = {}): object => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })
  const counts = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 }
  const usage = { usage: counts, x_groq: { id: 'g1', usage: counts } }
  const call = { index: 0, id: 'call00001', type: 'function', function: { name: 'look_up', arguments: ARGUMENTS } }
  if (hasTools)
    send(response, [chunk({ role: 'assistant', content: '', tool_calls: [call] }), chunk({}, 'tool_calls', usage)])
  else
    send(response, [
      chunk({ role: 'assistant', content: 'Hello' }),
      chunk({ content: ' you.' }),
      chunk({}, 'stop', usage),
    ])
  response.end('data: [DONE]\n\n')
}

function anthropic(response: ServerResponse, hasTools: boolean): void {
  const block = hasTools
    ? { type: 'tool_use', id: 'call00001', name: 'look_up', input: {} }
    : { type: 'text', text: '' }
  const deltas = hasTools
    ? [{ type: 'input_json_delta', partial_json: ARGUMENTS }]
    : [
        { type: 'text_delta', text: 'Hello' },
        { type: 'text_delta', text: ' you.' },
      ]
  const message = {
    id: 'm1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
  }
  send(
    response,
    [
      { type: 'message_start', message: { ...message, usage: { input_tokens: 11, output_tokens: 0 } } },
      { type: 'content_block_start', index: 0, content_block: block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: hasTools ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: 3 },
      },
      { type: 'message_stop' },
    ],
    true,
  )
  response.end()
}

function cohere(response: ServerResponse, hasTools: boolean): void {
  const call = { id: 'call00001', type: 'function', function: { name: 'look_up', arguments: ARGUMENTS } }
  const middle = hasTools
    ? [{ type: 'tool-call-start', delta: { message: { tool_calls: call } } }, { type: 'tool-call-end' }]
    : [
        { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
        { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Hello' } } } },
        { type: 'content-delta', index: 0, delta: { message: { content: { text: ' you.' } } } },
        { type: 'content-end', index: 0 },
      ]
  const usage = { billed_units: { input_tokens: 11, output_tokens: 3 }, tokens: { input_tokens: 11, output_tokens: 3 } }
  send(response, [
    { type: 'message-start', id: 'm1' },
    ...middle,
    { type: 'message-end', delta: { finish_reason: hasTools ? 'TOOL_CALL' : 'COMPLETE', usage } },
  ])
  response.end()
}
