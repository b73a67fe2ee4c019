import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { boundary } from '../../lib/async/boundary.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { explainFailure, explainStatus, ProviderError, type ProviderIdentity } from '../provider-error.ts'
import { refusalWords } from '../provider-http.ts'

/** Where a provider's speech socket is. */
export interface SocketAddress {
  url: string
  headers: Readonly<Record<string, string>>
  /** A header of the answer in which the provider says why it refuses a connection, where its body doesn't. */
  refusalHeader?: string
}

const MAX_REFUSAL_BYTES = 4_096
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024
const REFUSAL_TIMEOUT_MS = 1_000

/**
 * Opens a WebSocket to a provider. Throws ProviderError, which says why the provider refused, PatchbayError
 * `permission_denied`, and the signal's reason.
 */
export async function openSocket(
  provider: ProviderIdentity,
  { url, headers, refusalHeader }: SocketAddress,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<WebSocket> {
  signal.throwIfAborted()
  const socket = new WebSocket(url, { headers, handshakeTimeout: timeoutMs, maxPayload: MAX_MESSAGE_BYTES })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  socket.once('open', resolve)
  socket.once(
    'unexpected-response',
    boundary('provider', (_request, response) => {
      refusal(provider, response, refusalHeader).then(reject, reject)
    }),
  )
  socket.once(
    'error',
    boundary('provider', (error) => {
      const denied =
        error instanceof PatchbayError ? error : error.cause instanceof PatchbayError ? error.cause : undefined
      const late = /handshake has timed out/.test(error.message) ? { ...error, code: 'ETIMEDOUT' } : error
      reject(denied ?? new ProviderError(explainFailure(provider, late), error))
    }),
  )
  try {
    await promise
    return socket
  } catch (error) {
    closeNow(socket)
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
    socket.removeAllListeners()
    // An error between two uses shows as a close.
    socket.on('error', () => {})
  }
}

/** Terminates a connection at once, in any state. */
export function closeNow(socket: WebSocket): void {
  socket.on('error', () => {})
  socket.terminate()
}

/** What an HTTP answer to the upgrade says. */
async function refusal(
  provider: ProviderIdentity,
  response: IncomingMessage,
  header: string | undefined,
): Promise<ProviderError> {
  const timer = setTimeout(() => response.destroy(), REFUSAL_TIMEOUT_MS)
  let body = ''
  try {
    for await (const chunk of response) {
      body += String(chunk)
      if (body.length > MAX_REFUSAL_BYTES) break
    }
  } catch {
    // The status alone says enough.
  } finally {
    clearTimeout(timer)
    response.destroy()
  }
  const { words, code } = refusalWords(body)
  const said = header === undefined ? undefined : response.headers[header]
  return new ProviderError(explainStatus(provider, response.statusCode ?? 0, words || String(said ?? ''), code))
}
