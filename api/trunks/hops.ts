import { lookup, resolveSrv } from 'node:dns/promises'
import { isIP } from 'node:net'
import { formatRange, parseRange } from '../../runtime/lib/address-range.ts'
import { plainAddress } from '../../runtime/lib/client-address.ts'

/** Where a trunk's requests go first: its host and its outbound proxy, and what their names resolve to. */

const RESOLVE_TIMEOUT_MS = 3_000
const SERVICES = { udp: '_sip._udp', tcp: '_sip._tcp', tls: '_sips._tcp' } as const

/** What the DNS knows; each throws when it knows nothing. */
export interface HopNames {
  resolve(name: string): Promise<readonly string[]>
  /** The servers of a service. */
  srv(name: string): Promise<readonly string[]>
}

export const systemNames: HopNames = {
  resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  srv: async (name) => (await resolveSrv(name)).map(({ name: server }) => server),
}

/** `SIP.example.com:5070` → `sip.example.com`, `[::ffff:192.0.2.1]:5060` → `192.0.2.1`; a range stays one. */
export function bareHost(host: string): string {
  const lower = host.trim().toLowerCase()
  const range = parseRange(lower)
  if (range !== undefined) return formatRange(range)
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(lower)
  if (bracketed) return plainAddress(bracketed[1] ?? '')
  return lower.replace(/:\d+$/, '').replace(/\.$/, '')
}

export interface Hop {
  /** A name, or an address. */
  readonly name: string
  readonly field: 'host' | 'outbound_proxy'
}

export function hopsOf(trunk: { host: string; outbound_proxy: string | null }): Hop[] {
  const { host, outbound_proxy: proxy } = trunk
  const own: Hop = { name: bareHost(host), field: 'host' }
  return proxy === null ? [own] : [own, { name: bareHost(proxy), field: 'outbound_proxy' }]
}

/** The addresses of a hop and of its servers, as far as they are known now: an unknown name has none. */
export async function addressesOfHop(
  { name }: Hop,
  transport: keyof typeof SERVICES,
  names: HopNames,
): Promise<readonly string[]> {
  if (isIP(name) !== 0) return [name]
  const none = (): readonly string[] => []
  const find = async (): Promise<string[]> => {
    const servers = name.includes('.') ? await names.srv(`${SERVICES[transport]}.${name}`).catch(none) : []
    const found = [name, ...servers].map((one) => (isIP(one) === 0 ? names.resolve(one).catch(none) : [one]))
    return (await Promise.all(found)).flat().map(plainAddress)
  }
  const timeout = new Promise<[]>((resolve) => setTimeout(resolve, RESOLVE_TIMEOUT_MS, []).unref())
  return [...new Set(await Promise.race([find(), timeout]))]
}

interface WayOut {
  readonly host: string
  readonly outbound_proxy: string | null
  readonly transport: string
  readonly tls_ca: string | null
}

/** Does a trunk's next hop change, or who vouches for it? */
export function isElsewhere(before: WayOut, now: WayOut): boolean {
  const where = ({ host, outbound_proxy: proxy, transport, tls_ca: ca }: WayOut) =>
    JSON.stringify([host.toLowerCase(), proxy?.toLowerCase() ?? null, transport, ca])
  return where(before) !== where(now)
}
