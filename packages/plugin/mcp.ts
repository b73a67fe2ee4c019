/**
 * The tools of a server of the Model Context Protocol, which runs in the plugin, as a plugin:
 *
 *     import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
 *     import { fromMcp } from '@patchbay/plugin/mcp'
 *
 *     export default fromMcp((host) => {
 *       const server = new McpServer({ name: 'shop', version: '1.0.0' })
 *       server.registerTool('opening_hours', { description: 'When the shop is open.' }, async () => …)
 *       return server
 *     })
 */
import { definePlugin, type Factories, type Host, type Options, type Tool, type ToolCall } from './mod.ts'

/** The revision of the protocol that is spoken (modelcontextprotocol.io/specification). */
const PROTOCOL = '2025-06-18'
/** Of the tools of a server. */
const MAX_PAGES = 16
/** JSON-RPC 2.0, section 5.1. */
const METHOD_NOT_FOUND = -32_601

/** What is used of the server of the official SDK. */
export interface McpServerLike {
  connect(transport: object): Promise<void>
}

/** The plugin of a server. `make` is called once for the process. */
export function fromMcp(make: (host: Host, options: Options) => McpServerLike | Promise<McpServerLike>): Factories {
  return definePlugin({
    tools: async (host, options) => {
      const server = await make(host, options)
      const line = new Line()
      await server.connect(line.server)
      const clientInfo = { name: 'patchbay', version: '1' }
      await line.ask('initialize', { protocolVersion: PROTOCOL, capabilities: {}, clientInfo }, host.signal)
      line.tell('notifications/initialized')
      return {
        list: (signal) => list(line, signal),
        call: (call, signal) => callTool(line, call, signal),
      }
    },
  })
}

async function list(line: Line, signal: AbortSignal): Promise<Tool[]> {
  const tools: Tool[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = (await line.ask('tools/list', cursor === undefined ? {} : { cursor }, signal)) as {
      tools: { name: string; description?: string; inputSchema: Tool['parameters'] }[]
      nextCursor?: string
    }
    for (const { name, description = '', inputSchema } of answer.tools)
      tools.push({ name, description, parameters: inputSchema })
    cursor = answer.nextCursor
    if (cursor === undefined) break
  }
  return tools
}

async function callTool(line: Line, { name, input, key }: ToolCall, signal: AbortSignal): Promise<string> {
  const meta = key === undefined ? {} : { _meta: { 'patchbay/idempotency-key': key } }
  const { content, structuredContent, isError } = (await line.ask(
    'tools/call',
    { name, arguments: input, ...meta },
    signal,
  )) as { content?: { type: string; text?: string }[]; structuredContent?: unknown; isError?: boolean }
  const texts = (content ?? []).flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : []))
  const text = texts.length > 0 ? texts.join('\n') : JSON.stringify(structuredContent ?? '')
  if (isError === true) throw new Error(text)
  return text
}

/** What a server sends: an answer, or a question or notice of its own, which has a method. */
interface Sent {
  id?: number
  method?: string
  result?: unknown
  error?: { message: string }
}

/** A line between a client and a server in one process: JSON-RPC 2.0, a message a call. */
class Line {
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>()
  #nextId = 1
  /** The server's end, as the SDK wants a transport. */
  readonly server: {
    onmessage?(message: object): void
    start(): Promise<void>
    send(message: Sent): Promise<void>
  } & {
    close(): Promise<void>
  } = {
    start: async () => undefined,
    close: async () => undefined,
    send: async ({ id, method, result, error }) => {
      if (method !== undefined) return this.#refuse(id, method)
      const asked = id === undefined ? undefined : this.#asked.get(id)
      if (error === undefined) asked?.resolve(result)
      else asked?.reject(new Error(error.message))
    },
  }

  /** Throws what the server refuses, and the signal's reason. */
  async ask(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted()
    const id = this.#nextId++
    const answer = Promise.withResolvers<unknown>()
    const abandon = (): void => {
      this.tell('notifications/cancelled', { requestId: id })
      answer.reject(signal.reason)
    }
    this.#asked.set(id, answer)
    signal.addEventListener('abort', abandon, { once: true })
    try {
      this.server.onmessage?.({ jsonrpc: '2.0', id, method, params })
      return await answer.promise
    } finally {
      signal.removeEventListener('abort', abandon)
      this.#asked.delete(id)
    }
  }

  /** Of what servers ask of clients there is only the ping (Model Context Protocol, "Ping"). */
  #refuse(id: number | undefined, method: string): void {
    if (id === undefined) return
    const answer =
      method === 'ping' ? { result: {} } : { error: { code: METHOD_NOT_FOUND, message: `There is no ${method}` } }
    this.server.onmessage?.({ jsonrpc: '2.0', id, ...answer })
  }

  tell(method: string, params: object = {}): void {
    this.server.onmessage?.({ jsonrpc: '2.0', method, params })
  }
}
