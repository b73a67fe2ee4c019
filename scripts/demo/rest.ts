import { ERRORS } from '../../runtime/lib/errors.ts'

/** A JSON client of the REST API that keeps its cookies, as a browser would. */
export class RestClient {
  readonly url: string
  readonly #cookies: Map<string, string>

  constructor(url: string, cookies = new Map<string, string>()) {
    this.url = url
    this.#cookies = cookies
  }

  /** The same user at another node. */
  at(url: string): RestClient {
    return new RestClient(url, this.#cookies)
  }

  /** The body of a successful answer. `body`: a FormData, or what is sent as JSON. Throws an Error with status and body of any other. A token that ran out is renewed. */
  async send<T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<T> {
    const first = await this.#ask(method, path, body)
    const isExpired = first.status === 401 && first.text.includes(EXPIRED) && this.#cookies.has('refresh_token')
    if (isExpired) await this.#ask('POST', '/auth/refresh')
    const { ok, status, text } = isExpired ? await this.#ask(method, path, body) : first
    if (!ok) throw new Error(`${method} ${path} answered ${status}: ${text}`)
    return JSON.parse(text) as T
  }

  async #ask(method: string, path: string, body?: unknown): Promise<{ ok: boolean; status: number; text: string }> {
    const isJson = body !== undefined && !(body instanceof FormData)
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: {
        cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(isJson ? { 'content-type': 'application/json' } : {}),
      },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as FormData) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (name !== undefined && value !== undefined) this.#cookies.set(name, value)
    }
    return { ok: response.ok, status: response.status, text: await response.text() }
  }
}

const TIMEOUT_MS = 30_000
const EXPIRED = ERRORS.token_expired.detail

/** The fields of GET /calls/{call_log_id} that the demo looks at. */
export interface CallLog {
  call_log_id: string
  status: string
  end_reason: string | null
  duration: number | null
  transcript: { role: 'user' | 'assistant'; text: string; start_ms: number; end_ms: number; interrupted: boolean }[]
  usage: { llm_input_tokens: number; llm_output_tokens: number; stt_seconds: number; tts_characters: number }
  latency: { turns: number; p50_ms: number | null; p95_ms: number | null }
}

export interface SessionToken {
  call_log_id: string
  realtime_url: string
}
