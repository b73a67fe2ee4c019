import { BlockList, isIP, isIPv6 } from 'node:net'
import { formatRange, parseRange } from '../../../runtime/lib/address-range.ts'
import { plainAddress } from '../../../runtime/lib/client-address.ts'

/** Addresses and ranges of a trunk, however they are written. */
export class AddressList {
  readonly #list = new BlockList()

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const range = parseRange(entry)
      if (range === undefined) continue
      const [base = ''] = formatRange(range).split('/')
      this.#list.addSubnet(base, range.bits, range.family === 6 ? 'ipv6' : 'ipv4')
    }
  }

  has(written: string): boolean {
    const address = plainAddress(written)
    return isIP(address) !== 0 && this.#list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  }
}
