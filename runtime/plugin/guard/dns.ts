import dns from 'node:dns'
import { isIP } from 'node:net'
import { boundary } from '../../lib/async/boundary.ts'
import type { PatchbayError } from '../../lib/errors.ts'
import { allowsHost, formatTarget, normalizeHost } from '../grants/net-rule.ts'
import type { Policy } from './policy.ts'

type Method = (this: unknown, ...args: unknown[]) => unknown
type Methods = Record<string, Method | undefined>

/** A DNS query leaks data to the name's server, so only names that may be connected to may be resolved. */
const BY_NAME = [
  'resolve',
  'resolve4',
  'resolve6',
  'resolveAny',
  'resolveCaa',
  'resolveCname',
  'resolveMx',
  'resolveNaptr',
  'resolveNs',
  'resolvePtr',
  'resolveSoa',
  'resolveSrv',
  'resolveTlsa',
  'resolveTxt',
] as const

/** Name lookups of node:dns in all its forms: functions, promises and both Resolver classes. */
export function guardDns(policy: Policy): void {
  const known = (host: string): boolean => policy.net().some((rules) => allowsHost(rules, host, undefined))
  const byName = (host: unknown): PatchbayError | undefined =>
    known(String(host)) ? undefined : policy.refuse('net', normalizeHost(String(host)))
  // Neither leaves the machine, and servers that listen use it.
  const byLookup = (host: unknown): PatchbayError | undefined =>
    !host || host === 'localhost' || isIP(String(host)) !== 0 ? undefined : byName(host)
  const byServers = (servers: unknown): PatchbayError | undefined => {
    for (const server of Array.isArray(servers) ? servers : []) {
      const [, host = '', port = '53'] = /^\[?(.+?)\]?(?::(\d+))?$/.exec(String(server)) ?? []
      const address = isIP(String(server)) === 0 ? host : String(server)
      const allowed = policy.net().some((rules) => allowsHost(rules, address, Number(port)))
      if (!allowed) return policy.refuse('net', formatTarget(address, Number(port)), '(a DNS server)')
    }
    return undefined
  }

  const resolvers = [
    { target: dns.Resolver.prototype, style: 'callback' },
    { target: dns.promises.Resolver.prototype, style: 'promise' },
  ] as const
  const modules = [
    { target: dns, style: 'callback' },
    { target: dns.promises, style: 'promise' },
  ] as const
  for (const { target, style } of [...resolvers, ...modules]) {
    const methods = target as unknown as Methods
    for (const name of BY_NAME) wrap(methods, name, style, byName)
    wrap(methods, 'reverse', style, byName)
    wrap(methods, 'setServers', 'throw', byServers)
  }
  for (const { target, style } of modules) {
    wrap(target as unknown as Methods, 'lookup', style, byLookup)
    wrap(target as unknown as Methods, 'lookupService', style, byName)
  }
}

/** Puts `check` of the first argument before a method; a refusal arrives the way the method's own errors do. */
function wrap(
  target: Methods,
  name: string,
  style: 'callback' | 'promise' | 'throw',
  check: (first: unknown) => PatchbayError | undefined,
): void {
  const original = target[name]
  if (typeof original !== 'function') return
  function guarded(this: unknown, ...args: unknown[]): unknown {
    const refused = check(args[0])
    if (!refused) return original?.apply(this, args)
    if (style === 'promise') return Promise.reject(refused)
    const callback = args[args.length - 1]
    if (style === 'throw' || typeof callback !== 'function') throw refused
    process.nextTick(boundary('plugin', callback as (error: Error) => void), refused)
    return undefined
  }
  // With what util.promisify looks at.
  target[name] = Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original))
}
