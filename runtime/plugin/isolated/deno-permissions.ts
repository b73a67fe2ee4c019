import { lookup } from 'node:dns/promises'
import { realpath } from 'node:fs/promises'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { boundary } from '../../lib/async/boundary.ts'
import { signalWithin } from '../../lib/async/signal-within.ts'
import { allowsHost, allowsResolved, formatTarget, type NetRule, normalizeHost } from '../grants/net-rule.ts'
import { allowsRead, type Grants, type Permission } from '../grants/permissions.ts'

/** What Deno asks before the plugin's code does something. */
export interface PermissionQuestion {
  permission: string
  /** The host and port, path or variable; null: all of them. */
  value: string | null
}

/** What a plugin may not. */
export interface Refused {
  permission: Permission
  target: string
  /** Behind the target, as in `(the address of "db.example")`. */
  why?: string
}

const RESOLVE_TIMEOUT_MS = 2_000
const PERMISSIONS: ReadonlySet<string> = new Set<Permission>(['net', 'env', 'run', 'read', 'listen'])

type Resolve = (host: string) => Promise<readonly string[]>

/**
 * Whether the plugin may do what its process asks for: undefined where it may. A name is decided by name, and by what it stands for
 * where another grant opens addresses of private networks or of this machine to the process.
 * @param readable folders and files it may read besides what was granted
 */
export async function refusalOf(
  { permission, value }: PermissionQuestion,
  grants: Grants,
  readable: readonly string[],
  resolveName: Resolve,
): Promise<Refused | undefined> {
  const refused: Refused = { permission: nameOf(permission), target: value ?? 'everything' }
  if (value === null) return refused
  switch (permission) {
    case 'net':
      return refusalOfNet(value, grants.net, resolveName)
    case 'read': {
      // A link is decided by where it leads.
      const path = await realpath(value).catch(() => resolve(value))
      return allowsRead({ ...grants, read: [...grants.read, ...readable] }, path) ? undefined : refused
    }
    case 'env':
      return grants.env.has(value) ? undefined : refused
    default:
      return { ...refused, target: PERMISSIONS.has(permission) ? value : `${permission} ${value}` }
  }
}

const nameOf = (permission: string): Permission =>
  PERMISSIONS.has(permission) ? (permission as Permission) : permission === 'import' ? 'read' : 'run'

async function refusalOfNet(
  target: string,
  rules: readonly NetRule[],
  resolveName: Resolve,
): Promise<Refused | undefined> {
  const [, bracketed, plain = '', portText] = /^(?:\[([^\]]+)\]|(.*?))(?::(\d+))?$/s.exec(target) ?? []
  const host = bracketed ?? plain
  const port = portText === undefined ? undefined : Number(portText)
  const refused: Refused = { permission: 'net', target }
  if (!allowsHost(rules, host, port)) return refused
  const name = normalizeHost(host)
  // Only the operator's own hosts file says what localhost stands for.
  if (isIP(name) !== 0 || name === 'localhost' || !rules.some(opensAddresses)) return undefined
  const addresses = await resolveName(host).catch(() => [])
  const wrong = addresses.find((address) => !allowsResolved(rules, host, address, port))
  if (wrong === undefined) return undefined
  return { permission: 'net', target: formatTarget(wrong, port), why: `(the address of "${host}")` }
}

/** Deno's own list of denied addresses has a hole for it. */
function opensAddresses(rule: NetRule): boolean {
  return rule.kind === 'addresses' || (rule.kind === 'name' && rule.reach !== 'public')
}

/** What the system's resolver says a name stands for, in IPv4. */
export async function addressesOf(host: string): Promise<string[]> {
  const late = signalWithin(RESOLVE_TIMEOUT_MS)
  const tooLate = new Promise<never>((_, reject) =>
    late.addEventListener(
      'abort',
      boundary('plugin', () => reject(late.reason)),
    ),
  )
  const found = await Promise.race([lookup(host, { all: true, family: 4 }), tooLate])
  return found.map(({ address }) => address)
}
