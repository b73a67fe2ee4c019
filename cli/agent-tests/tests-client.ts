const TIMEOUT_MS = 60_000

/** The API of a running Patchbay, as far as `patchbay test` needs it. */
export class TestsClient {
  readonly #url: string
  readonly #key: string

  constructor(url: string, key: string | undefined) {
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
      throw new Error(`PATCHBAY_URL must be an address such as https://voice.example.com, not "${url.slice(0, 100)}"`)
    }
    if (key === undefined || key === '')
      throw new Error('Set PATCHBAY_API_KEY to an API key with the scopes read and calls')
    this.#url = url.replace(/\/+$/, '')
    this.#key = key
  }

  get = (path: string): Promise<unknown> => this.#ask('GET', path)
  post = (path: string, body: unknown): Promise<unknown> => this.#ask('POST', path, body)

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: { 'x-api-key': this.#key, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
    }).catch((cause: unknown) => {
      const why =
        cause instanceof Error ? ((cause.cause as Error | undefined)?.message ?? cause.message) : String(cause)
      throw new Error(`${this.#url} can't be reached (${why}); is PATCHBAY_URL right?`, { cause })
    })
    const answer: unknown = await response.json().catch(() => undefined)
    if (response.ok) return answer
    throw new Error(`${method} ${path} was answered with ${response.status}: ${detailOf(answer)}`)
  }
}

function detailOf(answer: unknown): string {
  const { detail } = (answer ?? {}) as { detail?: unknown }
  if (typeof detail === 'string') return detail
  if (!Array.isArray(detail)) return 'no reason was given'
  return detail
    .map(({ loc = [], msg }: { loc?: string[]; msg?: string }) => `${loc.slice(1).join('.')} ${msg}`)
    .join('; ')
}
