import { type Static, Type } from 'typebox'

/** Settings of a trunk besides its address: how we present ourselves, and what its calls may do. */

/** Kinds of numbers: as libphonenumber tells them apart, and those that it does not know. */
export const NUMBER_TYPES = [
  'fixed_line',
  'mobile',
  'toll_free',
  'voip',
  'personal',
  'shared_cost',
  'premium',
  'satellite',
  'short_code',
  'emergency',
] as const
export type NumberType = (typeof NUMBER_TYPES)[number]
/** The default destinations. */
export const DEFAULT_NUMBER_TYPES: readonly NumberType[] = ['fixed_line', 'mobile', 'toll_free', 'voip']

const orNull = <T extends ReturnType<typeof Type.String>>(schema: T) =>
  Type.Union([schema, Type.Null()], { default: null })
/** What stands in a URI or a header as it is. */
const user = (description: string) =>
  orNull(Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._~!*+$&=-]+$', description }))
const header = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9-]{0,63}$' })
const host = (description: string) => orNull(Type.String({ minLength: 1, maxLength: 255, description }))
const ranges = (description: string) =>
  Type.Array(Type.String({ maxLength: 64 }), { maxItems: 200, default: [], description })

export const TrunkSettings = Type.Object({
  auth_username: user('Who answers challenges, where it is not `username`.'),
  from_user: user('The user of From in place of the calling number, which then goes into `caller_identity`.'),
  from_domain: host("The host of From and of the registration, in place of the trunk's own."),
  contact_user: user('The user of our Contact: what a registrar calls us by. Default: `username`, else `patchbay`.'),
  contact_domain: host('The host of our Contact, where the trunk wants the name of our certificate there.'),
  outbound_proxy: host('Where requests are sent first, with its port where it is not 5060 (TLS: 5061).'),
  tech_prefix: orNull(
    Type.String({ pattern: '^[0-9*#+]{1,16}$', description: 'Put before each number that is dialled.' }),
  ),
  caller_identity: Type.Enum(['from', 'pai', 'ppi'], {
    default: 'from',
    description: 'Where the calling number stands besides From: P-Asserted-Identity or P-Preferred-Identity.',
  }),
  privacy: Type.Boolean({ default: false, description: 'Calls withhold their number: `Privacy: id`, From anonymous.' }),
  headers: Type.Record(header, Type.String({ maxLength: 512, pattern: '^[ -~]*$' }), {
    default: {},
    maxProperties: 16,
    description: 'Headers of our INVITEs, such as an account id a carrier asks for.',
  }),
  take_headers: Type.Array(header, {
    default: [],
    maxItems: 32,
    description: 'Headers of incoming INVITEs that become dynamic variables: `X-Account` is `sip_x_account`.',
  }),
  default_agent_id: orNull(
    Type.String({ maxLength: 64, description: 'Answers calls to names and numbers that nobody has registered.' }),
  ),
  fallback_trunk: orNull(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Name of the trunk that calls go out over when this one fails.',
    }),
  ),
  media_addresses: ranges('Addresses and ranges that media may come from, besides those of signalling and SDP.'),
  comedia: Type.Boolean({
    default: false,
    description:
      'Media are taken from, and sent to, whatever port of the address that signalling comes from (IPv6: its /64) they come from first: for phones behind a NAT.',
  }),
  media_from_anywhere: Type.Boolean({
    default: false,
    description:
      'As `comedia`, from the first address that sends media: for peers whose media addresses are unknown. Anybody who finds the port of a call in time can listen to it.',
  }),
  media_encryption: Type.Enum(['off', 'optional', 'required'], {
    default: 'off',
    description:
      'SRTP with keys in the session description (SDES): `optional` where the other side has it, `required` no call without. Use TLS.',
  }),
  tls_cert: orNull(
    Type.String({
      maxLength: 65_536,
      description: 'Over TLS: the certificate we show to the trunk (PEM), with its chain.',
    }),
  ),
  number_types: Type.Array(Type.Enum([...NUMBER_TYPES]), {
    default: [...DEFAULT_NUMBER_TYPES],
    minItems: 1,
    description: 'Kinds of numbers that may be called.',
  }),
  answer_delay_ms: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 5_000,
    description: 'How long after somebody picks up the agent waits before it speaks.',
  }),
  answer_wait_ms: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 10_000,
    description:
      'How long the agent waits for the callee to say hello first; it speaks when they have, or after this. 0: it does not wait.',
  }),
})
export type TrunkSettings = Static<typeof TrunkSettings>

const properties = TrunkSettings.properties as Readonly<Record<string, { default?: unknown }>>

/** Those of a trunk that sets none. */
export const DEFAULT_TRUNK_SETTINGS = Object.fromEntries(
  Object.entries(properties).map(([name, { default: value }]) => [name, value]),
) as TrunkSettings
