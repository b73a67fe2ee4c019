import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { hostname } from 'node:os'
import { Gauge, type Registry } from 'prom-client'
import { boundary } from '../../lib/async/boundary.ts'
import { signalWithin } from '../../lib/async/signal-within.ts'
import { isLoopbackHost } from '../../lib/client-address.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { buildInfo } from '../build-info.ts'
import type { Reloaded } from '../reloads.ts'
import { asksForOpenMetrics, OPEN_METRICS_TYPE, openMetrics } from './open-metrics.ts'

/** What a role tells the operator's machines, each role on a port of its own: `/health`, `/ready`, `/metrics`, and what the doctor asks. */
interface OperationsServer {
  readonly port: number
  /** Where others read the metrics; on every address, it names this machine. */
  readonly metricsUrl: string
  close(): Promise<void>
}

export interface OperationsServerOptions {
  host: string
  /** 0 takes any free one. */
  port: number
  /** The operator named the port: another won't do. Otherwise the next free one is taken. */
  fixed: boolean
  /** The setting that names the port, for the cure. */
  setting: string
  registry: Registry
  /** Whether the role takes work, and what is missing. */
  ready(): Promise<{ ready: boolean } & Record<string, unknown>>
  /** Who asks for metrics must show it as a bearer token. */
  token?: string | undefined
  /** Asks the process to end once its calls are over; returns how many there are. From this machine alone, with ADMIN_HEADER. */
  drain?(): { calls: number }
  /** Reads the settings anew, asked in the same way. Rejects with `configuration` where they can't be used. */
  reload?(): Promise<Reloaded>
  /** What `GET /doctor/<topic>` answers, as JSON; asked from this machine alone. */
  diagnose?(topic: string, signal: AbortSignal): Promise<unknown>
}

/** What `POST /drain` and `POST /reload` must carry, with `drain` or `reload`. */
export const ADMIN_HEADER = 'x-patchbay-admin'

const REQUEST_TIMEOUT_MS = 5_000
const DOCTOR_TIMEOUT_MS = 30_000
const PORTS_TRIED = 300
const ANY_ADDRESS = new Set(['0.0.0.0', '::'])
const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])

/** Listens, or throws `configuration` with the cure when the port can't be had. */
export async function startOperationsServer(options: OperationsServerOptions): Promise<OperationsServer> {
  measureReadiness(options)
  const timeouts = { headersTimeout: REQUEST_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS }
  const server = createServer(
    timeouts,
    boundary('http', (request: IncomingMessage, response: ServerResponse) => {
      serve(options, request, response).catch(() => answer(response, 500, 'Internal server error\n'))
    }),
  )
  await listen(server, options)
  const { port } = server.address() as AddressInfo
  const { host } = options
  const name = ANY_ADDRESS.has(host) ? hostname() : isIP(host) === 6 ? `[${host}]` : host
  return {
    port,
    metricsUrl: `http://${name}:${port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** What `/ready` says, for alerts: a role that drains on purpose is not one that can't serve. */
function measureReadiness({ registry, ready }: OperationsServerOptions): void {
  const isReady = new Gauge({
    name: 'patchbay_ready',
    help: '1 while /ready answers 200',
    registers: [registry],
    collect: () => read(),
  })
  const drains = new Gauge({
    name: 'patchbay_draining',
    help: '1 while the role takes nothing new because it stops',
    registers: [registry],
    collect: () => read(),
  })
  let reading: Promise<void> | undefined
  const read = (): Promise<void> => {
    reading ??= ready()
      .then(
        (found) => {
          isReady.set(found.ready ? 1 : 0)
          drains.set(found.status === 'draining' ? 1 : 0)
        },
        () => isReady.set(0),
      )
      .finally(() => {
        reading = undefined
      })
    return reading
  }
}

async function serve(options: OperationsServerOptions, request: IncomingMessage, response: ServerResponse) {
  const { registry, ready, diagnose, drain, reload } = options
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  const isLocal = LOOPBACK.has(request.socket.remoteAddress ?? '')
  const asked = { '/drain': drain, '/reload': reload }[pathname]
  if (asked !== undefined && request.method === 'POST' && isLocal) {
    if (isByPage(request)) return answer(response, 403, BY_PAGE)
    // A form can't send it, nor can a script of another origin without asking first.
    const wanted = pathname.slice(1)
    if (request.headers[ADMIN_HEADER] !== wanted) {
      return answer(response, 403, `POST ${pathname} needs the header "${ADMIN_HEADER}: ${wanted}"\n`)
    }
    try {
      return answer(response, 202, await asked())
    } catch (error) {
      if (!(error instanceof PatchbayError) || error.code !== 'configuration') throw error
      return answer(response, 422, error.message)
    }
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'Method Not Allowed\n')
  if (pathname === '/health') return answer(response, 200, { status: 'ok', ...buildInfo() })
  if (pathname === '/ready') {
    const found = await ready()
    return answer(response, found.ready ? 200 : 503, found)
  }
  if (pathname === '/metrics') {
    if (!isAllowed(request, options.token)) {
      response.setHeader('www-authenticate', 'Bearer')
      return answer(response, 401, 'The metrics need the bearer token of PATCHBAY_METRICS_TOKEN\n')
    }
    response.setHeader('vary', 'accept')
    if (asksForOpenMetrics(request.headers.accept ?? '')) {
      return answer(response, 200, await openMetrics(registry), OPEN_METRICS_TYPE)
    }
    return answer(response, 200, await registry.metrics(), registry.contentType)
  }
  const topic = /^\/doctor\/([a-z0-9-]+)$/.exec(pathname)?.[1]
  if (topic !== undefined && diagnose !== undefined && isLocal) {
    if (isByPage(request)) return answer(response, 403, BY_PAGE)
    return answer(response, 200, (await diagnose(topic, signalWithin(DOCTOR_TIMEOUT_MS))) ?? [])
  }
  answer(response, 404, 'Not Found\n')
}

const BY_PAGE = 'This is asked by programs of this machine, at a loopback address, and not by web pages\n'

/** Whether a browser sent it, or something that was led to this machine by a foreign name. */
function isByPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined || !isLoopbackHost(headers.host ?? '')
}

function isAllowed(request: IncomingMessage, token: string | undefined): boolean {
  if (token === undefined) return true
  const [given, wanted] = [Buffer.from(request.headers.authorization ?? ''), Buffer.from(`Bearer ${token}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

function answer(response: ServerResponse, status: number, body: unknown, contentType?: string): void {
  const isText = typeof body === 'string'
  const type = contentType ?? (isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8')
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(isText ? body : JSON.stringify(body))
}

async function listen(server: Server, { host, port, fixed, setting }: OperationsServerOptions): Promise<void> {
  for (let tried = 0; ; tried++) {
    try {
      return await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port === 0 ? 0 : port + tried, host, () => {
          server.off('error', reject)
          resolve()
        })
      })
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      const taken = code === 'EADDRINUSE'
      if (taken && !fixed && tried < PORTS_TRIED && port + tried < 65_535) continue
      const why = taken ? 'is in use' : `can't be had (${code})`
      const reason = `Admin port ${port} ${why}; set ${setting} to a free one.`
      throw new PatchbayError('configuration', { params: { reason }, cause })
    }
  }
}
