import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP, isIPv6 } from 'node:net'
import { getCountries } from 'libphonenumber-js/min'
import { type Static, type TOptional, type TSchema, Type } from 'typebox'
import { LINE_CODEC_NAMES } from '../../runtime/media/codecs/line-codec.ts'
import type { TrunkState } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import { DEFAULT_TRUNK_SETTINGS, TrunkSettings } from '../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import type { TrunkRow } from '../../store/database/schema.ts'
import type { StoredTrunkEvent } from '../../store/redis/trunk-events.ts'
import { type Fault, Id, Instant, Nullable, ValidationError } from '../schema.ts'

const Transport = Type.Union([Type.Literal('udp'), Type.Literal('tcp'), Type.Literal('tls')], {
  description: 'How signalling travels; media are RTP over UDP.',
})
const Codecs = Type.Array(Type.Enum(LINE_CODEC_NAMES), {
  minItems: 1,
  maxItems: LINE_CODEC_NAMES.length,
  uniqueItems: true,
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
  ...TrunkSettings.properties,
  has_tls_key: Type.Boolean(),
  state: Nullable(
    Type.Object(
      {
        contact_status: Nullable(
          Type.Integer({
            description:
              'What it last said to REGISTER or OPTIONS, at whichever node asks it; 0: nothing; null: it was not asked yet.',
          }),
        ),
        contact_reason: Nullable(Type.String()),
        contact_at: Nullable(Instant),
        active_calls: Type.Integer(),
        attempts: Type.Integer({ description: 'Outbound calls.' }),
        answered: Type.Integer(),
        asr: Nullable(Type.Number({ description: 'Answered of all attempts, 0 to 1.' })),
        acd_seconds: Nullable(Type.Number({ description: 'Mean length of a call.' })),
        pdd_ms: Nullable(Type.Number({ description: 'Mean time from dialling to ringing.' })),
        failovers: Type.Integer({
          description: 'Calls it could not take, and the next address or trunk was asked for.',
        }),
        by_status: Type.Record(Type.String(), Type.Integer(), {
          description: 'Outbound calls by the SIP status of their last answer; 0: there was none.',
        }),
      },
      {
        description:
          'How the trunk does, as the api node that answers sees it since it began; null: it takes no calls.',
      },
    ),
  ),
  events: Type.Array(
    Type.Object({
      at: Instant,
      type: Type.Enum(['down', 'up'], { description: '`down`: it answered REGISTER or OPTIONS no more, or refused.' }),
      status: Type.Integer({ description: 'What it said; 0: nothing.' }),
      reason: Type.String(),
    }),
    { description: 'When it failed and came back, newest first: the last fifty of a month.' },
  ),
  created_at: Instant,
  updated_at: Instant,
})

/** A change leaves what it does not name: no field has a default there. */
const changed = Object.fromEntries(
  Object.entries<TSchema>(TrunkSettings.properties).map(([name, schema]) => {
    const { default: _, ...plain } = schema as TSchema & { default?: unknown }
    return [name, Type.Optional(plain as TSchema)]
  }),
) as unknown as { [K in keyof typeof TrunkSettings.properties]: TOptional<(typeof TrunkSettings.properties)[K]> }

const TlsKey = Nullable(
  Type.String({
    maxLength: 65_536,
    description: 'The private key of `tls_cert` (PEM). Kept encrypted, never returned.',
  }),
)

/** A setting that is passed over in silence would leave a line unprotected: unknown fields are refused. */
const closed = { additionalProperties: false } as const

export const CreateTrunkInput = Type.Object(
  {
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
    ...changed,
    tls_key: Type.Optional(TlsKey),
  },
  closed,
)

export const ChangeTrunkInput = Type.Object(
  {
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
    ...changed,
    tls_key: Type.Optional(TlsKey),
  },
  closed,
)

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
  ...DEFAULT_TRUNK_SETTINGS,
  contact_user: '14155550100',
  has_tls_key: false,
  state: {
    contact_status: 200,
    contact_reason: 'OK',
    contact_at: '2026-01-31T09:00:00.000Z',
    ...{ active_calls: 3, attempts: 40, answered: 30, asr: 0.75, acd_seconds: 92.5, pdd_ms: 1800, failovers: 1 },
    by_status: { '200': 30, '486': 10 },
  },
  events: [{ at: '2026-01-31T08:00:00.000Z', type: 'up', status: 200, reason: 'OK' }],
  created_at: '2026-01-31T09:00:00.000Z',
  updated_at: '2026-01-31T09:00:00.000Z',
}

function stateBody({ contact, byStatus, ...state }: TrunkState): Exclude<Static<typeof TrunkBody>['state'], null> {
  return {
    contact_status: contact?.status ?? null,
    contact_reason: contact?.reason ?? null,
    contact_at: contact === undefined ? null : new Date(contact.atMs).toISOString(),
    active_calls: state.activeCalls,
    attempts: state.attempts,
    answered: state.answered,
    asr: state.asr ?? null,
    acd_seconds: state.acdS ?? null,
    pdd_ms: state.pddMs ?? null,
    failovers: state.failovers,
    by_status: Object.fromEntries(byStatus),
  }
}

/** A trunk as callers see it. */
export function trunkBody(
  row: TrunkRow,
  state?: TrunkState,
  events: readonly StoredTrunkEvent[] = [],
): Static<typeof TrunkBody> {
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
    ...DEFAULT_TRUNK_SETTINGS,
    ...row.settings,
    has_tls_key: row.tls_key !== null,
    state: state === undefined ? null : stateBody(state),
    events: events.map(({ atMs, ...event }) => ({ at: new Date(atMs).toISOString(), ...event })),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** Of a password that stands between callers from anywhere and an agent. */
const MIN_OPEN_PASSWORD = 8
const COUNTRIES: ReadonlySet<string> = new Set(getCountries())
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/i

/**
 * What the schema can't say. A trunk without addresses and without a password would accept calls from no one, or from
 * anyone: it is refused. Throws 422 with all faults.
 */
export function refuseBadTrunk(trunk: {
  host: string
  transport: string
  tls_ca: string | null
  username: string | null
  hasPassword: boolean
  /** As it was sent; undefined: not sent. */
  password: string | null | undefined
  allowed_addresses: readonly string[]
  countries: readonly string[]
  register: boolean
  name: string
  settings: Pick<
    TrunkSettings,
    | 'outbound_proxy'
    | 'from_domain'
    | 'contact_domain'
    | 'headers'
    | 'take_headers'
    | 'fallback_trunk'
    | 'media_addresses'
    | 'tls_cert'
  >
  tlsKey: string | null | undefined
  hasTlsKey: boolean
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
  // Where the password alone lets calls in, it must be none that is soon guessed.
  const lets = digest && trunk.allowed_addresses.length === 0 && !trunk.register
  if (lets && typeof trunk.password === 'string' && trunk.password.length < MIN_OPEN_PASSWORD) {
    fault('password', `needs ${MIN_OPEN_PASSWORD} characters where no addresses are named: anybody may try`)
  }
  if (trunk.register && !digest) fault('register', 'needs a username and a password')
  refuseBadSettings(trunk, fault)
  if (faults.length > 0) throw new ValidationError(faults)
}

/** Those that route, name or describe a call: two of them would make it another. */
const OWN_HEADERS = new Set(
  `via from to call-id cseq contact route record-route max-forwards allow supported require proxy-require session-expires
   min-se user-agent content-type content-length content-encoding authorization proxy-authorization expires rack rseq
   refer-to referred-by replaces event subscription-state privacy p-asserted-identity p-preferred-identity`.split(
    /\s+/,
  ),
)

function refuseBadSettings(
  { name, transport, settings, tlsKey, hasTlsKey }: Parameters<typeof refuseBadTrunk>[0],
  fault: (field: string, msg: string) => void,
): void {
  const { outbound_proxy, from_domain, contact_domain, headers, fallback_trunk, media_addresses, tls_cert } = settings
  if (outbound_proxy !== null && !isHostPort(outbound_proxy)) {
    fault('outbound_proxy', 'must be a name or an address, with or without a port')
  }
  for (const [field, domain] of [
    ['from_domain', from_domain],
    ['contact_domain', contact_domain],
  ] as const) {
    if (domain !== null && (!isHostPort(domain) || /[^\]]:\d+$/.test(domain)))
      fault(field, 'must be a name or an address')
  }
  const own = Object.keys(headers).find((header) => OWN_HEADERS.has(header.toLowerCase()))
  if (own !== undefined) fault('headers', `${JSON.stringify(own)} is set by Patchbay itself`)
  if (fallback_trunk === name) fault('fallback_trunk', 'must be another trunk')
  const wrong = media_addresses.find((entry) => !isRange(entry))
  if (wrong !== undefined) fault('media_addresses', `${JSON.stringify(wrong)} is no address and no range`)
  if (tls_cert === null && hasTlsKey) fault('tls_cert', 'is missing: a key is shown with its certificate')
  if (tls_cert === null) return
  if (!isCertificates(tls_cert))
    fault('tls_cert', 'must be one or more certificates in PEM (-----BEGIN CERTIFICATE-----)')
  else if (transport !== 'tls') fault('tls_cert', 'is for the transport "tls" alone')
  else if (!hasTlsKey) fault('tls_key', 'is missing: the certificate is of no use without it')
  else if (typeof tlsKey === 'string' && !isKeyOf(tlsKey, tls_cert)) fault('tls_key', 'is not the key of tls_cert')
}

function isKeyOf(key: string, certificate: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
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
