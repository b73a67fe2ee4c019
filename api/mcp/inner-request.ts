import { RequestBody } from '../http/body.ts'
import type { HttpResponse, Incoming } from '../http/server.ts'

/** A request of this process to itself, as if it had come over the wire: it takes the whole request path. */
export interface InnerRequest {
  method: string
  path: string
  query: string
  /** By names in lower case. */
  headers: Readonly<Record<string, string>>
  json: unknown
  remoteAddress: string
  signal: AbortSignal
}

/** Resolves with the answer and its text. Streaming answers are not supported. */
export function innerRequest(
  { json, headers, ...request }: InnerRequest,
  handle: (incoming: Incoming) => Promise<void>,
): Promise<{ status: number; text: string }> {
  const body = new RequestBody({ pause: () => undefined, resume: () => undefined })
  const bytes = json === undefined ? new Uint8Array(0) : new TextEncoder().encode(JSON.stringify(json))
  const all: Record<string, string> =
    json === undefined ? { ...headers } : { ...headers, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const send = ({ status, body: answer = '' }: HttpResponse) => {
      if (typeof answer === 'string') resolve({ status, text: answer })
      else if (answer instanceof Uint8Array) resolve({ status, text: new TextDecoder().decode(answer) })
      else reject(new TypeError('A stream can not be read here'))
    }
    const incoming = {
      ...request,
      header: (name: string) => all[name] ?? '',
      headers: () => all,
      body,
      isAmbiguous: false,
      send,
    }
    handle(incoming).catch(reject)
    body.push(bytes.buffer as ArrayBuffer, true)
  })
}
