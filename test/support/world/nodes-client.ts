import { setTimeout as sleep } from 'node:timers/promises'

/** Requests to whichever of several nodes answers, as through a load balancer, with the statuses that came. */
export class NodesClient {
  readonly #urls: readonly string[]
  readonly #cookies = new Map<string, string>()
  readonly #headers: Record<string, string>
  #next = 0
  /** Answers that nobody should get, with their words. */
  readonly wrong: string[] = []
  answered = 0

  constructor(urls: readonly string[], headers: Record<string, string> = {}) {
    this.#urls = urls
    this.#headers = headers
  }

  /** The answer of the first node that is there and does not drain. A token that ran out is renewed. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape and asserts on it
  async send(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.#askOne(method, path, body)
    if (answer.status !== 401 || !answer.text.includes('token_expired')) return this.#taken(answer, method, path)
    this.#taken(await this.#askOne('POST', '/auth/refresh'), 'POST', '/auth/refresh')
    return this.#taken(await this.#askOne(method, path, body), method, path)
  }

  #taken({ status, text }: { status: number; text: string }, method: string, path: string) {
    this.answered++
    if (status >= 400) this.wrong.push(`${method} ${path}: ${status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  async #askOne(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    for (;;) {
      const url = new URL(path, this.#urls[this.#next++ % this.#urls.length])
      const answer = await this.#ask(url, method, body).catch((error: TypeError) => {
        if (error.name !== 'TypeError') throw error
      })
      if (answer !== undefined && answer.status !== 503) return answer
      await sleep(50)
    }
  }

  async #ask(url: URL, method: string, body: unknown): Promise<{ status: number; text: string }> {
    const response = await fetch(url, {
      method,
      headers: {
        ...this.#headers,
        cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (name !== undefined && value !== undefined) this.#cookies.set(name, value)
    }
    return { status: response.status, text: await response.text() }
  }
}
