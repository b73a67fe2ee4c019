import type { PluginHost } from '../../plugin/contract.ts'
import { CarrierFault } from '../carrier.ts'

const REQUEST_TIMEOUT_MS = 10_000

/** A carrier's REST API of JSON. */
export interface JsonApi {
  /** Begins every address, without a slash at its end. */
  baseUrl: string
  authorization: string
  /** The API's own words in the body of an error. */
  wordsOf(body: unknown): string | undefined
}

/** The carrier's API refused. */
export class ApiFault extends CarrierFault {
  readonly status: number | undefined

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

/** The body of a successful answer, undefined when it is empty. Throws ApiFault, or the signal's reason. */
export async function askJson(
  host: PluginHost,
  api: JsonApi,
  method: 'GET' | 'POST' | 'DELETE' | 'PATCH',
  path: string,
  body: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  try {
    const response = await host.net.fetch(`${api.baseUrl}${path}`, {
      method,
      headers: {
        authorization: api.authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.any([signal, timeout]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const value = text === '' ? undefined : readBody(text)
    if (response.ok) return value
    throw new ApiFault(api.wordsOf(value) ?? `it answered with status ${response.status}`, response.status)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (timeout.aborted) throw new ApiFault(`it did not answer within ${REQUEST_TIMEOUT_MS / 1000} s`, undefined, error)
    if (!(error instanceof TypeError)) throw error
    const { code } = (error.cause ?? {}) as { code?: string }
    throw new ApiFault(`it can't be reached${code === undefined ? '' : ` (${code})`}`, undefined, error)
  }
}

function readBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
