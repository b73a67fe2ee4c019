import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import type { Registry } from 'prom-client'

const REQUEST_TIMEOUT_MS = 5000

export interface MetricsServer {
  readonly url: string
  close(): Promise<void>
}

const ANY_ADDRESS = new Set(['0.0.0.0', '::'])

/** Serves `GET /metrics` on a free port. On every address, the url names this machine: others read it from theirs. */
export async function serveMetrics(host: string, registry: Registry): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then(
      (page) => response.writeHead(200, { 'content-type': registry.contentType }).end(page),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${urlHost(ANY_ADDRESS.has(host) ? hostname() : host)}:${port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
