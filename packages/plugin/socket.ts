import { ProviderError } from './provider-error.ts'

/** A WebSocket to a provider. */
export interface Socket {
  send(message: string | Uint8Array | Int16Array): void
  /** What comes, text as it is and binary as bytes, until either side closes. Throws ProviderError when it breaks. */
  readonly messages: AsyncIterable<string | Uint8Array>
  close(): void
}

/** Of what came and was not read. */
const MAX_WAITING = 10_000

/** How a WebSocket is asked for. */
export interface SocketOptions {
  protocols?: string[]
  /** Of the request that opens it, such as `authorization`. */
  headers?: Record<string, string>
}

/** Deno and Node take headers as well; browsers don't, and their types say so. */
type OpenWebSocket = new (url: string | URL, options: SocketOptions) => WebSocket

/** Opens a WebSocket, and closes it when the signal aborts. Throws ProviderError when it can't be opened. */
export async function openSocket(
  url: string | URL,
  signal: AbortSignal,
  options: string[] | SocketOptions = [],
): Promise<Socket> {
  signal.throwIfAborted()
  const asked = Array.isArray(options) ? { protocols: options } : options
  const socket = new (WebSocket as unknown as OpenWebSocket)(url, asked)
  socket.binaryType = 'arraybuffer'
  const waiting: (string | Uint8Array)[] = []
  let failure: Error | undefined
  let isOver = false
  let wake: () => void = () => undefined
  const end = (error?: Error): void => {
    failure ??= error
    isOver = true
    wake()
  }
  const close = (): void => {
    end()
    socket.close()
  }
  signal.addEventListener('abort', close, { once: true })
  const broke = (): ProviderError => new ProviderError('The connection broke', { fault: 'transient' })
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve()
    socket.onerror = (event) => {
      reject(ProviderError.unreachable(new URL(url).host, (event as { error?: unknown }).error))
      end(broke())
    }
    socket.onclose = ({ code }) => {
      signal.removeEventListener('abort', close)
      reject(broke())
      end(code === 1000 || code === 1005 ? undefined : broke())
    }
  })
  socket.onmessage = ({ data }) => {
    if (waiting.length >= MAX_WAITING) end(new ProviderError('More came than is read', { fault: 'transient' }))
    else waiting.push(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer))
    wake()
  }
  const messages = (async function* () {
    for (;;) {
      const next = waiting.shift()
      if (next !== undefined) yield next
      else if (isOver) {
        if (failure !== undefined && !signal.aborted) throw failure
        return
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  })()
  return {
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return
      if (typeof message === 'string') socket.send(message)
      // A copy: bytes that lie in a shared buffer can't be sent.
      else socket.send(new Uint8Array(message.buffer, message.byteOffset, message.byteLength).slice())
    },
    messages,
    close,
  }
}
