import { type AddressRange, addressesIn, containsRange, parseRange } from '../lib/address-range.ts'
import { isPublicAddress } from '../tools/address.ts'

/** Examples of manuals. They lead nowhere, so nothing has to be kept from them. */
const EXAMPLES = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'].map((text) => parseRange(text)!)
/** Ranges up to these lengths are a carrier's; wider ones are an operator's to hand out. */
const CARRIER_BITS = { 4: 24, 6: 48 } as const

/** Is this no host of the public internet, but one of the operator's own network or of this machine? */
export function isInternalAddress(address: string): boolean {
  const range = parseRange(address)
  return range !== undefined && isInternalRange(range)
}

/** Does a range have an internal address in it? Asked of ranges that are not wide. */
export function isInternalRange(range: AddressRange): boolean {
  if (EXAMPLES.some((example) => containsRange(example, range))) return false
  // Reserved blocks of IPv6 are all wider than what is asked here: the first address speaks for the others.
  const most = range.family === 4 ? 1 << (32 - CARRIER_BITS[4]) : 1
  for (const address of addressesIn(range, most)) if (!isPublicAddress(address)) return true
  return false
}

export function isWideRange({ family, bits }: AddressRange): boolean {
  return bits < CARRIER_BITS[family]
}
