import { isIPv6 } from 'node:net'

/** What one household or company has: an IPv4 address, or of IPv6 the 64 bits within which it has 2^64 of them. */
export function addressNetwork(address: string): string {
  if (!isIPv6(address)) return address
  const groups = address.split('::')[0]?.split(':') ?? []
  return groups.slice(0, 4).join(':')
}
