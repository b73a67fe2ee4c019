import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { NetRule } from '../plugin/net-rule.ts'
import { boundary } from '../process/boundary.ts'
import { brokeWhenReused, connectionsTo, KeptConnections } from './connections.ts'

/** Requests on behalf of agents, to addresses their makers chose. */

const MAX_REDIRECTS = 3
const MAX_RESPONSE_BYTES = 64 * 1024
const utf8 = new TextDecoder()
/** Of undici's codes. */
const OF_NODE: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
}
const REDIRECTS = new Set([301, 302, 303, 307, 308])

export interface Outgoing {
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
export async function sendRequest(outgoing: Outgoing, options: SendOptions): Promise<Reached> {
  const { redirects: maxRedirects = MAX_REDIRECTS } = options
  let next = outgoing
  for (let redirects = 0; ; redirects++) {
    const { status, headers, text } = await readAnswer(next, options, redirects === maxRedirects)
    if (text !== undefined) return { status, contentType: String(headers['content-type'] ?? ''), text }
    next = redirected(next, status, headers.location ?? '')
  }
}

function redirected(before: Outgoing, status: number, location: string): Outgoing {
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

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** At most 64 KiB of it; undefined: it leads elsewhere, and was not read. */
  text: string | undefined
}

/** @param isLast a redirect is not followed, but read */
function readAnswer(outgoing: Outgoing, options: SendOptions, isLast: boolean): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    let [status, headers]: [number, IncomingHttpHeaders] = [0, {}]
    const done = (text: string | undefined) => resolve({ status, headers, text })
    const read = () => utf8.decode(Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES))
    exchange(outgoing, options, {
      head(...head) {
        ;[status, headers] = head
        if (!REDIRECTS.has(status) || headers.location === undefined || isLast) return true
        done(undefined)
        return false
      },
      data(chunk) {
        chunks.push(chunk)
        length += chunk.length
        if (length < MAX_RESPONSE_BYTES) return true
        done(read())
        return false
      },
      end: () => done(read()),
      failed: reject,
    })
  })
}

/** The head of an answer, and its body as it comes; reading no further ends the connection's use. */
export interface Opened {
  status: number
  headers: IncomingHttpHeaders
  body: ReadableStream<Uint8Array>
}

/** Sends the request; resolves with the head of the answer. Redirects are not followed. Throws as `sendRequest` does. */
export function openResponse(outgoing: Outgoing, options: SendOptions): Promise<Opened> {
  return new Promise((resolve, reject) => {
    let sink: ReadableStreamDefaultController<Uint8Array>
    const answer = exchange(outgoing, options, {
      head(status, headers) {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            sink = controller
          },
          pull: () => answer.resume(),
          cancel: (reason) => answer.stop(reason),
        })
        resolve({ status, headers, body })
        return true
      },
      data(chunk) {
        sink.enqueue(chunk)
        if ((sink.desiredSize ?? 0) <= 0) answer.pause()
        return true
      },
      end: () => sink.close(),
      failed(error) {
        reject(error)
        sink?.error(error)
      },
    })
  })
}

/** What becomes of an answer as it comes; false: no more of it. After `end` and `failed` comes nothing. */
interface Sink {
  head(status: number, headers: IncomingHttpHeaders): boolean
  data(chunk: Buffer): boolean
  end(): void
  failed(error: unknown): void
}

interface Exchange {
  pause(): void
  resume(): void
  /** Nothing is told any more. */
  stop(reason?: unknown): void
}

/** Sends a request once, or once more where a kept connection was closed just as it was used again. */
function exchange(outgoing: Outgoing, options: SendOptions, sink: Sink): Exchange {
  const { over, signal } = options
  const target = new URL(outgoing.url)
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw new Error(`"${target.protocol}" is no address of the web`)
  }
  signal.throwIfAborted()
  const own = over instanceof KeptConnections ? undefined : connectionsTo(target, over.allowed)
  const connections = own ?? (over as KeptConnections).to(target)
  let controller: Dispatcher.DispatchController | undefined
  let isOver = false
  let isOpen = false
  const end = (): void => {
    isOver = true
    signal.removeEventListener('abort', aborted)
    // What is under way ends first.
    own?.close().catch(() => undefined)
  }
  const stop = (reason?: unknown): void => {
    if (isOver) return
    end()
    controller?.abort(reason instanceof Error ? reason : new Error('no more of it is read'))
    own?.destroy().catch(() => undefined)
  }
  const fail = (error: unknown): void => {
    end()
    sink.failed(error)
  }
  const aborted = boundary('tool', (): void => {
    stop(signal.reason)
    sink.failed(signal.reason)
  })
  signal.addEventListener('abort', aborted)
  let again: Exchange | undefined
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(given) {
      controller = given
      if (isOver) given.abort(new Error('nobody waits for it any more'))
    },
    onResponseStart(_, status, headers) {
      // What comes before the answer (RFC 9110, 15.2).
      if (isOver || status < 200) return
      isOpen = true
      if (!sink.head(status, headers)) stop()
    },
    onResponseData(_, chunk) {
      if (!isOver && !sink.data(chunk)) stop()
    },
    onResponseEnd() {
      if (isOver) return
      end()
      sink.end()
    },
    onResponseError(_, error) {
      if (isOver) return
      // Half an answer is none: what is missing may be what it says.
      if (isOpen) return fail(new Error('the answer broke off'))
      if (own !== undefined || !brokeWhenReused(error)) return fail(asOfSocket(error))
      end()
      again = exchange(outgoing, { ...options, over: { allowed: over.allowed } }, sink)
    },
  }
  try {
    connections.dispatch(requestOf(target, outgoing), handler)
  } catch (error) {
    fail(asOfSocket(error))
  }
  return {
    pause: () => (again ?? controller)?.pause(),
    resume: () => (again ?? controller)?.resume(),
    stop: (reason) => (again === undefined ? stop(reason) : again.stop(reason)),
  }
}

/** In the words of Node's sockets, whatever the library's are. */
function asOfSocket(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (code?.startsWith('UND_ERR_') !== true) return error
  const ofNode = OF_NODE[code]
  return Object.assign(new Error(message, { cause: error }), ofNode === undefined ? {} : { code: ofNode })
}

function requestOf(target: URL, { method, headers, body }: Outgoing): Dispatcher.DispatchOptions {
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
