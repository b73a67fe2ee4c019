import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import { PatchbayError } from '../runtime/errors.ts'

/** The loopback server of operators: `GET /metrics` for Prometheus, and what the doctor asks. It is never reachable from outside the machine. */
export interface AdminServer {
  readonly port: number
  close(): Promise<void>
}

const HEADERS_TIMEOUT_MS = 5000
const DOCTOR_TIMEOUT_MS = 30_000

/** @param diagnose what `GET /doctor/<provider>` answers, as JSON */
export async function startAdminServer(
  port: number,
  registry: Registry,
  diagnose: (provider: string, signal: AbortSignal) => Promise<unknown> = async () => undefined,
): Promise<AdminServer> {
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: HEADERS_TIMEOUT_MS },
    (req, res) => {
      const provider = /^\/doctor\/([a-z0-9-]+)$/.exec(req.url ?? '')?.[1]
      if (provider !== undefined && req.method === 'GET') {
        diagnose(provider, AbortSignal.timeout(DOCTOR_TIMEOUT_MS)).then(
          (found) => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? [])),
          () => res.writeHead(500, { 'content-type': 'text/plain' }).end('Internal server error\n'),
        )
        return
      }
      if (req.url !== '/metrics' || (req.method !== 'GET' && req.method !== 'HEAD')) {
        res.writeHead(404, { 'content-type': 'text/plain' }).end('Not Found\n')
        return
      }
      registry.metrics().then(
        (text) => res.writeHead(200, { 'content-type': registry.contentType }).end(text),
        () => res.writeHead(500, { 'content-type': 'text/plain' }).end('Internal server error\n'),
      )
    },
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'is in use' : `can't be had (${cause.code})`
      const reason = `Admin port ${port} ${why}; set PATCHBAY_ADMIN_PORT to a free one.`
      reject(new PatchbayError('configuration', { params: { reason }, cause }))
    })
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
