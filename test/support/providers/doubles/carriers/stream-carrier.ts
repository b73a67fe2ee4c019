import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket } from 'ws'
import type { Teardown } from '../../../instance/services.ts'

/** One request we made to the carrier's API. */
export interface ApiRequest {
  method: string
  path: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field
  body: any
}

/** The API of a carrier: keeps what it is asked and answers as told. */
export class ApiDouble {
  readonly requests: ApiRequest[] = []
  url = ''
  answer: (request: ApiRequest) => { status: number; body?: unknown } = () => ({ status: 200, body: {} })

  static async start(t: Teardown): Promise<ApiDouble> {
    const double = new ApiDouble()
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const text = Buffer.concat(chunks).toString()
      const asked = { method: request.method ?? '', path: request.url ?? '', body: text === '' ? {} : JSON.parse(text) }
      double.requests.push(asked)
      const { status, body } = double.answer(asked)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(body === undefined ? undefined : JSON.stringify(body))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    double.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    return double
  }

  async asked(what: RegExp, timeoutMs = 120_000): Promise<ApiRequest> {
    const endMs = performance.now() + timeoutMs
    for (;;) {
      const found = this.requests.find(({ method, path }) => what.test(`${method} ${path}`))
      if (found !== undefined) return found
      if (performance.now() > endMs) throw new Error(`Never asked for ${what}: ${JSON.stringify(this.requests)}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

/** A media stream of a carrier: what it was sent, and words of its own. */
export class StreamDouble {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field
  readonly received: any[] = []
  readonly closed: Promise<number>
  readonly #socket: WebSocket

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => this.received.push(JSON.parse(String(data))))
    this.closed = new Promise((resolve) => socket.on('close', resolve))
  }

  static async open(t: Teardown, url: string): Promise<StreamDouble> {
    const socket = new WebSocket(url)
    t.teardown(() => socket.terminate())
    const double = new StreamDouble(socket)
    await once(socket, 'open')
    return double
  }

  say(message: object): void {
    this.#socket.send(JSON.stringify(message))
  }

  async event(name: string, timeoutMs = 120_000) {
    const endMs = performance.now() + timeoutMs
    for (;;) {
      const found = this.received.find(({ event }) => event === name)
      if (found !== undefined) return found
      if (performance.now() > endMs) throw new Error(`No ${name} came: ${JSON.stringify(this.received).slice(0, 500)}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

/** Plivo's signature, version 3, of a POST with a query. */
export function plivoHeaders(authToken: string, url: string, form: Record<string, string>): Record<string, string> {
  const nonce = randomBytes(12).toString('hex')
  const { search } = new URL(url)
  const fields = Object.keys(form)
    .sort()
    .map((name) => `${name}${form[name]}`)
  const text = `${url}${search === '' ? '?' : '.'}${fields.join('')}.${nonce}`
  const signature = createHmac('sha256', authToken).update(text).digest('base64')
  return { 'x-plivo-signature-v3': `AAAA,${signature}`, 'x-plivo-signature-v3-nonce': nonce }
}

/** A key pair as Telnyx has one for each account. */
export function telnyxKeys() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
    headers(body: string, atMs = Date.now()): Record<string, string> {
      const timestamp = String(Math.floor(atMs / 1000))
      const signature = sign(null, Buffer.from(`${timestamp}|${body}`), privateKey).toString('base64')
      return { 'telnyx-signature-ed25519': signature, 'telnyx-timestamp': timestamp }
    },
  }
}
