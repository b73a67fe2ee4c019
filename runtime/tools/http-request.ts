import { lookup as dnsLookup } from 'node:dns'
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { allowsHost, allowsResolved, type NetRule, normalizeHost, parseInfrastructureRule } from '../plugin/net-rule.ts'
import { NO_GRANTS } from '../plugin/permissions.ts'
import { pluginScope } from '../plugin/scope.ts'
import { isPublicAddress } from './address.ts'

/** Requests on behalf of agents, to addresses their makers chose: none may reach what stands behind this server. */

const MAX_REDIRECTS = 3
const MAX_RESPONSE_BYTES = 64 * 1024
const utf8 = new TextDecoder()
const REDIRECTS = new Set([301, 302, 303, 307, 308])

export interface Outgoing {
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  body?: string
}

export interface Reached {
  status: number
  contentType: string
  /** At most 64 KiB of it. */
  text: string
}

/** Connections that are kept for the next request to the same host. Its addresses were checked when it was connected to. */
export interface KeptConnections {
  readonly plain: PlainAgent
  readonly tls: TlsAgent
  close(): void
}

export function keepConnections(idleMs: number): KeptConnections {
  const options = { keepAlive: true, timeout: idleMs, maxFreeSockets: 32 }
  const [plain, tls] = [new PlainAgent(options), new TlsAgent(options)]
  return {
    plain,
    tls,
    close() {
      plain.destroy()
      tls.destroy()
    },
  }
}

export interface SendOptions {
  /** The operator's exceptions. */
  allowed: readonly NetRule[]
  signal: AbortSignal
  /** Redirects that are followed; default 3. */
  redirects?: number
  /** Default: a connection of its own. */
  connections?: KeptConnections
}

/** The operator forbids the address. The message is for the operator. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress'

  constructor(host: string, address: string) {
    const shown = host === address ? address : `${host} (${address})`
    super(`${shown} is no public address; PATCHBAY_TOOLS_ALLOW_NET can allow it`)
  }
}

/**
 * Sends the request and reads the answer. The address each name resolves to is checked and is the one connected to, on
 * redirects too; `allowed` are the operator's exceptions. A redirect to another origin gets none of the headers.
 * Throws ForbiddenAddress, the signal's reason and what sockets throw.
 */
export async function sendRequest(outgoing: Outgoing, options: SendOptions): Promise<Reached> {
  const { redirects: maxRedirects = MAX_REDIRECTS } = options
  let next = outgoing
  for (let redirects = 0; ; redirects++) {
    const response = await openResponse(next, options)
    const { statusCode = 0, headers } = response
    if (!REDIRECTS.has(statusCode) || headers.location === undefined || redirects === maxRedirects) {
      return { status: statusCode, contentType: headers['content-type'] ?? '', text: await readSome(response) }
    }
    response.destroy()
    next = redirected(next, statusCode, headers.location)
  }
}

function redirected(before: Outgoing, status: number, location: string): Outgoing {
  const from = new URL(before.url)
  const to = new URL(location, from)
  if (to.protocol !== from.protocol && to.protocol !== 'https:') {
    throw new Error(`The redirect to ${to.protocol}//${to.host} was refused`)
  }
  const headers = to.origin === from.origin ? before.headers : {}
  const { body, ...rest } = before
  const keeps = status === 307 || status === 308 || before.method === 'GET'
  const method = keeps ? before.method : 'GET'
  return { ...rest, url: to.href, headers, method, ...(keeps && body !== undefined ? { body } : {}) }
}

/** Sends the request to an address that may be reached; resolves with the head of the answer. Redirects are not followed. */
export function openResponse(
  { method, url, headers, body }: Outgoing,
  { allowed, signal, connections }: SendOptions,
): Promise<IncomingMessage> {
  const target = new URL(url)
  const secure = target.protocol === 'https:'
  if (!secure && target.protocol !== 'http:') throw new Error(`"${target.protocol}" is no address of the web`)
  const host = normalizeHost(target.hostname)
  const port = Number(target.port) || (secure ? 443 : 80)
  const granted = allowsHost(allowed, host, port)
  const fits = (address: string): boolean =>
    isPublicAddress(address) ||
    (granted && allowsResolved(allowed, host, address, port)) ||
    allowsHost(allowed, address, port)
  if (isIP(host) !== 0 && !fits(host)) throw new ForbiddenAddress(host, host)
  const content = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  // The process's guard lets through what this request is for, and nothing else.
  const only = {
    ...NO_GRANTS,
    net: [parseInfrastructureRule(isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`)],
  }
  return new Promise((resolve, reject) => {
    const request = pluginScope.run({ plugin: 'tools', only }, () =>
      (secure ? tlsRequest : plainRequest)(target, {
        method,
        headers: { 'user-agent': 'Patchbay', 'accept-encoding': 'identity', ...headers, ...content },
        agent: connections === undefined ? false : secure ? connections.tls : connections.plain,
        lookup: checkedLookup(host, fits),
        signal,
      }),
    )
    request.once('response', resolve)
    request.once('error', (error: NodeJS.ErrnoException) => {
      // The other side closed a kept connection just as it was used again.
      if (request.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted) {
        resolve(openResponse({ method, url, headers, ...(body === undefined ? {} : { body }) }, { allowed, signal }))
      } else reject(signal.aborted ? signal.reason : error)
    })
    request.end(body)
  })
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

async function readSome(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= MAX_RESPONSE_BYTES) break
  }
  // Half an answer is none: what is missing may be what it says.
  if (length < MAX_RESPONSE_BYTES && !response.complete) throw new Error('the answer broke off')
  response.destroy()
  return utf8.decode(Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES))
}
