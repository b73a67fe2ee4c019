import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Of IPv4, everything but these is the public internet (IANA special-purpose address registry, multicast, reserved). */
const V4_RESERVED = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
].join(' ')
/** Of IPv6, only this is, less tunnels that lead to IPv4 addresses (Teredo, 6to4) and documentation. */
const V6_GLOBAL = '2000::/3'
const V6_RESERVED = '2001::/23 2001:db8::/32 2002::/16 3fff::/20'

function listOf(ranges: string, family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const range of ranges.split(' ')) {
    const [base = '', bits] = range.split('/')
    list.addSubnet(base, Number(bits), family)
  }
  return list
}

const v4Reserved = listOf(V4_RESERVED, 'ipv4')
const v6Global = listOf(V6_GLOBAL, 'ipv6')
const v6Reserved = listOf(V6_RESERVED, 'ipv6')

/** Is this a host of the public internet: no loopback, private, link-local, metadata, mapped or reserved address? */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !v4Reserved.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  return v6Global.check(address, 'ipv6') && !v6Reserved.check(address, 'ipv6')
}
