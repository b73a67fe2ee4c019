import { initializeLogger } from '@livekit/agents'
import pino from 'pino'
import { WebSocketServer } from 'ws'
import { endedBy } from '../../runtime/lib/async/ended-by.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'

const LIMIT_MS = 15_000

/** A request as it went on the wire. */
export interface Recorded {
  /** `POST`, or `GET` of a socket. */
  method: string
  path: string
  query: URLSearchParams
  /** JSON, or a form's fields; undefined without a body. */
  body: unknown
  /** Text messages of a socket. */
  messages: string[]
}

/** Records what a plugin sends over HTTP and WebSocket. Sockets get no answer: only what was asked matters. */
export class Recorder {
  readonly #server: WebSocketServer
  #requests: Recorded[] = []
  #heard: (line: string, recorded: Recorded) => void = () => {}

  static async open(): Promise<Recorder> {
    initializeLogger({ pretty: false, level: 'silent' })
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    const listening = Promise.withResolvers<void>()
    server.once('listening', listening.resolve)
    server.once('error', listening.reject)
    await listening.promise
    return new Recorder(server)
  }

  private constructor(server: WebSocketServer) {
    this.#server = server
    server.on('connection', (socket, { url = '' }) => {
      const recorded = this.#add('GET', url, undefined)
      socket.on('error', () => {})
      socket.on('message', (data, isBinary) => {
        if (isBinary) return
        recorded.messages.push(String(data))
        this.#heard(String(data), recorded)
      })
    })
  }

  /** Where sockets are recorded. */
  get url(): string {
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  }

  /** A plugin's host with these variables. HTTP requests get what `answer` gives, or a refusal. */
  host(env: Readonly<Record<string, string>>, answer: (request: Recorded) => object | undefined = () => undefined) {
    const refuse = () => {
      throw new Error('the recorder has no such handle')
    }
    const host: PluginHost = {
      plugin: 'recorded',
      env: { get: (name) => env[name] },
      net: {
        fetch: async (url, init) => {
          const recorded = this.#add(init?.method ?? 'GET', String(url), await bodyOf(init?.body))
          this.#heard(`${recorded.method} ${recorded.path}`, recorded)
          const body = answer(recorded)
          return Response.json(body ?? { error: 'recorded' }, { status: body === undefined ? 400 : 200 })
        },
        ...{ connect: refuse, udp: refuse, listen: refuse, resolve: refuse, srv: refuse },
      },
      run: { spawn: refuse },
      read: { bytes: refuse },
      log: pino({ level: 'silent' }),
      signal: new AbortController().signal,
    }
    return host
  }

  /** All that `use` asks for until it ends. */
  async recordAll(use: () => Promise<unknown>): Promise<Recorded[]> {
    this.#requests = []
    await use()
    return this.#requests
  }

  /** The request of `use` in which a message, or `POST /path`, matches `last`, and all said until then. Throws where none comes. */
  async recordUntil(last: RegExp, use: () => unknown): Promise<Recorded> {
    const came = Promise.withResolvers<Recorded>()
    let failure: unknown
    this.#heard = (line, recorded) => {
      if (last.test(line)) came.resolve(recorded)
    }
    const asked = async () => use()
    // What it asked for is refused sooner or later.
    asked().catch((error) => {
      failure = error
    })
    try {
      return await endedBy(came.promise, AbortSignal.timeout(LIMIT_MS))
    } catch {
      throw new Error(`no request like ${last} came within ${LIMIT_MS} ms`, { cause: failure })
    } finally {
      this.#heard = () => {}
      for (const socket of this.#server.clients) socket.terminate()
    }
  }

  close(): void {
    for (const socket of this.#server.clients) socket.terminate()
    this.#server.close()
  }

  #add(method: string, address: string, body: unknown): Recorded {
    const { pathname, searchParams } = new URL(address, 'http://recorded')
    const recorded: Recorded = { method, path: pathname, query: searchParams, body, messages: [] }
    this.#requests.push(recorded)
    return recorded
  }
}

async function bodyOf(body: unknown): Promise<unknown> {
  if (body === undefined || body === null) return undefined
  if (body instanceof URLSearchParams || body instanceof FormData) return fieldsOf(body)
  const text = await new Response(body as Uint8Array<ArrayBuffer> | string).text()
  return /^[{[]/.test(text) ? JSON.parse(text) : text
}

/** The fields of a query or a form; one that is repeated as a list, and one of a list (`names[]`) by its own name. */
export function fieldsOf(form: URLSearchParams | FormData): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name)
    fields[name.replace(/\[\]$/, '')] = values.length === 1 ? values[0] : values
  }
  return fields
}
