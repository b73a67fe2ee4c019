import { uuidv7 } from 'uuidv7'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { CarrierFault, type TestCall } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import { DEFAULT_TRUNK_SETTINGS, type TrunkSettings } from '../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import { hasAgent } from '../../store/agents/agents.ts'
import { isOnDoNotCall } from '../../store/campaigns/do-not-call.ts'
import { isDuplicate } from '../../store/database/database.ts'
import type { TrunkRow } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { listPhoneNumbers } from '../../store/telephony/phone-numbers.ts'
import {
  countNumbersOf,
  deleteTrunk,
  insertTrunk,
  listTrunks,
  newTrunkId,
  type TrunkChanges,
  trunkById,
  updateTrunk,
} from '../../store/telephony/trunks.ts'
import { ladderOf } from '../calls/ladder.ts'
import { requireDestination } from '../dial-target.ts'
import { isUuid } from '../ids.ts'
import { ListOf, ListQuery, listOf } from '../paging.ts'
import { requirePhoneNumber } from '../phone-number.ts'
import { defineRoute } from '../route.ts'
import { ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'
import { Detail } from '../workspaces/schema.ts'
import { writeAdmitted } from './address-policy.ts'
import type { TrunkRegistry } from './book.ts'
import {
  TestCallBody,
  TestCallInput,
  TrunkCheckBody,
  TrunkHealthBody,
  testCallExample,
  trunkCheckExample,
  trunkHealthBody,
  trunkHealthExample,
} from './health-schema.ts'
import { heardElsewhere } from './heard-elsewhere.ts'
import { isElsewhere } from './hops.ts'
import {
  ChangeTrunkInput,
  CreateTrunkInput,
  refuseBadTrunk,
  TrunkBody,
  type TrunkInput,
  trunkBody,
  trunkExample,
} from './schema.ts'

const tag = 'Trunks'
/** A test call rings no longer. */
const TEST_RING_MS = 25_000
/** The caller of a trunk without numbers and user. */
const DEFAULT_CALLER = 'patchbay'

const trunk_id = { description: 'The trunk.', notFound: 'trunk_not_found', example: trunkExample.trunk_id } as const

const create = defineRoute({
  method: 'POST',
  path: '/trunks',
  audit: ['name'],
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  body: CreateTrunkInput,
  success: { status: 201, schema: TrunkBody },
  errors: ['trunk_taken', 'trunk_host_taken', 'trunk_address_taken', 'agent_not_found'],
  tag,
  summary: 'Add a SIP trunk',
  description:
    'Calls come in from its addresses, or with its username and password; phone numbers that name it call out over it.',
  examples: {
    body: { name: 'main', host: 'sip.example.com', allowed_addresses: ['192.0.2.0/24'] },
    success: trunkExample,
  },
  handler: async ({ body, tenant, user }, services) => {
    const { trunks } = services
    const id = newTrunkId()
    const trunk = {
      name: body.name,
      host: body.host,
      transport: body.transport ?? 'udp',
      tls_ca: body.tls_ca ?? null,
      register: body.register ?? false,
      username: body.username ?? null,
      password: body.password == null ? null : trunks.sealPassword(id, body.password),
      allowed_addresses: body.allowed_addresses ?? [],
      codecs: body.codecs ?? ['PCMU', 'PCMA'],
      max_concurrent_calls: body.max_concurrent_calls ?? 100,
      max_calls_per_second: body.max_calls_per_second ?? 10,
      countries: body.countries ?? [],
    }
    const settings = { ...DEFAULT_TRUNK_SETTINGS, ...settingsOf(body) }
    const tls_key = body.tls_key == null ? null : trunks.sealKey(id, body.tls_key)
    const { tls_key: tlsKey } = body
    refuseBadTrunk({
      ...{ ...trunk, settings, tlsKey, password: body.password },
      hasTlsKey: tls_key !== null,
      hasPassword: trunk.password !== null,
    })
    await requireNamed(tenant, settings)
    const { outbound_proxy, media_addresses } = settings
    const named = { ...trunk, id, workspaceId: tenant.workspaceId, outbound_proxy, media_addresses }
    const row = await taken(() =>
      writeAdmitted(services, named, user, (within) =>
        insertTrunk(within, id, {
          ...trunk,
          tls_key,
          settings: JSON.stringify(settings),
          allowed_addresses: JSON.stringify(trunk.allowed_addresses),
          codecs: JSON.stringify(trunk.codecs),
          countries: JSON.stringify(trunk.countries),
        }),
      ),
    )
    await trunks.changed()
    return trunkBody(row)
  },
})

const list = defineRoute({
  method: 'GET',
  path: '/trunks',
  auth: 'jwt_or_scope',
  role: 'member',
  scope: 'numbers',
  query: ListQuery,
  success: { status: 200, schema: ListOf(TrunkBody) },
  tag,
  summary: 'The SIP trunks of the workspace',
  examples: { success: [trunkExample] },
  handler: async ({ tenant, query }, services) =>
    listOf(await Promise.all((await listTrunks(tenant)).map((row) => bodyWithState(row, services))), query),
})

const read = defineRoute({
  method: 'GET',
  path: '/trunks/{trunk_id}',
  auth: 'jwt_or_scope',
  role: 'member',
  scope: 'numbers',
  params: { trunk_id },
  success: { status: 200, schema: TrunkBody },
  errors: ['trunk_not_found'],
  tag,
  summary: 'One SIP trunk',
  examples: { success: trunkExample },
  handler: async ({ params, tenant }, services) => bodyWithState(await requireTrunk(tenant, params.trunk_id), services),
})

const change = defineRoute({
  method: 'PATCH',
  path: '/trunks/{trunk_id}',
  audit: ['name'],
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  params: { trunk_id },
  body: ChangeTrunkInput,
  success: { status: 200, schema: TrunkBody },
  errors: ['trunk_not_found', 'trunk_taken', 'trunk_host_taken', 'trunk_address_taken', 'agent_not_found'],
  tag,
  summary: 'Change a SIP trunk; fields that are left out keep their values',
  description:
    'Running calls go on. Phone numbers follow a new name. With another `host`, `outbound_proxy`, `transport` or `tls_ca` the password and `tls_key` have to be sent again: they were entered for those who were there before.',
  examples: { body: { max_concurrent_calls: 30 }, success: { ...trunkExample, max_concurrent_calls: 30 } },
  handler: async ({ params, body, tenant, user }, services) => {
    const { trunks } = services
    const before = await requireTrunk(tenant, params.trunk_id)
    const settings = { ...DEFAULT_TRUNK_SETTINGS, ...before.settings, ...settingsOf(body) }
    const now = {
      host: body.host ?? before.host,
      transport: body.transport ?? before.transport,
      tls_ca: body.tls_ca === undefined ? before.tls_ca : body.tls_ca,
      allowed_addresses: body.allowed_addresses ?? before.allowed_addresses,
      outbound_proxy: settings.outbound_proxy,
    }
    const had = { ...DEFAULT_TRUNK_SETTINGS, ...before.settings }
    const movesAway = isElsewhere({ ...before, outbound_proxy: had.outbound_proxy }, now)
    // The new peer would get credentials that were entered for the previous one.
    const dropsPassword = movesAway && body.password === undefined && before.password !== null
    const dropsKey = movesAway && body.tls_key === undefined && before.tls_key !== null
    const changes = {
      ...columns(body, before.id, trunks),
      ...(dropsPassword ? { password: null } : {}),
      ...(dropsKey ? { tls_key: null } : {}),
      settings: JSON.stringify(settings),
    }
    refuseBadTrunk({
      ...now,
      register: body.register ?? before.register,
      username: body.username === undefined ? before.username : body.username,
      password: body.password,
      hasPassword: !dropsPassword && (body.password === undefined ? before.password : body.password) !== null,
      countries: body.countries ?? before.countries,
      name: body.name ?? before.name,
      settings,
      tlsKey: body.tls_key,
      hasTlsKey: !dropsKey && (body.tls_key === undefined ? before.tls_key : body.tls_key) !== null,
    })
    await requireNamed(tenant, settingsOf(body))
    const { media_addresses } = settings
    const isMoved =
      movesAway ||
      String(now.allowed_addresses) !== String(before.allowed_addresses) ||
      String(media_addresses) !== String(had.media_addresses)
    const trunk = { ...now, media_addresses, id: before.id, workspaceId: tenant.workspaceId }
    const row = await taken(() =>
      isMoved
        ? writeAdmitted(services, trunk, user, (within) => updateTrunk(within, before, changes))
        : tenant.db.transaction().execute((db) => updateTrunk({ ...tenant, db }, before, changes)),
    )
    if (row === undefined) throw new PatchbayError('trunk_not_found')
    await trunks.changed()
    return trunkBody(row)
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/trunks/{trunk_id}',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  params: { trunk_id },
  success: { status: 200, schema: Detail },
  errors: ['trunk_not_found', 'trunk_in_use'],
  tag,
  summary: 'Remove a SIP trunk that no phone number names',
  examples: { success: { detail: 'Trunk deleted' } },
  handler: async ({ params, tenant }, { trunks }) => {
    const { id, name } = await requireTrunk(tenant, params.trunk_id)
    if ((await countNumbersOf(tenant, name)) > 0) throw new PatchbayError('trunk_in_use')
    if (!(await deleteTrunk(tenant, id))) throw new PatchbayError('trunk_not_found')
    await trunks.changed()
    return { detail: 'Trunk deleted' }
  },
})

const health = defineRoute({
  method: 'GET',
  path: '/trunks/{trunk_id}/health',
  auth: 'jwt_or_scope',
  role: 'member',
  scope: 'numbers',
  params: { trunk_id },
  success: { status: 200, schema: TrunkHealthBody },
  errors: ['trunk_not_found'],
  tag,
  summary: 'What a SIP trunk answered over the last week',
  description:
    'A trunk that registers is asked before its registration runs out, any other every 30 seconds, by each api node.',
  examples: { success: trunkHealthExample },
  handler: async ({ params, tenant }, { trunks }) => {
    const { id } = await requireTrunk(tenant, params.trunk_id)
    const [attempts, hours] = await Promise.all([trunks.attempts(id), trunks.hours(id)])
    return trunkHealthBody(id, attempts, hours)
  },
})

const check = defineRoute({
  method: 'POST',
  path: '/trunks/{trunk_id}/check',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  // It looks and changes nothing.
  audit: false,
  params: { trunk_id },
  success: { status: 200, schema: TrunkCheckBody },
  errors: ['trunk_not_found', 'unavailable'],
  tag,
  summary: 'Look at a SIP trunk now: each check, and the cure where it fails',
  description:
    'As `patchbay doctor sip` does, from the api node that answers, within some 15 seconds: whether SIP listens, the host has an address, OPTIONS is answered, the trunk sees the address it is told, the password is right, and media come back.',
  examples: { success: trunkCheckExample },
  handler: async ({ params, tenant }, { carriers, clock }) => {
    const { id } = await requireTrunk(tenant, params.trunk_id)
    const findings = await carriers.diagnoseTrunk(id)
    if (findings === undefined) throw new PatchbayError('unavailable')
    return {
      trunk_id: id,
      checked_at: new Date(clock.nowMs()).toISOString(),
      healthy: findings.every(({ ok }) => ok),
      findings,
    }
  },
})

const testCall = defineRoute({
  method: 'POST',
  path: '/trunks/{trunk_id}/test-call',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'numbers',
  startsCall: true,
  phoneFirst: true,
  audit: ['phone_number_to_dial'],
  params: { trunk_id },
  body: TestCallInput,
  success: { status: 200, schema: TestCallBody },
  errors: ['trunk_not_found', 'phone_number_not_found', 'invalid_phone_number', 'do_not_call', 'unavailable'],
  tag,
  summary: 'Call a number over a SIP trunk, and explain what the call showed',
  description:
    'Who answers hears themselves for 15 seconds; what they say, the keys they press and a hold are looked at. The answer comes when the call is over, within 50 seconds. The call is in no call log, and may cost what the carrier charges.',
  examples: { body: { phone_number_to_dial: '+14155550177' }, success: testCallExample },
  handler: async ({ params, body, tenant, signal }, { carriers, clock }) => {
    const trunk = await requireTrunk(tenant, params.trunk_id)
    const to = requireDestination(body.phone_number_to_dial)
    const from = await callerOfTrunk(tenant, trunk, body.agent_phone_number)
    if (await isOnDoNotCall(tenant, to)) throw new PatchbayError('do_not_call')
    const { workspaceId } = tenant
    const order = { callId: uuidv7(), workspaceId, trunk: trunk.name, from, to, ringTimeoutMs: TEST_RING_MS }
    const seen = await carriers.testCall(order, signal).catch((error: unknown): TestCall => {
      if (!(error instanceof CarrierFault)) throw error
      return { findings: [{ check: 'call', ok: false, text: error.message }], messages: [] }
    })
    if (seen === undefined) throw new PatchbayError('unavailable')
    return {
      trunk_id: trunk.id,
      checked_at: new Date(clock.nowMs()).toISOString(),
      healthy: seen.findings.every(({ ok }) => ok),
      from_number: from,
      findings: [...seen.findings],
      ladder: ladderOf(seen.messages),
    }
  },
})

export const trunkRoutes = [create, list, read, change, remove, health, check, testCall]

/** The caller of a test call: the number that is named, or the trunk's first, or the user of a trunk without numbers. */
async function callerOfTrunk(tenant: Tenant, trunk: TrunkRow, named: string | undefined): Promise<string> {
  const number = named === undefined ? undefined : requirePhoneNumber(named)
  const own = (await listPhoneNumbers(tenant)).filter((row) => row.trunk === trunk.name)
  if (number === undefined) return own[0]?.phone_number ?? trunk.username ?? DEFAULT_CALLER
  if (own.some(({ phone_number }) => phone_number === number)) return number
  throw new PatchbayError('phone_number_not_found')
}

async function bodyWithState(row: TrunkRow, { carriers, trunks }: Pick<Services, 'carriers' | 'trunks'>) {
  const [state, events, [last]] = await Promise.all([
    carriers.trunkState(row.id),
    trunks.events(row.id),
    trunks.attempts(row.id, 1),
  ])
  return trunkBody(row, heardElsewhere(row.updated_at, state, last), events)
}

function columns(body: TrunkInput, id: string, trunks: TrunkRegistry): TrunkChanges {
  const { password, tls_key, allowed_addresses, codecs, countries, ...plain } = body
  const given = Object.fromEntries(
    Object.entries(plain).filter(
      ([name, value]) => value !== undefined && !Object.hasOwn(DEFAULT_TRUNK_SETTINGS, name),
    ),
  ) as TrunkChanges
  return {
    ...given,
    ...(tls_key === undefined ? {} : { tls_key: tls_key === null ? null : trunks.sealKey(id, tls_key) }),
    ...(password === undefined ? {} : { password: password === null ? null : trunks.sealPassword(id, password) }),
    ...(allowed_addresses === undefined ? {} : { allowed_addresses: JSON.stringify(allowed_addresses) }),
    ...(codecs === undefined ? {} : { codecs: JSON.stringify(codecs) }),
    ...(countries === undefined ? {} : { countries: JSON.stringify(countries) }),
  }
}

/** Those of a body's fields that are settings. */
function settingsOf(body: TrunkInput): Partial<TrunkSettings> {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== undefined && Object.hasOwn(DEFAULT_TRUNK_SETTINGS, name)),
  ) as Partial<TrunkSettings>
}

/** What a trunk names must be there. */
async function requireNamed(tenant: Tenant, settings: Partial<TrunkSettings>): Promise<void> {
  const { default_agent_id: agentId, fallback_trunk: fallback } = settings
  if (agentId && !(isUuid(agentId) && (await hasAgent(tenant, agentId)))) throw new PatchbayError('agent_not_found')
  if (fallback && !(await listTrunks(tenant)).some(({ name }) => name === fallback)) {
    throw new ValidationError([
      { loc: ['body', 'fallback_trunk'], msg: 'The workspace has no trunk of this name', type: 'value_error' },
    ])
  }
}

async function taken<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw isDuplicate(error) ? new PatchbayError('trunk_taken') : error
  }
}

async function requireTrunk(tenant: Tenant, id: string): Promise<TrunkRow> {
  const row = await trunkById(tenant, id)
  if (row === undefined) throw new PatchbayError('trunk_not_found')
  return row
}
