import { isIP, isIPv4 } from 'node:net'
import type { Flow, Protocol } from '../transport/flow.ts'

/** Where a request to a trunk may be sent: one address of one of its servers. */
export interface Target {
  readonly protocol: Protocol
  readonly address: string
  readonly port: number
  /** The way there, where there is one already. */
  readonly flow?: Flow
}

/** A host leads to addresses that the trunk may not send to. */
export class TargetsRefused extends Error {
  override readonly name = 'TargetsRefused'

  constructor(host: string, addresses: readonly string[]) {
    super(
      `"${host}" leads to ${addresses.join(', ')}, which is another workspace's or of the operator's own network; the operator can approve it`,
    )
  }
}

/** What the DNS knows; each throws when it knows nothing. */
interface Names {
  resolve(host: string): Promise<string[]>
  srv(name: string): Promise<readonly { name: string; port: number; priority: number; weight: number }[]>
}

const SERVICES: Readonly<Record<Protocol, string>> = { udp: '_sip._udp', tcp: '_sip._tcp', tls: '_sips._tcp' }
const DEFAULT_PORTS: Readonly<Record<Protocol, number>> = { udp: 5060, tcp: 5060, tls: 5061 }
const MAX_TARGETS = 16

/**
 * The servers of a host in the order they are to be tried (RFC 3263, section 4.2; the transport is the operator's choice, so
 * NAPTR has nothing to add). Where a port is given there is no SRV. Throws when the host has no address that we can send to.
 * @param random 0–1, for weights (RFC 2782)
 * @param ipv4Only our ports are bound to an IPv4 address
 */
export async function targetsOf(
  host: string,
  port: number | undefined,
  protocol: Protocol,
  names: Names,
  { random, ipv4Only }: { random(): number; ipv4Only: boolean },
): Promise<Target[]> {
  const usable = (address: string): boolean => !ipv4Only || isIPv4(address)
  const at = async (name: string, onPort: number): Promise<Target[]> => {
    const addresses = isIP(name) === 0 ? await names.resolve(name) : [name]
    return addresses.filter(usable).map((address) => ({ protocol, address, port: onPort }))
  }
  const records =
    port !== undefined || isIP(host) !== 0 || !host.includes('.')
      ? []
      : await names.srv(`${SERVICES[protocol]}.${host}`).catch(() => [])
  const servers = inOrder(
    records.filter(({ name }) => name !== '' && name !== '.'),
    random,
  )
  const found =
    servers.length === 0
      ? await at(host, port ?? DEFAULT_PORTS[protocol])
      : (await Promise.all(servers.map((one) => at(one.name, one.port).catch(() => [])))).flat()
  const unique = [...new Map(found.map((target) => [keyOf(target), target])).values()].slice(0, MAX_TARGETS)
  if (unique.length === 0) throw new Error(`"${host}" has no ${ipv4Only ? 'IPv4 ' : ''}address`)
  return unique
}

export function keyOf({ protocol, address, port }: Target): string {
  return `${protocol} ${address} ${port}`
}

/** By priority; among equals by chance in proportion to weight. */
function inOrder<T extends { priority: number; weight: number }>(records: readonly T[], random: () => number): T[] {
  const rest = [...records].sort((a, b) => a.priority - b.priority || a.weight - b.weight)
  const ordered: T[] = []
  while (rest.length > 0) {
    const equals = rest.filter(({ priority }) => priority === rest[0]?.priority)
    let left = random() * equals.reduce((sum, { weight }) => sum + weight, 0)
    let chosen = equals[0]!
    for (const one of equals) {
      chosen = one
      left -= one.weight
      if (left <= 0) break
    }
    ordered.push(chosen)
    rest.splice(rest.indexOf(chosen), 1)
  }
  return ordered
}
