import { isIPv4, isIPv6 } from 'node:net'
import { PatchbayError } from '../../lib/errors.ts'
import { type Environment, isInternalName, netEntryOf, normalizeHost, variableOf } from '../grants/net-rule.ts'

export interface Sandbox {
  plugin: string
  /** Net grants as the operator wrote them. */
  net: readonly string[]
  /** Absolute paths it may read: its own folder among them. */
  read: readonly string[]
  env: Environment
  /** Of its JavaScript heap, in MiB. */
  memoryMiB: number
}

/** IPv4 addresses that a granted name must not stand for: this machine, the link, private networks, multicast. */
const LOOPBACK = '127.0.0.0/8'
const LOCAL = ['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4']
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '198.18.0.0/15']

/**
 * The operator's grants as Deno's own permissions (docs.deno.com, "Security and permissions"): never programs, native
 * code, writing, system information, npm or remote imports. Pure. Throws `configuration` for a grant that can't be said.
 */
export function denoFlags(sandbox: Sandbox): string[] {
  const allowed: string[] = []
  let denied = [LOOPBACK, ...LOCAL, ...PRIVATE]
  // A connection to `::` reaches this machine, too.
  let denied6 = ['[::1]', '[::]']
  for (const written of sandbox.net) {
    const entry = entryOf(written, sandbox.env)
    if (entry === undefined) continue
    if (entry.startsWith('unix:')) throw unsayable(sandbox.plugin, written, 'a Unix socket')
    const host = entry.replace(/:\d+$/, '')
    const [base = '', bits] = host.split('/')
    if (isIPv4(base)) denied = denied.flatMap((range) => without(range, bits === undefined ? `${base}/32` : host))
    else if (isIPv6(base.replace(/^\[|\]$/g, '')) || isIPv6(entry)) {
      if (bits !== undefined || host.includes('/'))
        throw unsayable(sandbox.plugin, written, 'a range of IPv6 addresses')
      denied6 = denied6.filter((address) => normalizeHost(address) !== normalizeHost(host))
    } else if (isLocalhost(host)) {
      denied = denied.filter((range) => range !== LOOPBACK)
      denied6 = []
    } else if (isInternalName(normalizeHost(host)) || variableOf(written) !== undefined) {
      denied = denied.filter((range) => !PRIVATE.includes(range))
    }
    allowed.push(isIPv6(entry) ? `[${entry}]` : entry)
  }
  return [
    ...['--no-prompt', '--no-remote', '--no-npm', '--no-config', '--no-lock', '--quiet'],
    ...(allowed.length === 0 ? [] : [`--allow-net=${allowed.join(',')}`]),
    `--deny-net=${[...denied, ...denied6].join(',')}`,
    `--allow-read=${sandbox.read.map(escaped).join(',')}`,
    `--v8-flags=--max-old-space-size=${sandbox.memoryMiB}`,
  ]
}

function isLocalhost(host: string): boolean {
  const name = normalizeHost(host)
  return name === 'localhost' || name.endsWith('.localhost')
}

/** What an entry names: `${VARIABLE}` stands for the host of the URL it holds. Undefined: it is unset. */
function entryOf(written: string, env: Environment): string | undefined {
  const variable = variableOf(written)
  if (variable === undefined) return written
  const value = env[variable]
  if (value === undefined || value === '') return undefined
  return value.includes('://') ? netEntryOf(value) : value
}

/** Deno separates paths by commas. */
function escaped(path: string): string {
  if (!path.includes(',')) return path
  const reason = `"${path}" has a comma, which Deno's permissions can't hold; use another folder`
  throw new PatchbayError('configuration', { params: { reason } })
}

function unsayable(plugin: string, entry: string, what: string): PatchbayError {
  const reason = `Net grant "${entry}" of plugin "${plugin}" is ${what}, which a plugin in a process of its own can't be given; name hosts or addresses`
  return new PatchbayError('configuration', { params: { reason } })
}

/** The addresses of `range` that are not of `hole`, as ranges. Both are IPv4 in CIDR notation. */
function without(range: string, hole: string): string[] {
  const outer = parse(range)
  const inner = parse(hole)
  if (inner.bits <= outer.bits) return covers(inner, outer) ? [] : [range]
  if (!covers(outer, inner)) return [range]
  const left: string[] = []
  for (let bits = outer.bits + 1; bits <= inner.bits; bits++) {
    // The half that the hole is not in.
    const sibling = (maskTo(inner.base, bits) ^ (1 << (32 - bits))) >>> 0
    left.push(`${textOf(sibling)}/${bits}`)
  }
  return left
}

interface Cidr {
  base: number
  bits: number
}

function parse(range: string): Cidr {
  const [address = '', bits = '32'] = range.split('/')
  const base = address.split('.').reduce((sum, part) => ((sum << 8) | Number(part)) >>> 0, 0)
  return { base: maskTo(base, Number(bits)), bits: Number(bits) }
}

const maskTo = (base: number, bits: number): number => (bits === 0 ? 0 : (base & (-1 << (32 - bits))) >>> 0)
const covers = (outer: Cidr, inner: Cidr): boolean =>
  outer.bits <= inner.bits && maskTo(inner.base, outer.bits) === outer.base
const textOf = (base: number): string => [24, 16, 8, 0].map((shift) => (base >>> shift) & 255).join('.')
