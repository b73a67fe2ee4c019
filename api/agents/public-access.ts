import { type Static, Type } from 'typebox'
import type { PublicAccess } from '../../store/database/schema.ts'
import type { Fault } from '../schema.ts'
import { LookBody, LookInput, lookOf } from './look.ts'

/** Who may talk to an agent from a browser without an account: the field, its faults and its column. */

const DEFAULT_MAX_CALLS = 5
const DEFAULT_PER_ADDRESS_PER_HOUR = 20
const ANY_ORIGIN = '*'

const origins = Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
  maxItems: 50,
  description:
    'Origins of the pages that may open sessions, such as `https://example.com`; `*`: any page. The page /talk/{agent_id} of this server always may.',
})
const maxCalls = { minimum: 1, maximum: 10_000, description: 'Web calls of the agent at once.' }
const perAddress = { minimum: 1, maximum: 100_000, description: 'Sessions that one address may open within an hour.' }

export const PublicAccessInput = Type.Object(
  {
    origins,
    max_calls: Type.Optional(Type.Integer({ ...maxCalls, default: DEFAULT_MAX_CALLS })),
    per_address_per_hour: Type.Optional(Type.Integer({ ...perAddress, default: DEFAULT_PER_ADDRESS_PER_HOUR })),
    look: Type.Optional(LookInput),
  },
  { description: 'Anybody may talk to the agent from these pages, without a key. Null: nobody.' },
)
type Input = Static<typeof PublicAccessInput>

export const PublicAccessBody = Type.Object({
  origins,
  max_calls: Type.Integer(maxCalls),
  per_address_per_hour: Type.Integer(perAddress),
  look: LookBody,
})

/** The column; undefined when the field was not sent. */
export function publicAccessColumn(input: Input | null | undefined): string | null | undefined {
  if (input === undefined || input === null) return input
  const access: PublicAccess = {
    origins: input.origins.map((origin) => (origin === ANY_ORIGIN ? origin : new URL(origin).origin)),
    max_calls: input.max_calls ?? DEFAULT_MAX_CALLS,
    per_address_per_hour: input.per_address_per_hour ?? DEFAULT_PER_ADDRESS_PER_HOUR,
    ...(input.look && { look: lookOf(input.look) }),
  }
  return JSON.stringify(access)
}

/** The field as it is shown. */
export const publicAccessBody = (access: PublicAccess | null): Static<typeof PublicAccessBody> | null =>
  access && { ...access, look: lookOf(access.look) }

/** What is no origin: an address with a path, or none at all. */
export function originFaults(input: Input | null | undefined): Fault[] {
  return (input?.origins ?? []).flatMap((origin, i): Fault[] => {
    if (origin === ANY_ORIGIN || isOrigin(origin)) return []
    const msg = 'must be an origin such as "https://example.com", without a path, or "*"'
    return [{ loc: ['body', 'public', 'origins', String(i)], msg, type: 'value_error' }]
  })
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, origin } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && text.toLowerCase() === origin && !text.includes('*')
}

/** Whether a page of this origin may open a session. */
export function allowsOrigin({ origins }: Pick<PublicAccess, 'origins'>, origin: string): boolean {
  return origins.includes(ANY_ORIGIN) || origins.includes(origin.toLowerCase())
}
