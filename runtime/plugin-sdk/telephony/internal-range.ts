import { INTERNAL_RANGES } from '../../lib/address.ts'
import { type AddressRange, overlaps, parseRange } from '../../lib/address-range.ts'

/** Ranges up to these lengths are a carrier's; wider ones are an operator's to hand out. */
const CARRIER_BITS = { 4: 24, 6: 48 } as const
const INTERNAL: readonly AddressRange[] = INTERNAL_RANGES.flatMap((range) => parseRange(range) ?? [])

/** Does a range have an internal address in it? */
export function isInternalRange(range: AddressRange): boolean {
  return INTERNAL.some((internal) => overlaps(internal, range))
}

export function isWideRange({ family, bits }: AddressRange): boolean {
  return bits < CARRIER_BITS[family]
}
