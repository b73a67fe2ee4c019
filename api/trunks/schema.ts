import { X509Certificate } from 'node:crypto'
import { isIP, isIPv6 } from 'node:net'
import { getCountries } from 'libphonenumber-js/min'
import { type Static, Type } from 'typebox'
import type { TrunkRow } from '../../store/schema.ts'
import { type Fault, Id, Instant, Nullable, ValidationError } from '../schema.ts'

const Transport = Type.Union([Type.Literal('udp'), Type.Literal('tcp'), Type.Literal('tls')], {
  description: 'How signalling travels; media are RTP over UDP.',
})
const Codecs = Type.Array(Type.Union([Type.Literal('PCMU'), Type.Literal('PCMA')]), {
  minItems: 1,
  maxItems: 2,
  description: 'Most wanted first.',
})
const Addresses = Type.Array(Type.String({ maxLength: 64 }), {
  maxItems: 200,
  description: 'Addresses and ranges whose calls are taken: `192.0.2.1`, `192.0.2.0/24`.',
})
const Countries = Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), {
  maxItems: 250,
  description: 'Countries that may be called, ISO 3166-1 alpha-2; empty: that of the calling number alone.',
})
const Host = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "The trunk's name or address, with its port where it isn't 5060 (TLS: 5061).",
})
const Username = Nullable(Type.String({ minLength: 1, maxLength: 128 }))
const Password = Nullable(Type.String({ minLength: 1, maxLength: 256, description: 'Kept encrypted, never returned.' }))
const TlsCa = Nullable(
  Type.String({
    minLength: 1,
    maxLength: 65_536,
    description:
      'Over TLS: certificates (PEM) of those who vouch for the host, in place of those this machine trusts. Without it the host needs a certificate of a public authority.',
  }),
)
const Name = Type.String({ minLength: 1, maxLength: 64, description: 'Phone numbers name their trunk by it.' })
const MaxConcurrent = Type.Integer({ minimum: 1, maximum: 10_000 })
const MaxPerSecond = Type.Number({ minimum: 0.1, maximum: 1_000 })

export const TrunkBody = Type.Object({
  trunk_id: Id,
  workspace_id: Id,
  name: Name,
  host: Host,
  transport: Transport,
  tls_ca: TlsCa,
  register: Type.Boolean({ description: 'Whether we register there, so that calls find us behind a NAT.' }),
  username: Username,
  has_password: Type.Boolean(),
  allowed_addresses: Addresses,
  codecs: Codecs,
  max_concurrent_calls: Type.Integer({ description: 'Calls at once, per api node.' }),
  max_calls_per_second: Type.Number({ description: 'Calls that begin each second, per api node.' }),
  countries: Countries,
  created_at: Instant,
  updated_at: Instant,
})

export const CreateTrunkInput = Type.Object({
  name: Name,
  host: Host,
  transport: Type.Optional({ ...Transport, default: 'udp' }),
  tls_ca: Type.Optional(TlsCa),
  register: Type.Optional(Type.Boolean({ default: false })),
  username: Type.Optional(Username),
  password: Type.Optional(Password),
  allowed_addresses: Type.Optional({ ...Addresses, default: [] }),
  codecs: Type.Optional({ ...Codecs, default: ['PCMU', 'PCMA'] }),
  max_concurrent_calls: Type.Optional({ ...MaxConcurrent, default: 100 }),
  max_calls_per_second: Type.Optional({ ...MaxPerSecond, default: 10 }),
  countries: Type.Optional({ ...Countries, default: [] }),
})

export const ChangeTrunkInput = Type.Object({
  name: Type.Optional(Name),
  host: Type.Optional(Host),
  transport: Type.Optional(Transport),
  tls_ca: Type.Optional(TlsCa),
  register: Type.Optional(Type.Boolean()),
  username: Type.Optional(Username),
  password: Type.Optional(Password),
  allowed_addresses: Type.Optional(Addresses),
  codecs: Type.Optional(Codecs),
  max_concurrent_calls: Type.Optional(MaxConcurrent),
  max_calls_per_second: Type.Optional(MaxPerSecond),
  countries: Type.Optional(Countries),
})

export type TrunkInput = Static<typeof ChangeTrunkInput>

export const trunkExample: Static<typeof TrunkBody> = {
  trunk_id: '0197f3a2-7c1e-7000-8000-000000000009',
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  name: 'main',
  host: 'sip.example.com',
  transport: 'udp',
  tls_ca: null,
  register: true,
  username: 'aurora',
  has_password: true,
  allowed_addresses: ['192.0.2.0/24'],
  codecs: ['PCMU', 'PCMA'],
  max_concurrent_calls: 100,
  max_calls_per_second: 10,
  countries: ['US', 'CA'],
  created_at: '2026-01-31T09:00:00.000Z',
  updated_at: '2026-01-31T09:00:00.000Z',
}

/** A trunk as callers see it. */
export function trunkBody(row: TrunkRow): Static<typeof TrunkBody> {
  return {
    trunk_id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    host: row.host,
    transport: row.transport,
    tls_ca: row.tls_ca,
    register: row.register,
    username: row.username,
    has_password: row.password !== null,
    allowed_addresses: row.allowed_addresses,
    codecs: row.codecs,
    max_concurrent_calls: row.max_concurrent_calls,
    max_calls_per_second: row.max_calls_per_second,
    countries: row.countries,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

const COUNTRIES: ReadonlySet<string> = new Set(getCountries())
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/i

/**
 * What the schema can't say. A trunk without addresses and without a password would take calls from nobody, or from
 * anybody: it is refused. Throws 422 with all faults.
 */
export function refuseBadTrunk(trunk: {
  host: string
  transport: string
  tls_ca: string | null
  username: string | null
  hasPassword: boolean
  allowed_addresses: readonly string[]
  countries: readonly string[]
  register: boolean
}): void {
  const faults: Fault[] = []
  const fault = (field: string, msg: string): void => {
    faults.push({ loc: ['body', field], msg, type: 'value_error' })
  }
  if (!isHostPort(trunk.host)) fault('host', 'must be a name or an address, with or without a port')
  if (trunk.tls_ca !== null && !isCertificates(trunk.tls_ca)) {
    fault('tls_ca', 'must be one or more certificates in PEM (-----BEGIN CERTIFICATE-----)')
  } else if (trunk.tls_ca !== null && trunk.transport !== 'tls') fault('tls_ca', 'is for the transport "tls" alone')
  const wrong = trunk.allowed_addresses.find((entry) => !isRange(entry))
  if (wrong !== undefined) fault('allowed_addresses', `${JSON.stringify(wrong)} is no address and no range`)
  const unknown = trunk.countries.find((country) => !COUNTRIES.has(country))
  if (unknown !== undefined) fault('countries', `${JSON.stringify(unknown)} is no country`)
  const digest = trunk.username !== null && trunk.hasPassword
  if (trunk.allowed_addresses.length === 0 && !digest) {
    fault('allowed_addresses', 'name the addresses calls come from, or a username and a password')
  }
  if (trunk.register && !digest) fault('register', 'needs a username and a password')
  if (faults.length > 0) throw new ValidationError(faults)
}

function isCertificates(text: string): boolean {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    return blocks.length > 0 && blocks.every((block) => new X509Certificate(block).serialNumber !== '')
  } catch {
    return false
  }
}

function isHostPort(text: string): boolean {
  const match = /^(\[[0-9a-f:.]+\]|[^:\s]+)(?::(\d{1,5}))?$/i.exec(text)
  const host = match?.[1] ?? ''
  const port = Number(match?.[2] ?? 1)
  if (port < 1 || port > 65535) return false
  if (host.startsWith('[')) return isIPv6(host.slice(1, -1))
  return (
    isIP(host) !== 0 ||
    (host.length <= 253 && !/^[\d.]+$/.test(host) && host.split('.').every((one) => LABEL.test(one)))
  )
}

function isRange(text: string): boolean {
  const [base = '', bits, ...rest] = text.split('/')
  const family = isIP(base)
  if (family === 0 || rest.length > 0) return false
  // A range of everything is no list.
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 8 && Number(bits) <= (family === 4 ? 32 : 128))
  )
}
