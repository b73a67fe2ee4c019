import dns from 'node:dns'
import { isIP } from 'node:net'
import { boundary } from '../../lib/async/boundary.ts'
import type { PatchbayError } from '../../lib/errors.ts'
import { formatTarget, normalizeHost } from '../grants/net-rule.ts'
import type { Policy } from './policy.ts'
import { rawBinding, replace } from './replace.ts'

/** A raw request: it answers to a callback or to a promise. */
interface NameRequest {
  callback?: (error: Error) => void
  reject?: (error: Error) => void
}

/**
 * A DNS query leaks data to the name's server, so only names that may be connected to may be resolved. All forms of
 * node:dns come down to its two `lookup`s and to the raw channel.
 */
export function guardNames(policy: Policy): void {
  const refusalOf = (host: string): PatchbayError | undefined =>
    policy.allowsHost(host, undefined) ? undefined : policy.refuse('net', normalizeHost(host))
  // Neither leaves the machine, and servers that listen use it.
  const isLocal = (host: unknown): boolean => !host || host === 'localhost' || isIP(String(host)) !== 0
  const isAllowedLookup = (name: string, host: unknown): boolean => name === 'lookup' && isLocal(host)
  for (const name of ['lookup', 'lookupService']) {
    replace(dns, name, (original, args) => {
      const refused = isAllowedLookup(name, args[0]) ? undefined : refusalOf(String(args[0]))
      if (refused === undefined) return original.apply(dns, args)
      const callback = args.at(-1)
      if (typeof callback !== 'function') throw refused
      process.nextTick(boundary('plugin', callback as (error: Error) => void), refused)
      return undefined
    })
    replace(dns.promises, name, async (original, args) => {
      const refused = isAllowedLookup(name, args[0]) ? undefined : refusalOf(String(args[0]))
      if (refused !== undefined) throw refused
      return original.apply(dns.promises, args)
    })
  }
  const channel = (rawBinding('cares_wrap').ChannelWrap as { prototype: object }).prototype
  for (const method of Object.getOwnPropertyNames(channel).filter((name) => /^(query|getHostByAddr)/.test(name))) {
    replace(channel, method, (original, [request, given, ...rest], self) => {
      const name = String(given)
      const refused = refusalOf(name)
      if (refused === undefined) return original.call(self, request, name, ...rest)
      const { callback, reject } = request as NameRequest
      process.nextTick(boundary('plugin', callback ?? reject ?? (() => undefined)), refused)
      return 0
    })
  }
  replace(channel, 'setServers', (original, [given], self) => {
    const servers = Array.from(given as unknown[][], ([family, ip, at]) => [family, String(ip), Number(at)] as const)
    for (const [, address, port] of servers) {
      if (!policy.allowsHost(address, port)) throw policy.refuse('net', formatTarget(address, port), '(a DNS server)')
    }
    return original.call(self, servers)
  })
}
