import type { IncomingHttpHeaders } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { endedBy } from '../lib/async/ended-by.ts'
import type { NetRule } from '../plugin/grants/net-rule.ts'
import { brokeWhenReused, connectionsTo, KeptConnections } from './connections.ts'

/** Requests on behalf of agents, to addresses their makers chose. */

const MAX_REDIRECTS = 3
const MAX_RESPONSE_BYTES = 64 * 1024
/** Chunks of one byte are parsed up to so many at a time, which takes milliseconds. */
const BUFFER_BYTES = 4 * 1024
const utf8 = new TextDecoder()
/** Of undici's codes. */
const OF_NODE: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
}
/** Content codings of servers that compress unasked (RFC 9110, 8.4.1). */
const DECODERS = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])
/** Answers that have no body (fetch standard, "null body status"). */
export const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])
const REDIRECTS = new Set([301, 302, 303, 307, 308])

export interface HttpRequestSpec {
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  body?: string
}

export interface Reached {
  status: number
  contentType: string
  /** At most 64 KiB of it. */
  text: string
  /** The header of this name. */
  retryAfter?: string
}

export interface SendOptions {
  /** Over whose connections, with their operator's exceptions; or the exceptions, for a connection of its own. */
  over: KeptConnections | { readonly allowed: readonly NetRule[] }
  signal: AbortSignal
  /** Redirects that are followed; default 3. */
  redirects?: number
}

/**
 * Sends the request and reads the answer. The address each name resolves to is checked and is the one connected to, on
 * redirects too. A redirect to another origin gets none of the headers.
 * Throws ForbiddenAddress, the signal's reason and what sockets throw.
 */
export async function sendRequest(outgoing: HttpRequestSpec, options: SendOptions): Promise<Reached> {
  const { redirects: maxRedirects = MAX_REDIRECTS } = options
  let next = outgoing
  for (let redirects = 0; ; redirects++) {
    const { status, headers, body, close } = await openResponse(next, options)
    if (REDIRECTS.has(status) && headers.location !== undefined && redirects < maxRedirects) {
      close()
      next = redirected(next, status, String(headers.location))
    } else {
      const retryAfter = headers['retry-after']
      return {
        status,
        contentType: String(headers['content-type'] ?? ''),
        text: await textOf(body),
        ...(retryAfter !== undefined && { retryAfter }),
      }
    }
  }
}

async function textOf(body: OpenResponse['body']): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= MAX_RESPONSE_BYTES) break
  }
  return utf8.decode(Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES))
}

function redirected(before: HttpRequestSpec, status: number, location: string): HttpRequestSpec {
  const from = new URL(before.url)
  const to = new URL(location, from)
  if (to.protocol !== from.protocol && to.protocol !== 'https:') {
    throw new Error(`The redirect to ${to.protocol}//${to.host} was refused`)
  }
  const headers = to.origin === from.origin ? before.headers : {}
  const { body, ...rest } = before
  const keeps = status === 307 || status === 308 || before.method === 'GET'
  const method = keeps ? before.method : 'GET'
  return { ...rest, url: to.href, headers, method, ...(keeps && body !== undefined ? { body } : {}) }
}

/** The head of an answer, and its body, which is decompressed as it is read. */
export interface OpenResponse {
  status: number
  headers: IncomingHttpHeaders
  /** Can be read once. Reading no further ends the connection's use. */
  body: AsyncIterable<Uint8Array>
  /** Ends the connection's use, whether or not the body was read. */
  close(): void
}

/** Sends the request; resolves with the head of the answer. Redirects are not followed. Throws as `sendRequest` does. */
export async function openResponse(outgoing: HttpRequestSpec, options: SendOptions): Promise<OpenResponse> {
  const { statusCode: status, headers, body } = await exchange(outgoing, options)
  // An unread body may fail.
  body.on('error', () => undefined)
  const close = (): void => {
    body.destroy()
  }
  if (outgoing.method === 'HEAD' || BODILESS.has(status)) {
    body.resume()
    return { status, headers, body: nothing(), close }
  }
  const coding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase()
  const isPlain = coding === '' || coding === 'identity'
  return { status, headers, body: isPlain ? read(body, options) : readDecoded(body, coding, options), close }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* read(body: Readable, { signal }: SendOptions): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      yield chunk
      // What has come already would be read without a turn of the loop between.
      await nextTurn()
    }
  } catch (cause) {
    signal.throwIfAborted()
    // A truncated response is an error.
    throw new Error('the answer broke off', { cause })
  }
}

async function* readDecoded(body: Readable, coding: string, options: SendOptions): AsyncGenerator<Uint8Array> {
  const decoder = DECODERS.get(coding)?.()
  if (decoder === undefined) {
    body.destroy()
    throw new Error(`the answer's content encoding ${JSON.stringify(coding)} is not supported`)
  }
  const decoded = pipeline(read(body, options), decoder, () => undefined)
  try {
    yield* decoded
  } catch (cause) {
    options.signal.throwIfAborted()
    if (!isOfDecoder(cause)) throw cause
    throw new Error(`the answer is not the ${coding} it says it is`, { cause })
  } finally {
    body.destroy()
  }
}

const isOfDecoder = (error: unknown): boolean => /^(Z_|ERR_)/.test((error as NodeJS.ErrnoException).code ?? '')

/** Sends a request once, or once more where a kept connection was closed just as it was used again. */
async function exchange(outgoing: HttpRequestSpec, { over, signal }: SendOptions): Promise<Dispatcher.ResponseData> {
  const target = new URL(outgoing.url)
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw new Error(`"${target.protocol}" is no address of the web`)
  }
  signal.throwIfAborted()
  const request = { ...requestOf(target, outgoing), signal, highWaterMark: BUFFER_BYTES }
  // A request that waits for its connection does not hear its signal.
  const ask = (connections: Dispatcher) => endedBy(connections.request(request), signal)
  if (over instanceof KeptConnections) {
    try {
      return await ask(over.to(target))
    } catch (error) {
      if (signal.aborted || !brokeWhenReused(error as Error)) throw asOfSocket(error)
    }
  }
  const own = connectionsTo(target, over.allowed)
  try {
    const answer = await ask(own)
    // Once the answer was read.
    own.close().catch(() => undefined)
    return answer
  } catch (error) {
    own.destroy().catch(() => undefined)
    throw asOfSocket(error)
  }
}

/** Error codes of Node's sockets, mapped from the library's. */
function asOfSocket(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (code?.startsWith('UND_ERR_') !== true) return error
  const ofNode = OF_NODE[code]
  return Object.assign(new Error(message, { cause: error }), ofNode === undefined ? {} : { code: ofNode })
}

function requestOf(target: URL, { method, headers, body }: HttpRequestSpec): Dispatcher.DispatchOptions {
  const named: Record<string, string> = { 'user-agent': 'Patchbay', 'accept-encoding': 'identity' }
  if (target.username !== '') {
    const user = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`
    named.authorization = `Basic ${Buffer.from(user).toString('base64')}`
  }
  for (const [name, value] of Object.entries(headers)) named[name.toLowerCase()] = value
  // It is counted when it is sent.
  delete named['content-length']
  return {
    origin: target.origin,
    path: `${target.pathname}${target.search}`,
    method: method as Dispatcher.HttpMethod,
    headers: named,
    ...(body === undefined ? {} : { body }),
  }
}
