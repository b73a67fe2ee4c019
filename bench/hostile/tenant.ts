import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt, SignJWT } from 'jose'
import WebSocket from 'ws'

/** A tenant of a running instance, over its API alone. */

const WAIT_MS = 300_000
/** Minutes of speech; a first message has at most 10,000 characters. */
const LONG_SPEECH = Array.from({ length: 300 }, (_, i) => `This is sentence number ${i}.`).join(' ')

export class Tenant {
  readonly url: string
  readonly cookies: string
  agentId = ''
  number = ''

  private constructor(url: string, cookies: string) {
    this.url = url
    this.cookies = cookies
  }

  /**
   * Creates a user with an agent and a number of the simulated carrier. With the secret of the installation its access token lasts
   * a week, as one that another service has signed.
   */
  static async signUp(url: string, name: string, tokenSecret?: string): Promise<Tenant> {
    const credentials = { email: `${name}@example.com`, password: 'correct horse battery' }
    const json = { 'content-type': 'application/json' }
    const user = { ...credentials, name, phone_number: '+14155550123' }
    await fetch(`${url}/auth/signup`, { method: 'POST', headers: json, body: JSON.stringify(user) })
    const login = await fetch(`${url}/auth/login`, { method: 'POST', headers: json, body: JSON.stringify(credentials) })
    const cookies = login.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
    const kept =
      tokenSecret === undefined ? cookies : await Promise.all(cookies.map((one) => lasting(one, tokenSecret)))
    const tenant = new Tenant(url, kept.join('; '))
    tenant.agentId = await tenant.agent({ first_message: 'Hello.', TTS_provider: 'sim', TTS_voice: 'tone' })
    tenant.number = `+1415555${name === 'quiet' ? '1001' : '1002'}`
    await tenant.post('/phone-numbers', { phone_number: tenant.number, provider: 'sim', agent_id: tenant.agentId })
    return tenant
  }

  async agent(fields: Record<string, unknown>): Promise<string> {
    const { status, body } = await this.post('/agents', {
      agent_name: 'Ada',
      system_prompt: 'You answer.',
      ...fields,
    })
    if (status !== 201) throw new Error(`The agent was refused: ${JSON.stringify(body)}`)
    return String(body.agent_id)
  }

  get(path: string, signal?: AbortSignal) {
    return this.#send('GET', path, {}, signal)
  }

  post(path: string, body: unknown, signal?: AbortSignal) {
    return this.#send(
      'POST',
      path,
      { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
      signal,
    )
  }

  upload(
    path: string,
    fields: Record<string, string>,
    files: readonly [string, string, string][],
    signal?: AbortSignal,
  ) {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    for (const [field, name, text] of files) form.append(field, new Blob([text]), name)
    return this.#send('POST', path, { body: form }, signal)
  }

  /** A multipart file that arrives piece by piece. */
  async stream(path: string, content: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
    async function* body() {
      yield Buffer.from('--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\nphone_number\r\n')
      yield* content
    }
    const headers = { cookie: this.cookies, 'content-type': 'multipart/form-data; boundary=x' }
    const init = { method: 'POST', headers, body: ReadableStream.from(body()), duplex: 'half', signal } as RequestInit
    await (await fetch(this.url + path, init)).text()
  }

  async #send(method: string, path: string, init: RequestInit, signal?: AbortSignal) {
    const headers = { ...init.headers, cookie: this.cookies }
    const answer = await fetch(this.url + path, { ...init, method, headers, ...(signal && { signal }) })
    const text = await answer.text()
    const body = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>
    return { status: answer.status, body, bytes: text.length }
  }

  /** A batch of the CSV, sent at once. */
  async batch(csv: string, signal?: AbortSignal): Promise<{ status: number; id: string }> {
    const fields = { name: 'b', agent_id: this.agentId, agent_phone_number: this.number }
    const { status, body } = await this.upload('/batch/upload', fields, [['file', 'a.csv', csv]], signal)
    if (status !== 201) process.stderr.write(`POST /batch/upload answered ${status}: ${JSON.stringify(body)}\n`)
    const id = String(body.batch_id)
    if (status === 201) await this.post(`/batch/${id}/send`, {}, signal)
    return { status, id }
  }

  /** Resolves once the one row of a batch is being called, or was; with the batch. */
  async callOneRow(): Promise<string> {
    const { id } = await this.batch('phone_number\n+14155559901\n')
    await until(async () => (await this.#rows(id)).pending === 0)
    return id
  }

  /** Resolves once the batch's calls are over. */
  async callsOver(batchId: string): Promise<void> {
    await until(async () => {
      const { pending, in_progress } = await this.#rows(batchId)
      return pending === 0 && in_progress === 0
    })
  }

  async #rows(batchId: string): Promise<Record<string, number>> {
    const { status, body } = await this.get(`/batch/${batchId}`)
    if (status !== 200) throw new Error(`GET /batch/${batchId} answered ${status}: ${JSON.stringify(body)}`)
    return body.counts as Record<string, number>
  }

  /** Resolves once the agent's document is read. */
  async document(agentId: string, text: string): Promise<void> {
    const { body } = await this.upload(`/agents/${agentId}/upload`, {}, [['files', 'a.txt', text]])
    const [{ document_id: id }] = body.documents as [{ document_id: string }]
    await until(async () => {
      const listed = await fetch(`${this.url}/agents/${agentId}/documents`, { headers: { cookie: this.cookies } })
      const documents = (await listed.json()) as { document_id: string; status: string }[]
      return documents.some((one) => one.document_id === id && one.status !== 'processing')
    })
  }

  async openSession(agentId = this.agentId): Promise<WebSocket> {
    const { body } = await this.get(`/calls/generate-token?agent_id=${agentId}`)
    const { port } = new URL(this.url)
    return new WebSocket(`ws://127.0.0.1:${port}/realtime?token=${body.token}`)
  }

  /** Resolves once a web session has begun; ends it. False: it was refused. */
  async web(): Promise<boolean> {
    const socket = await this.openSession()
    const begun = await new Promise<boolean>((resolve) => {
      socket.on('message', (data, isBinary) => {
        const type = isBinary ? '' : JSON.parse(String(data)).type
        if (type === 'session.started' || type === 'session.ended') resolve(type === 'session.started')
      })
      socket.on('error', () => resolve(false))
      socket.on('close', () => resolve(false))
    })
    socket.close()
    return begun
  }

  /**
   * An agent that says a long text in a voice that costs nothing, made little faster than it is heard, and in pieces as providers send
   * them: those of 20 ms cost more than all the rest of a call.
   */
  talkingAgent(): Promise<string> {
    const voice = JSON.stringify({ voice: 'tone', speed: 2, pieceMs: 100 })
    return this.agent({ first_message: LONG_SPEECH, TTS_provider: 'sim', TTS_voice: voice })
  }

  /** One session with the agent after the other, until the signal aborts; notes the gaps between frames of audio in a session. */
  listen(agentId: string, signal: AbortSignal): { gapsMs: number[]; over: Promise<void> } {
    const gapsMs: number[] = []
    const one = async () => {
      const socket = await this.openSession(agentId)
      const stop = () => socket.close()
      signal.addEventListener('abort', stop)
      if (signal.aborted) stop()
      let lastMs: number | undefined
      await new Promise<void>((resolve) => {
        socket.on('message', (data, isBinary) => {
          if (isBinary) {
            const nowMs = performance.now()
            if (lastMs !== undefined) gapsMs.push(nowMs - lastMs)
            lastMs = nowMs
            return
          }
          const message = JSON.parse(String(data))
          if (message.type === 'audio.mark') socket.send(JSON.stringify({ type: 'audio.played', id: message.id }))
          if (message.type === 'agent.state' && message.state === 'listening' && lastMs !== undefined) socket.close()
        })
        socket.on('close', resolve).on('error', () => resolve())
      })
      signal.removeEventListener('abort', stop)
    }
    const over = (async () => {
      while (!signal.aborted) await one().catch(() => sleep(100))
    })()
    return { gapsMs, over }
  }
}

export async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + WAIT_MS; !(await isSo()); ) {
    if (performance.now() > endMs) throw new Error(`Not so after ${WAIT_MS / 1_000} s`)
    await sleep(20)
  }
}

/** The cookie with an access token of the three claims that lasts a week; any other as it is. */
async function lasting(cookie: string, secret: string): Promise<string> {
  const [name, token = ''] = cookie.split('=')
  if (name !== 'access_token') return cookie
  const { sub = '', email } = decodeJwt(token)
  const signed = new SignJWT({ email }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).setSubject(sub)
  return `access_token=${await signed.setExpirationTime('7d').sign(new TextEncoder().encode(secret))}`
}
