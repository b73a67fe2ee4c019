import { lookup as dnsLookup } from 'node:dns'
import { createRequire } from 'node:module'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type * as Undici from 'undici'
import { isPublicAddress } from '../lib/address.ts'
import { boundary, inBackground } from '../lib/async/boundary.ts'
import {
  allowsHost,
  allowsResolved,
  type NetRule,
  normalizeHost,
  parseInfrastructureRule,
} from '../plugin/grants/net-rule.ts'
import { NO_GRANTS } from '../plugin/grants/permissions.ts'
import { pluginScope } from '../plugin/plugin-scope.ts'

/**
 * Connections to addresses that makers of agents chose, by undici, which is used here alone: none may reach what stands behind
 * this server.
 */

// Node's own `fetch` takes its connections when its first class is read; after that, loading undici leaves them alone.
Reflect.get(globalThis, 'Response')
const { Pool, buildConnector } = createRequire(import.meta.url)('undici') as typeof Undici

/** The request's signal ends it sooner; this ends abandoned connections. */
const CONNECT_TIMEOUT_MS = 30_000

/** The operator forbids the address. The message is for the operator. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress'

  constructor(host: string, address: string) {
    const shown = host === address ? address : `${host} (${address})`
    super(`${shown} is no public address; PATCHBAY_TOOLS_ALLOW_NET can allow it`)
  }
}

/** Errors of connections that had served before: the other side may have closed one just as it was used again. */
const ofUsed = new WeakSet<Error>()

/** Whether a connection broke that had served before. */
export function brokeWhenReused(error: Error): boolean {
  return ofUsed.has(error)
}

/**
 * Connections to an origin (`http:` or `https:`): the addresses its name resolves to are checked, and are the ones connected to.
 * Throws ForbiddenAddress for an origin whose host is an address that may not be reached.
 * @param allowed the operator's exceptions
 */
export function connectionsTo(origin: URL, allowed: readonly NetRule[], idleMs?: number): Undici.Pool {
  const host = normalizeHost(origin.hostname)
  const port = Number(origin.port) || (origin.protocol === 'https:' ? 443 : 80)
  const granted = allowsHost(allowed, host, port)
  const fits = (address: string): boolean =>
    isPublicAddress(address) ||
    (granted && allowsResolved(allowed, host, address, port)) ||
    allowsHost(allowed, address, port)
  if (isIP(host) !== 0 && !fits(host)) throw new ForbiddenAddress(host, host)
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: checkedLookup(host, fits) })
  // The process's guard lets through what this origin is for, and nothing else.
  const only = {
    ...NO_GRANTS,
    net: [parseInfrastructureRule(isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`)],
  }
  return new Pool(origin.origin, {
    connect: (options, done) =>
      pluginScope.run({ plugin: 'tools', only }, () =>
        connect(options, (...[error, socket]) => {
          if (error !== null) return done(error, null)
          noteUse(socket)
          done(null, socket)
        }),
      ),
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(idleMs === undefined ? {} : { keepAliveTimeout: idleMs, keepAliveMaxTimeout: idleMs }),
  })
}

function noteUse(socket: Socket): void {
  const unusedBytes = socket.bytesRead
  socket.once(
    'error',
    boundary('tool', (error) => {
      if (socket.bytesRead > unusedBytes) ofUsed.add(error)
    }),
  )
}

/** Resolves as usual, and keeps only the addresses that may be reached. */
function checkedLookup(host: string, fits: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    dnsLookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, '', 0)
      const reachable = found.filter(({ address }) => fits(address))
      const [first] = reachable
      if (first === undefined) return callback(new ForbiddenAddress(host, found[0]?.address ?? 'nothing'), '', 0)
      if (options.all === true) callback(null, reachable)
      else callback(null, first.address, first.family)
    })
  }
}

/** Connections that are kept for the next request to the same origin. Its addresses were checked when it was connected to. */
export class KeptConnections {
  /** The operator's exceptions. */
  readonly allowed: readonly NetRule[]
  readonly #idleMs: number
  readonly #pools = new Map<string, Undici.Pool>()

  /** @param options `idleMs`: how long an unused one is kept */
  constructor(options: { allowed: readonly NetRule[]; idleMs: number }) {
    this.allowed = options.allowed
    this.#idleMs = options.idleMs
  }

  /** Throws as `connectionsTo` does. */
  to(origin: URL): Undici.Pool {
    const kept = this.#pools.get(origin.origin)
    if (kept !== undefined) return kept
    const pool = connectionsTo(origin, this.allowed, this.#idleMs)
    const forgetUnused = boundary('tool', (): void => {
      const { connected, size } = pool.stats
      if (connected > 0 || size > 0 || this.#pools.get(origin.origin) !== pool) return
      this.#pools.delete(origin.origin)
      inBackground('tool', pool.close())
    })
    pool.on('disconnect', forgetUnused)
    pool.on('connectionError', forgetUnused)
    this.#pools.set(origin.origin, pool)
    return pool
  }

  close(): void {
    for (const pool of this.#pools.values()) inBackground('tool', pool.destroy())
    this.#pools.clear()
  }
}
