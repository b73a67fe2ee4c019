import { type ObjectSource, type ObjectStore, ProviderError, type StoredObject } from '@patchbay/plugin'

const PIECE_BYTES = 1 << 20

/** Objects on an HTTP server that keeps what it is PUT under a path, and serves it to each client that has a signed link. */
export class Attic implements ObjectStore {
  readonly #url: string
  readonly #key: string

  constructor(url: string, key: string) {
    this.#url = url.replace(/\/$/, '')
    this.#key = key
  }

  async put(key: string, source: ObjectSource, contentType: string, signal: AbortSignal): Promise<void> {
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (at >= source.size) return controller.close()
        const end = Math.min(source.size, at + PIECE_BYTES)
        controller.enqueue(await source.bytes(at, end))
        at = end
      },
    })
    // The server keeps nothing of a body that does not come to its end.
    const headers = { 'content-type': contentType }
    const response = await this.#ask(key, { method: 'PUT', headers, body, signal, duplex: 'half' } as RequestInit)
    await response.body?.cancel()
  }

  async get(
    key: string,
    signal: AbortSignal,
    range?: { start: number; end: number },
  ): Promise<StoredObject | undefined> {
    const headers: Record<string, string> =
      range === undefined ? {} : { range: `bytes=${range.start}-${range.end - 1}` }
    const response = await this.#ask(key, { headers, signal })
    if (response.status === 404) {
      await response.body?.cancel()
      return undefined
    }
    const [, whole = response.headers.get('content-length')] =
      /\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? []
    return { size: Number(whole), body: response.body ?? new ReadableStream() }
  }

  async url(
    key: string,
    { expiresInS, filename }: { expiresInS: number; filename: string },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const response = await this.#ask(key, { method: 'HEAD', signal })
    if (response.status === 404) return undefined
    const query = new URLSearchParams({ until: String(Math.floor(Date.now() / 1000) + expiresInS), filename })
    query.append('signature', await this.#sign(`${key}?${query}`))
    return `${this.#url}/${key}?${query}`
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    const response = await this.#ask(key, { method: 'DELETE', signal })
    await response.body?.cancel()
  }

  async #ask(key: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, authorization: `Bearer ${this.#key}` }
    const response = await fetch(`${this.#url}/${key}`, { ...init, headers }).catch((error: unknown) => {
      if (init.signal?.aborted) throw error
      throw new ProviderError('Attic could not be reached', { fault: 'transient' })
    })
    if (response.ok || response.status === 404) return response
    throw ProviderError.ofStatus('Attic', response.status, await response.text())
  }

  /** HMAC-SHA256 by the key, in hexadecimal. */
  async #sign(text: string): Promise<string> {
    const bytes = new TextEncoder()
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const key = await crypto.subtle.importKey('raw', bytes.encode(this.#key), algorithm, false, ['sign'])
    const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes.encode(text)))
    return Array.from(signature, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}
