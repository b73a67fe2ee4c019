import type { HttpResponse as UwsResponse } from 'uWebSockets.js'

/** The answer to a request. */
export interface HttpResponse {
  status: number
  headers: readonly (readonly [name: string, value: string])[]
  /** A stream is sent as it is made, at the client's pace; its iterator is ended when the client goes away. */
  body?: string | Uint8Array | AsyncIterable<string | Uint8Array>
}

/** @param standing said where the answer doesn't say them itself */
export function writeHead(
  res: UwsResponse,
  { status, headers }: HttpResponse,
  standing: HttpResponse['headers'],
): void {
  res.writeStatus(STATUS_LINES[status] ?? String(status))
  for (const [name, value] of headers) res.writeHeader(name, value)
  for (const [name, value] of standing) {
    if (!headers.some(([said]) => said === name)) res.writeHeader(name, value)
  }
}

const STATUS_LINES: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  204: '204 No Content',
  206: '206 Partial Content',
  302: '302 Found',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  409: '409 Conflict',
  410: '410 Gone',
  412: '412 Precondition Failed',
  416: '416 Range Not Satisfiable',
  422: '422 Unprocessable Entity',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  502: '502 Bad Gateway',
  503: '503 Service Unavailable',
}
