import { isIPv4, isIPv6 } from 'node:net'
import { PatchbayError } from '../../lib/errors.ts'
import { type Environment, isInternalName, netEntryOf, normalizeHost, variableOf } from '../grants/net-rule.ts'

export interface Sandbox {
  plugin: string
  /** Net grants as the operator wrote them. */
  net: readonly string[]
  env: Environment
  /** Of its JavaScript heap, in MiB. */
  memoryMiB: number
}

/** IPv4 addresses that a granted name must not stand for: this machine, the link, private networks, multicast. */
const LOOPBACK = '127.0.0.0/8'
const LOCAL = ['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4']
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '198.18.0.0/15']

/** Entries of one flag: an argument of a program has at most 128 KiB on Linux. */
const ENTRIES_A_FLAG = 6_000
const LAST_PORT = 65_535

/**
 * The flags Deno runs a plugin with: nothing is allowed by a flag, as Deno asks its role for each permission
 * (permission-broker.ts); what a name stands for is held back here, as Deno resolves it. Never remote imports; packages of npm are found in the
 * plugin's own node_modules alone (inside/deno.json). Pure.
 * Throws `configuration` for a grant that can't be said.
 */
export function denoFlags(sandbox: Sandbox): string[] {
  /** Ports that are granted at this machine; undefined where one grant names none. */
  const localPorts: (number | undefined)[] = []
  let hasOthers = false
  let denied = [LOOPBACK, ...LOCAL, ...PRIVATE]
  // A connection to `::` reaches this machine, too.
  let denied6 = ['[::1]', '[::]']
  for (const written of sandbox.net) {
    const entry = entryOf(written, sandbox.env)
    if (entry === undefined) continue
    if (entry.startsWith('unix:')) throw unsayable(sandbox.plugin, written, 'a Unix socket')
    const host = entry.replace(/:\d+$/, '')
    const [base = '', bits] = host.split('/')
    const isLocal = isLocalhost(host) || (isIPv4(base) && covers(parse(LOOPBACK), parse(base)))
    if (isLocal) localPorts.push(portOf(entry))
    else if (isIPv4(base) === false && !isIPv6(base.replace(/^\[|\]$/g, ''))) hasOthers = true
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
  }
  const ports = hasOthers && localPorts.length > 0 ? portDenials(sandbox.plugin, localPorts) : []
  return [
    ...['--no-prompt', '--no-remote', '--no-lock', '--quiet'],
    `--deny-net=${[...denied, ...denied6].join(',')}`,
    ...ports,
    `--v8-flags=--max-old-space-size=${sandbox.memoryMiB}`,
  ]
}

const portOf = (entry: string): number | undefined => {
  const port = /:(\d+)$/.exec(entry)?.[1]
  return port === undefined ? undefined : Number(port)
}

/**
 * Every port of this machine but those that are granted there: other granted names must not lead to the rest of it, whatever is answered
 * for them in the DNS. Deno takes no ranges of ports.
 */
function portDenials(plugin: string, granted: readonly (number | undefined)[]): string[] {
  if (granted.includes(undefined)) {
    const reason = `A net grant of plugin "${plugin}" opens all ports of this machine beside other hosts; name the port, as in localhost:8000`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const open = new Set(granted)
  const all = Array.from({ length: LAST_PORT }, (_, n) => n + 1).filter((port) => !open.has(port))
  const flags: string[] = []
  for (let from = 0; from < all.length; from += ENTRIES_A_FLAG) {
    const some = all.slice(from, from + ENTRIES_A_FLAG).map((port) => `${LOOPBACK}:${port}`)
    flags.push(`--deny-net=${some.join(',')}`)
  }
  return flags
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
