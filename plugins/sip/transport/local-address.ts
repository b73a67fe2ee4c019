import { BlockList, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

const PRIVATE = new BlockList()
for (const [base, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
] as const) {
  PRIVATE.addSubnet(base, bits, 'ipv4')
}
PRIVATE.addSubnet('fc00::', 7, 'ipv6')
PRIVATE.addSubnet('fe80::', 10, 'ipv6')
PRIVATE.addAddress('::1', 'ipv6')

function isPrivate(address: string): boolean {
  return PRIVATE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

type Interfaces = ReturnType<typeof networkInterfaces>

/** Which of our addresses a peer sees: the public one from outside of a NAT, else that of the network we share. */
export function localAddressFor(
  peer: string,
  options: { bound: string; publicAddress: string | undefined },
  interfaces: () => Interfaces = networkInterfaces,
): string {
  const { bound, publicAddress } = options
  if (publicAddress !== undefined && !isPrivate(peer)) return publicAddress
  if (bound !== '0.0.0.0' && bound !== '::') return bound
  const family = isIPv6(peer) ? 'IPv6' : 'IPv4'
  const own = Object.values(interfaces())
    .flatMap((list) => list ?? [])
    .filter((one) => one.family === family)
  for (const { cidr, address } of own) {
    const [base, bits] = (cidr ?? '').split('/')
    if (base === undefined || bits === undefined) continue
    const network = new BlockList()
    network.addSubnet(base, Number(bits), family === 'IPv6' ? 'ipv6' : 'ipv4')
    if (network.check(peer, family === 'IPv6' ? 'ipv6' : 'ipv4')) return address
  }
  const outward = own.find(({ internal, address }) => !internal && !address.startsWith('fe80'))
  return outward?.address ?? (family === 'IPv6' ? '::1' : '127.0.0.1')
}
