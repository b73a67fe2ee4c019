import { isInternalAddress } from '../../lib/address.ts'
import { type AddressRange, addressesIn } from '../../lib/address-range.ts'

/** Ranges up to these lengths are a carrier's; wider ones are an operator's to hand out. */
const CARRIER_BITS = { 4: 24, 6: 48 } as const

/** Does a range have an internal address in it? Asked of ranges that are not wide. */
export function isInternalRange(range: AddressRange): boolean {
  // Reserved blocks of IPv6 are all wider than what is asked here: the first address speaks for the others.
  const most = range.family === 4 ? 1 << (32 - CARRIER_BITS[4]) : 1
  for (const address of addressesIn(range, most)) if (isInternalAddress(address)) return true
  return false
}

export function isWideRange({ family, bits }: AddressRange): boolean {
  return bits < CARRIER_BITS[family]
}
