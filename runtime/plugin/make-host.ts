import { spawn } from 'node:child_process'
import { lookup } from 'node:dns'
import { open, realpath } from 'node:fs/promises'
import net from 'node:net'
import { resolve } from 'node:path'
import tls from 'node:tls'
import type { Logger } from 'pino'
import { boundary } from '../lib/async/boundary.ts'
import { joinSignals } from '../lib/async/join-signals.ts'
import { signalWithin } from '../lib/async/signal-within.ts'
import { PatchbayError } from '../lib/errors.ts'
import { traceparentOf } from '../traces/trace-context.ts'
import { traceScope } from '../traces/trace-scope.ts'
import type { PluginHost } from './contract.ts'
import { allowsHost, type Environment, formatTarget, netEntryOf } from './grants/net-rule.ts'
import { allowsRead, type Grants, permissionDenied } from './grants/permissions.ts'
import { guardedLookup } from './lookup.ts'
import { pluginScope } from './plugin-scope.ts'
import { grantedProgram, PROGRAM_ENV } from './program.ts'
import { openListener, openUdp, resolveName, resolveService } from './sockets.ts'

const CONNECT_TIMEOUT_MS = 10_000
const MAX_REDIRECTS = 5
/** All that goes with a request to another origin than the one it was made for: any other header may be a credential. */
const SAFE_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-type',
  'if-modified-since',
  'if-none-match',
  'range',
  'user-agent',
])
const MAX_READ_BYTES = 256 * 1024 * 1024

interface HandleOptions {
  plugin: string
  /** The plugin's folder: it may always read what lies in it. */
  dir: string
  grants: Grants
  env: Environment
  log: Logger
  signal: AbortSignal
}

/** The handles of one plugin: the only door to the outside it is given. */
export function makeHost(options: HandleOptions): PluginHost {
  const { plugin, grants, env, signal } = options
  const scope = { plugin, only: grants }

  const requireHost = (host: string, port: number | undefined): void => {
    if (!allowsHost(grants.net, host, port)) throw permissionDenied(plugin, 'net', formatTarget(host, port))
  }

  return {
    plugin,
    signal,
    log: options.log.child({ plugin }),
    env: {
      get(name) {
        if (!grants.env.has(name)) throw permissionDenied(plugin, 'env', name)
        return env[name]
      },
    },
    net: {
      fetch: (url, init) => guardedFetch(url, init, signal, (target) => requireUrl(target, requireHost), scope),
      connect: (target) => {
        const joined = target.signal ? joinSignals(signal, target.signal) : signal
        return connect({ ...target, signal: joined }, grants, plugin, requireHost, scope)
      },
      udp: (target) => openUdp(options, target),
      listen: (target) => openListener(options, target),
      resolve: (host) => resolveName(options, host),
      srv: (name) => resolveService(options, name),
    },
    run: {
      spawn(program, args, { signal: use } = {}) {
        const path = grantedProgram(grants, program, env.PATH ?? '')
        if (path === undefined) throw permissionDenied(plugin, 'run', program)
        return pluginScope.run(scope, () =>
          spawn(path, args, {
            env: Object.fromEntries(PROGRAM_ENV.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
            stdio: ['pipe', 'pipe', 'pipe'],
            signal: use ? joinSignals(signal, use) : signal,
            killSignal: 'SIGKILL',
          }),
        )
      },
    },
    read: { bytes: (path) => readGranted(resolve(options.dir, path), options) },
  }
}

function requireUrl(url: URL, requireHost: (host: string, port: number | undefined) => void): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new PatchbayError('plugin', { params: { reason: `host.net.fetch can't open "${url.protocol}" addresses` } })
  }
  requireHost(url.hostname, Number(netEntryOf(url).match(/:(\d+)$/)?.[1]))
}

/** fetch whose every redirect is checked too. A body is not sent on: such a redirect comes back as the answer. */
async function guardedFetch(
  input: string | URL,
  init: RequestInit | undefined,
  signal: AbortSignal,
  check: (url: URL) => void,
  scope: { plugin: string; only: Grants },
): Promise<Response> {
  let url = new URL(input)
  let headers = new Headers(init?.headers)
  const trace = traceScope.getStore()
  if (trace !== undefined && !headers.has('traceparent')) headers.set('traceparent', traceparentOf(trace))
  const joined = init?.signal ? joinSignals(signal, init.signal) : signal
  const method = init?.method?.toUpperCase() ?? 'GET'
  for (let hops = 0; ; hops++) {
    check(url)
    const response = await pluginScope
      .run(scope, () => fetch(url, { ...init, headers, signal: joined, redirect: 'manual' }))
      .catch((error: unknown) => {
        throw error instanceof Error && error.cause instanceof PatchbayError ? error.cause : error
      })
    const location = response.headers.get('location')
    const follow = response.status >= 301 && response.status <= 308 && response.status !== 304 && location !== null
    if (!follow || init?.redirect === 'manual' || (method !== 'GET' && method !== 'HEAD')) return response
    await response.body?.cancel()
    if (init?.redirect === 'error' || hops === MAX_REDIRECTS) throw new TypeError(`Redirected to "${location}"`)
    const next = new URL(location, url)
    if (next.origin !== url.origin) {
      headers = new Headers([...headers].filter(([name]) => SAFE_HEADERS.has(name)))
    }
    url = next
  }
}

async function connect(
  target: Parameters<PluginHost['net']['connect']>[0] & { signal: AbortSignal },
  grants: Grants,
  plugin: string,
  requireHost: (host: string, port: number) => void,
  scope: { plugin: string; only: Grants },
): Promise<net.Socket> {
  const { host, port, ca, cert, key, signal } = target
  const servername = target.servername ?? (net.isIP(host) ? undefined : host)
  requireHost(host, port)
  signal.throwIfAborted()
  const lookupChecked = guardedLookup(lookup, [grants.net], host, port, (shown, why) =>
    permissionDenied(plugin, 'net', shown, why),
  )
  const socket = pluginScope.run(scope, () =>
    target.tls
      ? tls.connect({
          ...{ host, port, lookup: lookupChecked },
          ...(servername === undefined ? {} : { servername }),
          ...(ca === undefined ? {} : { ca }),
          ...(cert === undefined || key === undefined ? {} : { cert, key }),
        })
      : net.connect({ host, port, lookup: lookupChecked }),
  )
  const limit = signalWithin(CONNECT_TIMEOUT_MS, signal)
  const { promise, resolve: ready, reject } = Promise.withResolvers<void>()
  const stop = boundary('plugin', (): void => {
    const timedOut = new PatchbayError('timeout', {
      params: { action: `Connecting to "${formatTarget(host, port)}"`, timeoutMs: CONNECT_TIMEOUT_MS },
    })
    reject(signal.aborted ? signal.reason : timedOut)
  })
  const closed = (): void => reject(new Error(`"${formatTarget(host, port)}" closed the connection`))
  socket.once(target.tls ? 'secureConnect' : 'connect', ready)
  socket.once('error', reject)
  socket.once('close', closed)
  limit.addEventListener('abort', stop)
  try {
    await promise
  } catch (error) {
    socket.on('error', () => {})
    socket.destroy()
    throw error
  } finally {
    socket.off('error', reject)
    socket.off('close', closed)
    limit.removeEventListener('abort', stop)
  }
  const closeOnStop = () => {
    socket.destroy()
  }
  signal.addEventListener('abort', closeOnStop, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', closeOnStop))
  return socket
}

/** Reads one granted file whole. Links are resolved before the check, so a link can't lead out of a granted folder. */
async function readGranted(path: string, options: HandleOptions): Promise<Uint8Array> {
  const { plugin, dir, grants, signal } = options
  const roots = await Promise.all([dir, ...grants.read].map((root) => realpath(root).catch(() => root)))
  const allowed = { ...grants, read: roots }
  // A missing file outside of the grants is refused like an existing one: its absence is not the plugin's to know.
  const real = await realpath(path).catch((error: unknown) => {
    if (allowsRead({ ...grants, read: [dir, ...grants.read] }, path)) throw error
    return path
  })
  if (!allowsRead(allowed, real)) throw permissionDenied(plugin, 'read', path)
  signal.throwIfAborted()
  const file = await open(real)
  try {
    const { size } = await file.stat()
    if (size > MAX_READ_BYTES) {
      const reason = `"${path}" has ${size} bytes; a plugin reads at most ${MAX_READ_BYTES} at once`
      throw new PatchbayError('plugin', { params: { reason } })
    }
    return await file.readFile({ signal })
  } finally {
    await file.close()
  }
}
