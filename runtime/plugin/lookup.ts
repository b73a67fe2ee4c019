import { isIP, type LookupFunction } from 'node:net'
import type { PatchbayError } from '../lib/errors.ts'
import { allowsResolved, formatTarget, type NetRule } from './grants/net-rule.ts'

type LookupResult = string | { address: string; family: number }[]

/**
 * A lookup that hands on only the addresses a grant lets `host` stand for on `port`, and fails with `deny` when none
 * is left. `rules` are sets of which one has to allow it. Fits the `lookup` option of net, tls, http and dgram.
 */
export function guardedLookup(
  lookup: LookupFunction,
  rules: readonly (readonly NetRule[])[],
  host: string,
  port: number | undefined,
  deny: (target: string, why: string) => PatchbayError,
  /** Called with each address handed on. */
  approve: (address: string) => void = () => undefined,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, result: LookupResult, family) => {
      if (error) return callback(error, result, family)
      const found = Array.isArray(result) ? result : [{ address: result, family: family ?? isIP(result) }]
      const granted = found.filter(({ address }) => rules.some((set) => allowsResolved(set, host, address, port)))
      for (const { address } of granted) approve(address)
      const [first] = granted
      if (first) return Array.isArray(result) ? callback(null, granted) : callback(null, first.address, first.family)
      const denied = deny(formatTarget(found[0]?.address ?? host, port), `(the address of "${host}")`)
      callback(denied as NodeJS.ErrnoException, Array.isArray(result) ? [] : '', 0)
    })
  }
}
