import { createHash } from 'node:crypto'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  type CallToolResult,
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import { boundary } from '../../lib/async/boundary.ts'
import { endedBy } from '../../lib/async/ended-by.ts'
import { signalWithin } from '../../lib/async/signal-within.ts'
import type { Clock } from '../../lib/clock.ts'
import { cleanJson } from '../../lib/text.ts'
import type { NetRule } from '../../plugin/grants/net-rule.ts'
import { buildInfo } from '../../process/build-info.ts'
import { KeptConnections } from '../connections.ts'
import { guardedFetch } from '../guarded-fetch.ts'
import { McpTimeout } from './timeout.ts'
import { type McpTool, ToolListing } from './tool-listing.ts'

/**
 * Connections to MCP servers (Model Context Protocol, streamable HTTP), by the official library, which is used here alone. A
 * connection is a session of the protocol: it is kept for the next call, because a caller would hear each round trip.
 */

const MAX_CONNECTIONS = 256
const IDLE_MS = 5 * 60_000
const SWEEP_MS = 30_000
const KEPT_IDLE_MS = 30_000
const MAX_ANSWER_BYTES = 512 * 1024
const MAX_PAGES = 16
const BAD_REQUEST = 400
const NOT_FOUND = 404
const LOST_SESSION =
  /\bsession\b.*\b(?:not found|unknown|invalid|expired|terminated|closed|does(?: not|n't) exist|not (?:valid|initialized|recognized))|\b(?:no|unknown|invalid|expired|missing|unrecognized)\b[^.]*\bsession\b/i
/** Beside the arguments of a call, for servers that want to tell a call that is sent twice. */
const IDEMPOTENCY_META = 'patchbay/idempotency-key'
/** Which span the call belongs to (Model Context Protocol, "Trace context" of `_meta`). */
const TRACE_META = 'traceparent'

export interface McpServer {
  /** The owner: sessions are never shared between workspaces. */
  workspaceId: string
  url: string
  headers: Readonly<Record<string, string>>
  timeoutMs: number
}

/** A call of a tool. */
interface McpCall {
  name: string
  input: Record<string, unknown>
  /** Tells a call that is made twice. */
  key: string | undefined
  /** W3C Trace Context. */
  traceparent: string | undefined
}

interface Connection {
  readonly client: Promise<Client>
  inUse: number
  lastUsedMs: number
  /** Closed once unused. */
  retired: boolean
}

export class McpClients {
  readonly #connections = new Map<string, Connection>()
  readonly #kept: KeptConnections
  readonly #clock: Clock
  readonly #sweep: NodeJS.Timeout

  constructor(options: { allowed: readonly NetRule[]; clock: Clock }) {
    this.#kept = new KeptConnections({ allowed: options.allowed, idleMs: KEPT_IDLE_MS })
    this.#clock = options.clock
    this.#sweep = setInterval(
      boundary('tool', () => this.#closeIdle()),
      SWEEP_MS,
    ).unref()
  }

  /**
   * The server's tools, at most `most`, and no more than is kept of one server: of those whose parameters are none for a tool
   * nothing is held while the next come. Throws McpTimeout, the signal's reason, what the library and sockets throw.
   */
  list(server: McpServer, most: number, signal: AbortSignal): Promise<McpTool[]> {
    return this.#with(server, signal, async (client, options) => {
      const listing = new ToolListing(most)
      let cursor: string | undefined
      for (let page = 0; page < MAX_PAGES && !listing.isFull; page++) {
        const params = cursor === undefined ? {} : { cursor }
        // Not `client.listTools()`, which compiles the server's schemas in this thread.
        const answer = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, options)
        for (const { name, description, title, inputSchema } of cleanJson(answer.tools)) {
          listing.add({ name, description: description ?? title ?? '', inputSchema })
        }
        cursor = answer.nextCursor
        if (cursor === undefined) break
      }
      return listing.tools
    })
  }

  /** What came of a call, for a model to read. Throws as `list`, and McpError for what the server refuses. */
  call(
    server: McpServer,
    { name, input, key, traceparent }: McpCall,
    signal: AbortSignal,
  ): Promise<{ text: string; isError: boolean }> {
    return this.#with(server, signal, async (client, options) => {
      const meta = {
        ...(key === undefined ? {} : { [IDEMPOTENCY_META]: key }),
        ...(traceparent === undefined ? {} : { [TRACE_META]: traceparent }),
      }
      const params = { name, arguments: input, ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) }
      const result = await client.request({ method: 'tools/call', params }, CallToolResultSchema, options)
      return { text: textOf(cleanJson(result)), isError: result.isError === true }
    })
  }

  close(): void {
    clearInterval(this.#sweep)
    for (const [key, connection] of this.#connections) this.#retire(key, connection)
    this.#kept.close()
  }

  async #with<T>(
    server: McpServer,
    signal: AbortSignal,
    use: (client: Client, options: { signal: AbortSignal; timeout: number }) => Promise<T>,
  ): Promise<T> {
    const limit = signalWithin(server.timeoutMs, signal)
    const options = { signal: limit, timeout: server.timeoutMs + 1_000 }
    for (let attempt = 0; ; attempt++) {
      const [key, connection] = this.#connect(server)
      connection.inUse++
      try {
        return await use(await endedBy(connection.client, options.signal), options)
      } catch (error) {
        const isForgotten = namesLostSession(error)
        if (isForgotten || !isServersAnswer(error)) this.#retire(key, connection)
        signal.throwIfAborted()
        if (limit.aborted) throw new McpTimeout(`no answer within ${server.timeoutMs} ms`)
        // The server forgot the session, and did nothing: the protocol asks for a new one.
        if (attempt === 0 && isForgotten) continue
        throw error
      } finally {
        connection.inUse--
        connection.lastUsedMs = this.#clock.monotonicMs()
        if (connection.retired && connection.inUse === 0) closeClient(connection)
      }
    }
  }

  #connect(server: McpServer): [string, Connection] {
    const key = keyOf(server)
    const known = this.#connections.get(key)
    if (known !== undefined) {
      // The latest used last.
      this.#connections.delete(key)
      this.#connections.set(key, known)
      return [key, known]
    }
    const client = this.#open(server)
    // Waiters receive the error; there may be none.
    client.catch(() => undefined)
    const connection = { client, inUse: 0, lastUsedMs: this.#clock.monotonicMs(), retired: false }
    this.#connections.set(key, connection)
    const [oldest] = this.#connections
    if (this.#connections.size > MAX_CONNECTIONS && oldest !== undefined) this.#retire(...oldest)
    return [key, connection]
  }

  async #open({ url, headers, timeoutMs }: McpServer): Promise<Client> {
    const reach = guardedFetch({ connections: this.#kept, maxBytes: MAX_ANSWER_BYTES })
    const client = new Client(
      { name: 'patchbay', version: buildInfo().version },
      { capabilities: {}, jsonSchemaValidator: { getValidator: () => trusted as never } },
    )
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch: async (target, init) => {
        // Nothing is listened to but answers; a broken one is fetched again.
        const isIdle = init?.method === 'GET' && !new Headers(init.headers).has('last-event-id')
        return isIdle ? new Response(null, { status: 405 }) : reach(target, withMeta(init))
      },
    })
    // A transport's members are of looser types than its own interface under exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0], {
      signal: AbortSignal.timeout(timeoutMs),
      timeout: timeoutMs + 1_000,
    })
    return client
  }

  #retire(key: string, connection: Connection): void {
    if (this.#connections.get(key) === connection) this.#connections.delete(key)
    connection.retired = true
    if (connection.inUse === 0) closeClient(connection)
  }

  #closeIdle(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [key, connection] of this.#connections) {
      if (connection.inUse === 0 && nowMs - connection.lastUsedMs > IDLE_MS) this.#retire(key, connection)
    }
  }
}

const keyOf = ({ workspaceId, url, headers }: McpServer): string =>
  createHash('sha256')
    .update(JSON.stringify([workspaceId, url, Object.entries(headers).sort()]))
    .digest('base64')

/** What a server structures is not asked for by schema. */
function trusted<T>(data: unknown): { valid: true; data: T; errorMessage: undefined } {
  return { valid: true, data: data as T, errorMessage: undefined }
}

function closeClient({ client }: Connection): void {
  client.then((one) => one.close()).catch(() => undefined)
}

/** The server heard the call and said no: the connection is as good as before. */
const isServersAnswer = (error: unknown): boolean =>
  error instanceof McpError && error.code !== ErrorCode.RequestTimeout && error.code !== ErrorCode.ConnectionClosed

/**
 * Whether a server says that it doesn't know the session: by 404, as the protocol asks, or as many do by 400 or by an error of
 * JSON-RPC's own ranges, whose words name the session. What a tool says of sessions of its own is in neither.
 */
function namesLostSession(error: unknown): boolean {
  if (error instanceof StreamableHTTPError) {
    return error.code === NOT_FOUND || (error.code === BAD_REQUEST && LOST_SESSION.test(error.message))
  }
  if (!(error instanceof McpError)) return false
  const isOfServer = error.code === ErrorCode.InvalidRequest || (error.code >= -32_099 && error.code <= -32_000)
  return isOfServer && LOST_SESSION.test(error.message)
}

/** A call's key and trace as HTTP tools have them, too. */
function withMeta(init: RequestInit = {}): RequestInit {
  if (typeof init.body !== 'string' || !init.body.includes('"_meta"')) return init
  const { params } = JSON.parse(init.body) as { params?: { _meta?: Record<string, unknown> } }
  const headers = new Headers(init.headers)
  const pairs = { 'idempotency-key': params?._meta?.[IDEMPOTENCY_META], traceparent: params?._meta?.[TRACE_META] }
  for (const [name, value] of Object.entries(pairs)) {
    if (typeof value === 'string' && !headers.has(name)) headers.set(name, value)
  }
  return { ...init, headers }
}

/** The text of a result, or its structured content if it has no text. */
function textOf({ content, structuredContent }: CallToolResult): string {
  const parts = content.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type === 'resource') return 'text' in part.resource ? part.resource.text : `[${part.resource.uri}]`
    return part.type === 'resource_link' ? `[${part.uri}]` : `[${part.type}]`
  })
  const text = parts.join('\n').trim()
  return text === '' && structuredContent !== undefined ? JSON.stringify(structuredContent) : text
}
