import { setTimeout as sleep } from 'node:timers/promises'
import twilio from 'twilio'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'
import { ApiFault, REQUEST_TIMEOUT_MS, unreachable } from '../../runtime/plugin-sdk/telephony/stream/rest.ts'

export type TwilioClient = InstanceType<typeof twilio.Twilio>

/** 429 means that nothing was done: asking again is safe. */
const RETRY_DELAYS_MS = [500, 1_000, 2_000]
const MAX_RETRY_AFTER_MS = 5_000

interface Request {
  method: string
  uri: string
  username?: string
  password?: string
  headers?: Record<string, string>
  params?: Record<string, unknown>
  data?: Record<string, unknown>
}

/** Twilio's REST API through its own package, whose requests go through the plugin's handle. */
export class TwilioApi {
  readonly accountSid: string
  readonly authToken: string
  readonly #host: PluginHost
  readonly #baseUrl: string | undefined

  /** Throws when the account is not named. */
  constructor(host: PluginHost) {
    this.#host = host
    this.accountSid = host.env.get('TWILIO_ACCOUNT_SID') ?? ''
    this.authToken = host.env.get('TWILIO_AUTH_TOKEN') ?? ''
    this.#baseUrl = host.env.get('TWILIO_API_URL') || undefined
    if (!/^AC[0-9a-f]{32}$/i.test(this.accountSid)) {
      throw new Error('TWILIO_ACCOUNT_SID must be set to the SID of the account: AC and 32 digits of its console page')
    }
  }

  /** Runs one question. Throws ApiFault with Twilio's own words, or the signal's reason. */
  async ask<T>(signal: AbortSignal, question: (client: TwilioClient) => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const httpClient = { request: (request: Request) => this.#request(request, signal) }
    const client = new twilio.Twilio(this.accountSid, this.authToken, {
      env: {},
      // The package types it as its own class; this is the one method it calls.
      httpClient: httpClient as never,
    })
    try {
      return await question(client)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw faultOf(error)
    }
  }

  async #request(request: Request, signal: AbortSignal) {
    for (let attempt = 0; ; attempt++) {
      const response = await this.#fetch(request, signal)
      const delayMs = RETRY_DELAYS_MS[attempt]
      if (response.status !== 429 || delayMs === undefined) {
        return {
          statusCode: response.status,
          body: await response.text(),
          headers: Object.fromEntries(response.headers),
        }
      }
      await response.body?.cancel()
      const saysMs = Number(response.headers.get('retry-after') ?? 0) * 1000
      await sleep(Math.min(Math.max(delayMs, saysMs || 0), MAX_RETRY_AFTER_MS), undefined, { signal })
    }
  }

  #fetch({ method, uri, username, password, headers, params, data }: Request, signal: AbortSignal): Promise<Response> {
    const asked = new URL(uri)
    const url = this.#baseUrl === undefined ? asked : new URL(asked.pathname + asked.search, this.#baseUrl)
    for (const [name, value] of formOf(params)) url.searchParams.append(name, value)
    const credentials = Buffer.from(`${username}:${password}`).toString('base64')
    return this.#host.net.fetch(url, {
      method: method.toUpperCase(),
      headers: { ...headers, authorization: `Basic ${credentials}` },
      signal: signalWithin(REQUEST_TIMEOUT_MS, signal),
      ...(method.toLowerCase() === 'get' || data === undefined ? {} : { body: new URLSearchParams(formOf(data)) }),
    })
  }
}

/** Twilio refused, with the number of its error catalogue. */
export class TwilioFault extends ApiFault {
  readonly code: number | undefined

  constructor(message: string, status: number, code: number | undefined, cause: unknown) {
    super(message, status, cause)
    this.code = code
  }
}

function faultOf(error: unknown): Error {
  const { message, code, status } = error as { message?: unknown; code?: unknown; status?: unknown }
  if (typeof status === 'number') {
    const number = typeof code === 'number' ? code : undefined
    const words = typeof message === 'string' && message !== '' ? message : `it answered with status ${status}`
    return new TwilioFault(number === undefined ? words : `${words} (${number})`, status, number, error)
  }
  if (error instanceof SyntaxError) return new ApiFault('its answer could not be read', undefined, error)
  return unreachable(error) ?? (error as Error)
}

/** Fields as a form carries them: a list is the same name again and again. */
function formOf(fields: Record<string, unknown> | undefined): [string, string][] {
  return Object.entries(fields ?? {}).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value === null) return []
    return Array.isArray(value) ? value.map((item) => [name, String(item)]) : [[name, String(value)]]
  })
}
