import { BlockList, isIP } from 'node:net'
import { hostname } from 'node:os'
import { PatchbayError } from './errors.ts'

/** Which addresses are proxies whose word about their clients is taken. */
export type TrustedProxies = (address: string) => boolean

/** @param list addresses and ranges (`10.0.0.0/8`). This machine's own are always trusted. Throws `configuration` for another text. */
export function trustedProxies(list: readonly string[]): TrustedProxies {
  const trusted = new BlockList()
  for (const text of ['127.0.0.0/8', '::1', ...list]) {
    const [address = '', bits] = text.trim().split('/')
    const family = isIP(address)
    const length = bits === undefined ? (family === 6 ? 128 : 32) : Number(bits)
    if (family === 0 || !/^\d*$/.test(bits ?? '') || length > (family === 6 ? 128 : 32)) {
      const reason = `PATCHBAY_TRUSTED_PROXIES has "${text}", which is no address and no range such as 10.0.0.0/8.`
      throw new PatchbayError('configuration', { params: { reason } })
    }
    trusted.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4')
  }
  return (address) => isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** An IPv4 address is the same one within IPv6; an IPv6 address has many spellings. Another text stays as it is. */
export function plainAddress(text: string): string {
  if (isIP(text) !== 6) return text
  const plain = new URL(`http://[${text.replace(/%.*$/s, '')}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(plain)
  if (!mapped) return plain
  const bytes = mapped.slice(1).flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255])
  return bytes.join('.')
}

/**
 * Where a request comes from: the last address of `forwardedFor` (X-Forwarded-For) that no trusted proxy has, as long as
 * only trusted proxies stand between. A header that comes from elsewhere is anybody's claim.
 */
export function clientAddress(peer: string, forwardedFor: string, isTrusted: TrustedProxies): string {
  let client = plainAddress(peer)
  const hops = forwardedFor.split(',').map((hop) => plainAddress(hop.trim()))
  for (let hop = hops.pop(); hop !== undefined && isIP(hop) !== 0 && isTrusted(client); hop = hops.pop()) client = hop
  return client
}

/** This very machine. */
export function isLoopback(address: string): boolean {
  const plain = plainAddress(address)
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'))
}

/** Whether a Host header names this very machine, whatever the port. */
export function isOwnHost(host: string): boolean {
  const name = nameOf(host)
  return isLoopbackHost(host) || name === hostname().toLowerCase() || name === '0.0.0.0'
}

/** Whether a Host header, or an address with a port, is a name of the loopback interface: nobody else's DNS leads a page there. */
export function isLoopbackHost(host: string): boolean {
  const name = nameOf(host)
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name.replace(/^\[(.*)\]$/, '$1'))
}

const nameOf = (host: string): string => host.toLowerCase().replace(/:\d*$/, '')
