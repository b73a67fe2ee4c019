import { BlockList, isIP, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'
import { PatchbayError } from '../../lib/errors.ts'

/**
 * Network grants: how an entry is read and what it matches. Pure; the only input besides the arguments is the
 * environment an entry like `${OPENAI_BASE_URL}` refers to, and that is an argument too.
 */
export type NetRule =
  /** One name on one port, or on every port. `reach` is what it may resolve to, see allowsResolved. */
  | { kind: 'name'; name: string; port: number | undefined; reach: 'public' | 'private' | 'anywhere' }
  /** `*.example.com`: every name below, not the name itself. `suffix` starts with a dot. */
  | { kind: 'suffix'; suffix: string; port: number | undefined }
  | { kind: 'addresses'; addresses: BlockList; port: number | undefined }
  /** A Unix socket, or every socket below a folder when `path` ends in a slash. */
  | { kind: 'unix'; path: string }

export type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'ws:': 80,
  'https:': 443,
  'wss:': 443,
  'postgres:': 5432,
  'postgresql:': 5432,
  'redis:': 6379,
  'rediss:': 6379,
}

const VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/
const PORT = /^(.*?)(?::(\d{1,5}))?$/s
/** What listen grants take at their end, and net grants do not. */
const PORT_RANGE = /:(\d{1,5})-\d{1,5}$/
/** An address range, with or without a port. */
const RANGE = /^\[?[0-9a-fA-F.:]+\/\d+\]?(:\d+)?$/
const LABEL = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/

/** The variable an entry refers to, or undefined when it names a host itself. */
export function variableOf(entry: string): string | undefined {
  return VARIABLE.exec(entry)?.[1]
}

/**
 * Reads one entry: `host`, `host:port`, `*.example.com:443`, `10.0.0.1:80`, `[::1]:80`, `10.0.0.0/8:443`,
 * `[fd00::/8]:443`, `unix:/path`, or `${VARIABLE}` holding a URL. Undefined when that variable is unset.
 * Throws `configuration` when the entry means nothing.
 */
export function parseNetRule(entry: string, env: Environment): NetRule | undefined {
  const variable = variableOf(entry)
  if (variable === undefined) return parseHostRule(entry, entry)
  const value = env[variable]
  if (value === undefined || value === '') return undefined
  if (!value.includes('://') && value.includes('/') && !RANGE.test(value)) {
    const reason = `${variable} is "${value}", which is no URL: http:// or https:// before it is missing`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const rule = parseHostRule(value.includes('://') ? netEntryOf(value) : value, `${variable}=${value}`)
  return rule.kind === 'name' ? { ...rule, reach: 'private' } : rule
}

/**
 * Reads what the process itself, not a plugin, connects to: a URL or an entry, whose name may resolve to any address.
 * Postgres and Redis on sockets are `postgres://…?host=/folder` and `unix:///path`. Throws `configuration`.
 */
export function parseInfrastructureRule(target: string): NetRule {
  const url = URL.canParse(target) && target.includes('://') ? new URL(target) : undefined
  const folder = url?.searchParams.get('host')
  if (folder?.startsWith('/')) return { kind: 'unix', path: folder.endsWith('/') ? folder : `${folder}/` }
  if (url?.protocol === 'unix:') return { kind: 'unix', path: decodeURIComponent(url.pathname) }
  const rule = parseHostRule(url ? netEntryOf(url) : target, target)
  return rule.kind === 'name' ? { ...rule, reach: 'anywhere' } : rule
}

/** The entry that names what a URL connects to: `https://a.example/v1` is `a.example:443`. Throws `configuration`. */
export function netEntryOf(url: string | URL): string {
  if (typeof url === 'string' && !URL.canParse(url)) {
    throw new PatchbayError('configuration', { params: { reason: `"${url}" is not a URL` } })
  }
  const { protocol, hostname, port } = new URL(url)
  const effective = port === '' ? DEFAULT_PORTS[protocol] : Number(port)
  return effective === undefined ? hostname : `${hostname}:${effective}`
}

/** `host:port` as grants write it, IPv6 in brackets. */
export function formatTarget(host: string, port: number | undefined): string {
  const shown = isIPv6(host) ? `[${host}]` : host
  return port === undefined ? shown : `${shown}:${port}`
}

/** Lowercase, ASCII, no trailing dot, no brackets or zone around an address. */
export function normalizeHost(host: string): string {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  const unzoned = bare.replace(/%.*$/s, '')
  if (isIP(unzoned) !== 0) return unzoned.toLowerCase()
  return (domainToASCII(bare) || bare.toLowerCase()).replace(/\.$/, '')
}

function parseHostRule(entry: string, shown: string): NetRule {
  const fail = (why: string): never => {
    throw new PatchbayError('configuration', { params: { reason: `Net grant "${shown}" ${why}` } })
  }
  if (entry.startsWith('unix:/')) return { kind: 'unix', path: entry.slice('unix:'.length) }
  if (entry.includes('://')) fail(`is a URL; write "${netEntryOf(entry)}"`)
  if (PORT_RANGE.test(entry)) {
    fail(
      `has a range of ports at its end; write one port, an entry for each ("${entry.replace(PORT_RANGE, ':$1')}"), or none for every port`,
    )
  }
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(entry)
  const plain = isIPv6(entry.replace(/\/\d+$/, '')) ? [entry, entry, undefined] : PORT.exec(entry)
  const host = bracketed?.[1] ?? plain?.[1] ?? ''
  const portText = bracketed ? bracketed[2] : plain?.[2]
  const port = portText === undefined ? undefined : Number(portText)
  if (port !== undefined && (port < 1 || port > 65535)) fail('names no port between 1 and 65535')

  const [base = '', bits, ...rest] = host.split('/')
  const family = isIP(base)
  if (family !== 0) {
    const width = family === 4 ? 32 : 128
    const prefix = bits === undefined ? width : Number(bits)
    if (rest.length > 0 || bits === '' || !Number.isInteger(prefix) || prefix < 0 || prefix > width) {
      fail(`is not an address range: behind the slash goes a number from 0 to ${width}, as in "${base}/${width}"`)
    }
    const addresses = new BlockList()
    addresses.addSubnet(base, prefix, family === 4 ? 'ipv4' : 'ipv6')
    return { kind: 'addresses', addresses, port }
  }
  const wildcard = host.startsWith('*.')
  const name = normalizeHost(wildcard ? host.slice(2) : host)
  if (isIP(name) !== 0) fail(`is an address in an odd spelling; write "${name}"`)
  if (name.length > 253 || !name.split('.').every((label) => LABEL.test(label))) {
    fail('is not a host, host:port, *.domain:port, address, range or $VARIABLE in braces')
  }
  if (wildcard && !name.includes('.')) fail('is a wildcard of a whole top-level domain')
  if (wildcard) return { kind: 'suffix', suffix: `.${name}`, port }
  return { kind: 'name', name, port, reach: isInternalName(name) ? 'private' : 'public' }
}

/** Names the public DNS does not answer: a stranger can't point them at a private address. */
export function isInternalName(name: string): boolean {
  return !name.includes('.') || /\.(internal|local|localhost|lan|home\.arpa|intranet|svc|test)$/.test(name)
}

const LOCAL = ranges(
  ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '255.255.255.255/32'],
  ['::/128', '::1/128', 'fe80::/10', 'ff00::/8'],
)
const LOOPBACK = ranges(['127.0.0.0/8'], ['::1/128'])
const PRIVATE = ranges(
  [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '100.64.0.0/10',
    '198.18.0.0/15',
    '192.0.0.0/24',
    '168.63.129.16/32',
  ],
  ['fc00::/7', 'fec0::/10'],
)

function ranges(v4: readonly string[], v6: readonly string[]): BlockList {
  const list = new BlockList()
  for (const [entries, family] of [[v4, 'ipv4'] as const, [v6, 'ipv6'] as const]) {
    for (const entry of entries) {
      const [base = '', bits] = entry.split('/')
      list.addSubnet(base, Number(bits), family)
    }
  }
  return list
}

/** Prefixes in whose last 32 bits stands an IPv4 address: NAT64 (RFC 6052, RFC 8215). */
const NAT64 = ranges([], ['64:ff9b::/96', '64:ff9b:1::/48'])
/** Addresses that name an IPv4 address after their first 16 bits: 6to4 (RFC 3056). */
const SIX_TO_FOUR = ranges([], ['2002::/16'])

/** The IPv4 address that a translated or tunnelled IPv6 address leads to; other addresses as they are. */
function translated(address: string): string {
  if (!isIPv6(address)) return address
  const nat64 = NAT64.check(address, 'ipv6')
  if (!nat64 && !SIX_TO_FOUR.check(address, 'ipv6')) return address
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
  const [high = 0, low = 0] = (nat64 ? groups.slice(6) : groups.slice(1, 3)).map((group) => Number.parseInt(group, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

function namePart(rule: NetRule, name: string): boolean {
  if (rule.kind === 'name') return rule.name === name
  return rule.kind === 'suffix' && name.endsWith(rule.suffix)
}

function portPart(rule: { port: number | undefined }, port: number | undefined): boolean {
  return rule.port === undefined || port === undefined || rule.port === port
}

/** Before anything is resolved: is this host, a name or an address, granted on this port? No port: on any port. */
export function allowsHost(rules: readonly NetRule[], host: string, port: number | undefined): boolean {
  const name = normalizeHost(host)
  if (isIP(name) !== 0) return allowsAddress(rules, name, port)
  return rules.some((rule) => rule.kind !== 'unix' && portPart(rule, port) && namePart(rule, name))
}

function allowsAddress(rules: readonly NetRule[], address: string, port: number | undefined): boolean {
  return rules.some((rule) => rule.kind === 'addresses' && portPart(rule, port) && contains(rule.addresses, address))
}

/**
 * After a granted name was resolved: may it stand for this address? Public addresses always. A private address only
 * for a name the public DNS does not answer, one an operator's variable names, or one granted by address as well; a
 * loopback, link-local or multicast address only for `localhost` or when granted by address. So the DNS
 * of a granted name can't turn the grant into a door to this machine or its network (DNS rebinding).
 */
export function allowsResolved(
  rules: readonly NetRule[],
  host: string,
  address: string,
  port: number | undefined,
): boolean {
  const name = normalizeHost(host)
  const written = normalizeHost(address)
  if (isIP(written) === 0) return false
  if (allowsAddress(rules, written, port)) return true
  const ip = translated(written)
  if (isIP(name) !== 0) return false
  return rules.some((rule) => {
    if (rule.kind === 'unix' || rule.kind === 'addresses' || !portPart(rule, port) || !namePart(rule, name))
      return false
    const reach = rule.kind === 'name' ? rule.reach : 'public'
    if (reach === 'anywhere') return true
    if (contains(LOCAL, ip)) return isLocalhost(name) && contains(LOOPBACK, ip)
    return reach === 'private' || !contains(PRIVATE, ip)
  })
}

function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

/** Is this Unix socket granted? `path` is absolute. */
export function allowsUnixSocket(rules: readonly NetRule[], path: string): boolean {
  return rules.some(
    (rule) => rule.kind === 'unix' && (rule.path.endsWith('/') ? path.startsWith(rule.path) : path === rule.path),
  )
}
