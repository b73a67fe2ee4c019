import { QdrantClient } from '@qdrant/js-client-rest'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'
import {
  explainFailure,
  explainStatus,
  ProviderError,
  type ProviderIdentity,
} from '../../runtime/plugin-sdk/provider-error.ts'

const PROVIDER: ProviderIdentity = { title: 'Qdrant', keyVariable: 'QDRANT_API_KEY' }
const TIMEOUT_MS = 10_000
const MAX_CONNECTIONS = 16

/** The operator's Qdrant. Its client brings its own connections, so the grants are enforced by the guard of the process. */
export class QdrantServer {
  readonly collection: string
  readonly #client: QdrantClient

  /** Throws `plugin` when QDRANT_URL is no address, and `permission_denied` without its grant. */
  constructor(host: PluginHost) {
    const address = host.env.get('QDRANT_URL') ?? ''
    const url = URL.canParse(address) ? new URL(address) : undefined
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      throw new PatchbayError('plugin', {
        params: { reason: `QDRANT_URL "${address}" is not an http or https address` },
      })
    }
    this.collection = host.env.get('QDRANT_COLLECTION') || 'patchbay'
    const key = host.env.get('QDRANT_API_KEY')
    this.#client = new QdrantClient({
      host: url.hostname,
      // The client would take 6333 where the address, and so its grant, means 80 or 443.
      port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
      https: url.protocol === 'https:',
      prefix: url.pathname.replace(/\/+$/, ''),
      timeout: TIMEOUT_MS,
      maxConnections: MAX_CONNECTIONS,
      checkCompatibility: false,
      ...(key ? { headers: { 'api-key': key } } : {}),
    })
  }

  /** Asks the server. Throws ProviderError, or the signal's reason. */
  async ask<T>(signal: AbortSignal, request: (client: QdrantClient) => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    // The client takes no signal: what is given up ends by the client's own time limit.
    const asking = request(this.#client)
    asking.catch(() => {})
    try {
      return await Promise.race([asking, aborted])
    } catch (error) {
      if (signal.aborted) throw error
      throw new ProviderError(failureOf(error), error)
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.ask(signal, (client) => client.getCollections())
  }
}

/** HTTP status of what the client threw, where there was an answer. */
export function statusOf(error: unknown): number | undefined {
  const cause = error instanceof ProviderError ? error.failure : (error as { status?: unknown })
  return typeof cause.status === 'number' ? cause.status : undefined
}

function failureOf(error: unknown) {
  const { status, data } = error as { status?: unknown; data?: { status?: { error?: unknown } } }
  if (typeof status !== 'number') return explainFailure(PROVIDER, error)
  return explainStatus(PROVIDER, status, String(data?.status?.error ?? ''))
}
