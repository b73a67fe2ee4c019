import { setTimeout as sleep } from 'node:timers/promises'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'
import {
  ApiFault,
  originOf,
  REQUEST_TIMEOUT_MS,
  readBody,
  unreachable,
} from '../../runtime/plugin-sdk/telephony/stream/rest.ts'

/** 429 means that nothing was done: asking again is safe. */
const RETRY_DELAYS_MS = [500, 1_000, 2_000]
const MAX_RETRY_AFTER_MS = 5_000

/** By their names of the API without the capital; a list is the same name again and again. */
type TwilioFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** Twilio's REST API, version 2010-04-01. */
export class TwilioApi {
  readonly #host: PluginHost

  /** Throws when the account is not named. */
  constructor(host: PluginHost) {
    this.#host = host
    this.#accountSid()
  }

  /** Read each time: the key may change while calls run. */
  get authToken(): string {
    return this.#host.env.get('TWILIO_AUTH_TOKEN') ?? ''
  }

  #accountSid(): string {
    const accountSid = this.#host.env.get('TWILIO_ACCOUNT_SID') ?? ''
    if (/^AC[0-9a-f]{32}$/i.test(accountSid)) return accountSid
    throw new Error('TWILIO_ACCOUNT_SID must be set to the SID of the account: AC and 32 digits of its console page')
  }

  /** Fetches the account itself, which costs nothing. */
  async check(signal: AbortSignal): Promise<void> {
    await this.ask('GET', '', {}, signal)
  }

  /** @param path below the account, such as `Calls`; empty: the account. Throws ApiFault with Twilio's own words, or the signal's reason. */
  async ask<T>(method: 'GET' | 'POST' | 'DELETE', path: string, fields: TwilioFields, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    try {
      const response = await this.#request(method, path, new URLSearchParams(formOf(fields)), signal)
      const text = await response.text()
      const body = text === '' ? undefined : readBody(text)
      if (!response.ok) throw faultOf(response.status, body)
      if (text !== '' && body === undefined) throw new ApiFault('its answer could not be read')
      return body as T
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw unreachable(error) ?? error
    }
  }

  async #request(method: string, path: string, form: URLSearchParams, signal: AbortSignal): Promise<Response> {
    const query = method === 'GET' && form.size > 0 ? `?${form}` : ''
    const accountSid = this.#accountSid()
    const origin = originOf(this.#host.env.get('TWILIO_API_URL'), 'https://api.twilio.com')
    const below = path === '' ? '' : `/${path}`
    const authorization = `Basic ${Buffer.from(`${accountSid}:${this.authToken}`).toString('base64')}`
    for (let attempt = 0; ; attempt++) {
      const response = await this.#host.net.fetch(`${origin}/2010-04-01/Accounts/${accountSid}${below}.json${query}`, {
        method,
        headers: { authorization, accept: 'application/json' },
        signal: signalWithin(REQUEST_TIMEOUT_MS, signal),
        ...(method === 'POST' ? { body: form } : {}),
      })
      const delayMs = RETRY_DELAYS_MS[attempt]
      if (response.status !== 429 || delayMs === undefined) return response
      await response.body?.cancel()
      const saysMs = Number(response.headers.get('retry-after') ?? 0) * 1000
      await sleep(Math.min(Math.max(delayMs, saysMs || 0), MAX_RETRY_AFTER_MS), undefined, { signal })
    }
  }
}

/** Twilio refused, with the number of its error catalogue. */
export class TwilioFault extends ApiFault {
  readonly code: number | undefined

  constructor(message: string, status: number, code: number | undefined) {
    super(message, status)
    this.code = code
  }
}

function faultOf(status: number, body: unknown): TwilioFault {
  const { message, code } = (body ?? {}) as { message?: unknown; code?: unknown }
  const number = typeof code === 'number' ? code : undefined
  const words = typeof message === 'string' && message !== '' ? message : `it answered with status ${status}`
  return new TwilioFault(number === undefined ? words : `${words} (${number})`, status, number)
}

function formOf(fields: TwilioFields): [string, string][] {
  return Object.entries(fields).flatMap(([key, value]): [string, string][] => {
    const name = `${key.charAt(0).toUpperCase()}${key.slice(1)}`
    const values = Array.isArray(value) ? value : value === undefined ? [] : [value]
    return values.map((item) => [name, String(item)])
  })
}
