import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * Addresses that are no hosts of the public internet: what the IANA special-purpose address registries (RFC 6890) do not list as
 * globally reachable, multicast, reserved space, and addresses of clouds that answer their own machines alone.
 */
export const INTERNAL_RANGES: readonly string[] = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4'],
  // WireServer of Azure: keys and settings of the machine that asks.
  '168.63.129.16/32',
  // Of IPv6 all but 2000::/3: loopback, mapped and translated IPv4 (64:ff9b::/96), unique local, link-local, multicast.
  ...['::/3', '4000::/2', '8000::/1'],
  // Protocol assignments with Teredo, and 6to4: tunnels to IPv4 addresses.
  ...['2001::/23', '2002::/16'],
]

/** Addresses of examples, which nobody has. */
const DOCUMENTATION_RANGES: readonly string[] = [
  ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
]

const internal = listsOf(INTERNAL_RANGES)
const documentation = listsOf(DOCUMENTATION_RANGES)

/** Is this a host of the public internet: no loopback, private, link-local, metadata, mapped or reserved address? */
export function isPublicAddress(address: string): boolean {
  const isAddress = isIPv4(address) || (isIPv6(address) && !address.includes('%'))
  return isAddress && !contains(internal, address) && !contains(documentation, address)
}

/** Does this address lead, or may it lead, into the operator's own network? */
export function isInternalAddress(address: string): boolean {
  return contains(internal, address)
}

/** One list a family: a BlockList takes IPv4 addresses for the IPv6 addresses they are mapped to. */
function listsOf(ranges: readonly string[]): Record<'ipv4' | 'ipv6', BlockList> {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const range of ranges) {
    const [base = '', bits] = range.split('/')
    const family = isIPv4(base) ? 'ipv4' : 'ipv6'
    lists[family].addSubnet(base, Number(bits), family)
  }
  return lists
}

function contains(lists: Record<'ipv4' | 'ipv6', BlockList>, address: string): boolean {
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  return lists[family].check(address.replace(/%.*$/s, ''), family)
}
