import { cutText } from '../lib/text.ts'
import type { PluginHost } from '../plugin/contract.ts'
import { explainFailure, explainStatus, ProviderError, type ProviderIdentity } from './provider-error.ts'

const MAX_REFUSAL_CHARS = 4_096

/** A provider's HTTP API as a plugin reaches it: through its host, every failure judged. */
export interface ProviderHttp {
  /** Throws ProviderError for anything but a success, `permission_denied`, and the signal's reason. */
  fetch(path: string, init: RequestInit & { signal: AbortSignal }): Promise<Response>
}

/** What the body of a refusal says. */
export interface RefusalWords {
  words: string
  code?: string
}

/**
 * `base`: the address that paths are put behind. `headers` go with each request. `read` understands the provider's
 * refusals where they are of a shape of its own.
 */
export function providerHttp(
  host: PluginHost,
  provider: ProviderIdentity,
  base: string,
  headers: Readonly<Record<string, string>>,
  read: (body: string) => RefusalWords = refusalWords,
): ProviderHttp {
  return {
    async fetch(path, init) {
      const response = await host.net
        .fetch(`${base}${path}`, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } })
        .catch((error: unknown) => {
          // A time limit's own reason is a failure of the provider; any other abort is the caller's.
          if (init.signal.aborted && (error as Error | undefined)?.name !== 'TimeoutError') throw error
          if ((error as { code?: unknown } | undefined)?.code === 'permission_denied') throw error
          throw new ProviderError(explainFailure(provider, error), error)
        })
      if (response.ok) return response
      const body = await response.text().catch(() => '')
      const { words, code } = read(cutText(body, MAX_REFUSAL_CHARS))
      throw new ProviderError(explainStatus(provider, response.status, words, code), undefined, body)
    },
  }
}

/** The words and the code of an error body, in any of the shapes providers use. */
export function refusalWords(body: string): RefusalWords {
  try {
    const parsed = JSON.parse(body) as Record<string, unknown>
    const inner = [parsed.error, parsed.detail].find((value) => typeof value === 'object' && value !== null) ?? parsed
    const { message, err_msg, error, title, detail, code, err_code, error_code, status, type } = inner as Record<
      string,
      unknown
    >
    const words = [message, err_msg, error, title, detail].find((value) => typeof value === 'string')
    const found = [code, err_code, error_code, status, type].find((value) => typeof value === 'string')
    return { words: String(words ?? ''), ...(found === undefined ? {} : { code: String(found) }) }
  } catch {
    return { words: body.trim() }
  }
}
