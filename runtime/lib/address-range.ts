import { isIP } from 'node:net'

/**
 * Addresses and ranges (CIDR) of IPv4 and IPv6, in one spelling each. An IPv4 address that is written as IPv6
 * (`::ffff:192.0.2.1`) is that IPv4 address. Pure.
 */
export interface AddressRange {
  readonly family: 4 | 6
  readonly first: bigint
  /** Length of the prefix. */
  readonly bits: number
}

const WIDTHS = { 4: 32, 6: 128 } as const
const MAPPED = 0xffffn
const MAPPED_BITS = 96

/** Reads `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/48`; undefined: it is neither an address nor a range. */
export function parseRange(text: string): AddressRange | undefined {
  const [written = '', prefix, ...rest] = text.trim().split('/')
  const address = written.replace(/%.*$/s, '')
  const version = isIP(address)
  if (version === 0 || rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return undefined
  const family = version === 4 ? 4 : 6
  const bits = prefix === undefined ? WIDTHS[family] : Number(prefix)
  if (bits > WIDTHS[family]) return undefined
  const value = family === 4 ? valueOfV4(address) : valueOfV6(address)
  if (family === 6 && bits >= MAPPED_BITS && value >> 32n === MAPPED) {
    return rangeOf(4, value & 0xffffffffn, bits - MAPPED_BITS)
  }
  return rangeOf(family, value, bits)
}

function rangeOf(family: 4 | 6, value: bigint, bits: number): AddressRange {
  const hostBits = BigInt(WIDTHS[family] - bits)
  return { family, first: (value >> hostBits) << hostBits, bits }
}

function valueOfV4(address: string): bigint {
  return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
}

function valueOfV6(address: string): bigint {
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}

/** An address alone is written without its length. */
export function formatRange({ family, first, bits }: AddressRange): string {
  const address = addressOf(family, first)
  return bits === WIDTHS[family] ? address : `${address}/${bits}`
}

function addressOf(family: 4 | 6, value: bigint): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

export function containsRange(outer: AddressRange, inner: AddressRange): boolean {
  return (
    outer.family === inner.family &&
    outer.bits <= inner.bits &&
    rangeOf(outer.family, inner.first, outer.bits).first === outer.first
  )
}

export function overlaps(a: AddressRange, b: AddressRange): boolean {
  return containsRange(a, b) || containsRange(b, a)
}

export function sizeOf({ family, bits }: AddressRange): bigint {
  return 1n << BigInt(WIDTHS[family] - bits)
}

/** What one customer of a network has, so that limits per source hold: an IPv4 address, or a /64 of IPv6. */
export function networkOf(address: string): string {
  const range = isIP(address) === 4 ? undefined : parseRange(address)
  if (range === undefined || range.family === 4) return range === undefined ? address : formatRange(range)
  return formatRange(rangeOf(6, range.first, 64))
}
