import { signalWithin } from '../../../lib/async/signal-within.ts'
import { parseCleanJson } from '../../../lib/text.ts'
import type { PluginHost } from '../../../plugin/contract.ts'
import { CarrierFault } from '../carrier.ts'

export const REQUEST_TIMEOUT_MS = 10_000

/** A carrier's API refused, or can't be reached. */
export class ApiFault extends CarrierFault {
  /** Undefined: there was no answer. */
  readonly status: number | undefined

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

/** Request timeout, too early, too many requests: asked later, the API may do it. */
const PASSING = new Set([408, 425, 429])

/** Whether the API would refuse the same request again. */
export function refusesForGood(error: unknown): boolean {
  const { status } = error instanceof ApiFault ? error : {}
  return status !== undefined && status >= 400 && status < 500 && !PASSING.has(status)
}

/** What `fetch` or the timeout threw, as ApiFault; undefined when it was something else. */
export function unreachable(error: unknown): ApiFault | undefined {
  if ((error as Error).name === 'TimeoutError') {
    return new ApiFault(`it did not answer within ${REQUEST_TIMEOUT_MS / 1000} s`, undefined, error)
  }
  if (!(error instanceof TypeError)) return undefined
  const { code } = (error.cause ?? {}) as { code?: string }
  return new ApiFault(`it can't be reached${code === undefined ? '' : ` (${code})`}`, undefined, error)
}

/** What is asked for, or `instead` where the API refuses it with a fault of this kind. */
export async function unless<T, U>(fault: (fault: ApiFault) => boolean, asked: Promise<T>, instead: U): Promise<T | U> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ApiFault && fault(error)) return instead
    throw error
  }
}

interface JsonApiOptions {
  /** Begins every address, without a slash at its end. */
  baseUrl: string
  authorization: string
  /** The API's own words in the body of an error. */
  wordsOf(body: unknown): string | undefined
}

/** A carrier's REST API of JSON. */
export class JsonApi {
  readonly #net: PluginHost['net']
  readonly #options: JsonApiOptions

  constructor({ net }: Pick<PluginHost, 'net'>, options: JsonApiOptions) {
    this.#net = net
    this.#options = options
  }

  /** The body of a successful answer, undefined when it is empty. Throws ApiFault, or the signal's reason. */
  async ask(method: 'GET' | 'POST' | 'DELETE', path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const { baseUrl, authorization, wordsOf } = this.#options
    try {
      const response = await this.#net.fetch(`${baseUrl}${path}`, {
        method,
        headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        signal: signalWithin(REQUEST_TIMEOUT_MS, signal),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const value = text === '' ? undefined : readBody(text)
      if (response.ok) return value
      throw new ApiFault(wordsOf(value) ?? `it answered with status ${response.status}`, response.status)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw unreachable(error) ?? error
    }
  }
}

/** A carrier the operator chose: lists of numbers are long. */
const ANSWER_BOUNDS = { depth: 64, parts: 200_000 }

/** The address of an API: the variable's, or the service's own. */
export function originOf(variable: string | undefined, own: string): string {
  return (variable || own).replace(/\/$/, '')
}

/** The JSON of an answer; undefined where it is none. */
export function readBody(text: string): unknown {
  try {
    return parseCleanJson(text, ANSWER_BOUNDS)
  } catch {
    return undefined
  }
}
