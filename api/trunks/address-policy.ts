import { isIP } from 'node:net'
import type { Kysely } from 'kysely'
import {
  type AddressRange,
  containsRange,
  formatRange,
  overlaps,
  parseRange,
  sizeOf,
} from '../../runtime/lib/address-range.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { allowsResolved, isInternalName, type NetRule } from '../../runtime/plugin/grants/net-rule.ts'
import { isInternalRange, isWideRange } from '../../runtime/plugin-sdk/telephony/internal-range.ts'
import type { Store } from '../../store/database/database.ts'
import type { AllTables, TrunkRow, User } from '../../store/database/schema.ts'
import { boundTo, type Tenant } from '../../store/database/tenant.ts'
import {
  addressesOfOthers,
  addressesOfWorkspace,
  hopsOfOthers,
  lockTrunkAddresses,
  noteResolved,
  replaceTrunkAddresses,
  type TrunkAddress,
} from '../../store/telephony/trunk-addresses.ts'
import { approveTrunkHost, listTrunkHosts } from '../../store/telephony/trunk-hosts.ts'
import type { Operators } from '../auth/operators.ts'
import { ValidationError } from '../schema.ts'
import { addressesOfHop, bareHost, type Hop, type HopNames, hopsOf, systemNames } from './hops.ts'

/**
 * Which hosts and addresses the trunks of a workspace may have. Calls leave from one address, so a carrier that knows its
 * customers by address bills one of them for all, and a call is known by the address it comes from: a host, and each of its
 * addresses, is one workspace's. Only the operator knows which machines of the own network may be called, and who may have
 * a network as a whole: both need approval.
 */

/** Addresses that the trunks of a workspace may have in all without approval: 64 ranges of /24, or of /48. */
const MOST_ADDRESSES = { 4: 1n << 14n, 6: 1n << 86n } as const
/** Addresses that the hosts of a workspace may have resolved to within a week: a name that leads everywhere takes nothing from others. */
const MOST_RESOLVED = 500
/** How often it is written down that a trunk's host still resolves to an address. */
const NOTE_EVERY_MS = 3_600_000

/** A trunk as far as the policy is concerned. */
interface PolicyTrunk {
  readonly id: string
  readonly workspaceId: string
  readonly host: string
  readonly outbound_proxy: string | null
  readonly transport: 'udp' | 'tcp' | 'tls'
  readonly allowed_addresses: readonly string[]
  readonly media_addresses: readonly string[]
}

interface PolicyOptions {
  readonly store: Pick<Store, 'acrossTenants'>
  readonly config: { readonly trunksAllowNet?: readonly string[] | undefined }
}

/** What the operator has decided, as a workspace sees it. */
interface Approvals {
  /** Approved for the workspace. */
  readonly names: ReadonlySet<string>
  readonly ranges: readonly AddressRange[]
  /** Approved for others. */
  readonly namesOfOthers: ReadonlySet<string>
  readonly rangesOfOthers: readonly AddressRange[]
  /** Internal addresses that anybody's trunks may have. */
  readonly open: readonly AddressRange[]
}

type Objection = 'taken' | 'internal' | 'wide'

/**
 * Writes a trunk, and that its addresses are the workspace's. Throws 409 for what is another workspace's and 422 for what
 * needs approval; what an operator's own trunk has is approved.
 */
export async function writeAdmitted<T>(
  { store, config, operators }: PolicyOptions & { readonly operators: Pick<Operators, 'includes'> },
  trunk: PolicyTrunk,
  user: User | undefined,
  write: (tenant: Tenant) => Promise<T>,
  names: HopNames = systemNames,
): Promise<T> {
  const { workspaceId } = trunk
  const hops = await Promise.all(
    hopsOf(trunk).map(async (hop) => ({ hop, addresses: await addressesOfHop(hop, trunk.transport, names) })),
  )
  const listed = trunk.allowed_addresses.flatMap((entry) => parseRange(entry) ?? [])
  return store.acrossTenants.transaction().execute(async (db) => {
    await lockTrunkAddresses(db)
    const view = await viewOf(db, config, workspaceId, [
      ...listed.map(formatRange),
      ...hops.flatMap(({ addresses }) => addresses),
    ])
    const taken = new Set(
      await hopsOfOthers(
        db,
        workspaceId,
        hops.map(({ hop }) => hop.name),
      ),
    )
    const approve = async (host: string): Promise<boolean> => {
      if (!operators.includes(user)) return false
      await approveTrunkHost(globalOf(db), { host, workspaceId, approvedBy: user?.id ?? null })
      return true
    }
    for (const { hop, addresses } of hops) {
      const objection = objectionToHop(view, hop, addresses, taken.has(hop.name))
      if (objection !== undefined && !(await approve(hop.name))) throw refusalOfHop(hop, objection)
    }
    for (const range of listed) {
      const objection = objectionToRange(view, range)
      if (objection !== undefined && !(await approve(formatRange(range)))) throw refusalOfRange(range, objection)
    }
    for (const range of trunk.media_addresses.flatMap((entry) => parseRange(entry) ?? [])) {
      if (!isMediaRefused(view, range) || (await approve(formatRange(range)))) continue
      throw refusalOfRange(range, 'internal', 'media_addresses')
    }
    const resolved = hops.flatMap(({ addresses }) => addresses)
    if (isTooMuch(view, trunk.id, listed, resolved.length) && !operators.includes(user)) {
      const msg =
        'names more addresses than the trunks of a workspace may have; ask the operator to approve a range for yours'
      throw new ValidationError([{ loc: ['body', 'allowed_addresses'], msg, type: 'value_error' }])
    }
    const written = await write({ workspaceId, db: boundTo(db, workspaceId) })
    await replaceTrunkAddresses(db, trunk, {
      listed: listed.map(formatRange),
      resolved,
    })
    return written
  })
}

/**
 * Of the addresses that a trunk's next hop resolves to now, those it may send to. Unclaimed ones become the workspace's.
 * Asked with each lookup, so that a name's DNS can't redirect it to another workspace's carrier or into the network.
 */
export async function admitAddresses(
  { store, config, clock }: PolicyOptions & { readonly clock: Pick<Clock, 'nowMs'> },
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string },
  hop: string,
  addresses: readonly string[],
): Promise<string[]> {
  const asked = addresses.flatMap((address) => {
    const range = parseRange(address)
    return range === undefined ? [] : [{ address, range, written: formatRange(range) }]
  })
  const admit = async (db: Kysely<AllTables>) => {
    const view = await viewOf(
      ...([db, config, workspaceId] as const),
      asked.map(({ written }) => written),
    )
    const name = bareHost(hop)
    return { view, admitted: asked.filter(({ range }) => objectionToAddress(view, name, range) === undefined) }
  }
  const { view, admitted } = await admit(store.acrossTenants)
  const freshMs = clock.nowMs() - NOTE_EVERY_MS
  const isNoted = (written: string): boolean =>
    view.own.some((one) => {
      return one.trunkId === id && formatRange(one.range) === written && (one.listed || one.seenAt.getTime() > freshMs)
    })
  if (admitted.every(({ written }) => isNoted(written))) return admitted.map(({ address }) => address)
  return store.acrossTenants.transaction().execute(async (db) => {
    await lockTrunkAddresses(db)
    // Another workspace may have come first since.
    const { view: latest, admitted: now } = await admit(db)
    const isOwn = (range: AddressRange): boolean => latest.own.some((one) => containsRange(one.range, range))
    const resolved = latest.own.filter(({ listed }) => !listed).length + now.filter(({ range }) => !isOwn(range)).length
    const kept = resolved > MOST_RESOLVED ? now.filter(({ range }) => isOwn(range)) : now
    await noteResolved(
      db,
      { id, workspaceId },
      kept.map(({ written }) => written),
    )
    return kept.map(({ address }) => address)
  })
}

/** Internal ranges that the trunks of each workspace may send to. */
export async function reachOfWorkspaces({ store, config }: PolicyOptions): Promise<(workspaceId: string) => string[]> {
  const open = rangesOf(config.trunksAllowNet).map(formatRange)
  const approved = new Map<string, string[]>()
  for (const { host, workspace_id: workspaceId } of await listTrunkHosts(globalOf(store.acrossTenants))) {
    if (parseRange(host) !== undefined) approved.set(workspaceId, [...(approved.get(workspaceId) ?? []), host])
  }
  return (workspaceId) => [...open, ...(approved.get(workspaceId) ?? [])]
}

/** A range of a trunk that would be refused today. */
interface UnapprovedRange {
  readonly trunk: string
  readonly workspaceId: string
  readonly range: string
  readonly objection: 'internal' | 'wide'
}

/** What trunks have from before ranges needed approval: they are used, and the operator is to decide about them. */
export async function unapprovedRanges(
  { store, config }: PolicyOptions,
  trunks: readonly Pick<TrunkRow, 'name' | 'workspace_id' | 'allowed_addresses'>[],
): Promise<UnapprovedRange[]> {
  const open = rangesOf(config.trunksAllowNet)
  const approved = await listTrunkHosts(globalOf(store.acrossTenants))
  return trunks.flatMap(({ name, workspace_id: workspaceId, allowed_addresses: listed }) => {
    const ranges = rangesAmong(approved.filter((one) => one.workspace_id === workspaceId))
    return listed.flatMap((entry) => {
      const range = parseRange(entry)
      if (range === undefined) return []
      const objection = needOfApproval({ ranges, open }, range)
      return objection === undefined ? [] : [{ trunk: name, workspaceId, range: formatRange(range), objection }]
    })
  })
}

/** What the checks look at. */
interface View extends Approvals {
  /** What the workspace's trunks have. */
  readonly own: readonly (TrunkAddress & { readonly range: AddressRange })[]
  /** Those asked about that overlap what others have. */
  readonly taken: ReadonlySet<string>
}

async function viewOf(
  db: Kysely<AllTables>,
  config: PolicyOptions['config'],
  workspaceId: string,
  asked: readonly string[],
): Promise<View> {
  const approved = await listTrunkHosts(globalOf(db))
  const [ours, theirs] = [
    approved.filter((one) => one.workspace_id === workspaceId),
    approved.filter((one) => one.workspace_id !== workspaceId),
  ]
  const own = await addressesOfWorkspace(db, workspaceId)
  return {
    ...{ names: namesAmong(ours), ranges: rangesAmong(ours) },
    ...{ namesOfOthers: namesAmong(theirs), rangesOfOthers: rangesAmong(theirs) },
    open: rangesOf(config.trunksAllowNet),
    own: own.flatMap((one) => {
      const range = parseRange(one.address)
      return range === undefined ? [] : [{ ...one, range }]
    }),
    taken: new Set(await addressesOfOthers(db, workspaceId, asked)),
  }
}

const rangesAmong = (approved: readonly { host: string }[]): AddressRange[] =>
  approved.flatMap(({ host }) => parseRange(host) ?? [])
const namesAmong = (approved: readonly { host: string }[]): Set<string> =>
  new Set(approved.filter(({ host }) => parseRange(host) === undefined).map(({ host }) => host))

/** Reading what the operator approved concerns no tenant table. */
const globalOf = (db: Kysely<AllTables>) => db as unknown as Parameters<typeof listTrunkHosts>[0]

function objectionToHop(
  view: View,
  hop: Hop,
  addresses: readonly string[],
  isNamedByOthers: boolean,
): Objection | undefined {
  if (isIP(hop.name) === 0 && !view.names.has(hop.name)) {
    if (isNamedByOthers || view.namesOfOthers.has(hop.name)) return 'taken'
    if (isInternalName(hop.name)) return 'internal'
  }
  for (const address of addresses) {
    const range = parseRange(address)
    const objection = range && objectionToAddress(view, hop.name, range)
    if (objection !== undefined) return objection
  }
  return undefined
}

/** An approved name may lead to any address that a name of the operator's network may, but not to this machine. */
function objectionToAddress(view: View, name: string, range: AddressRange): Objection | undefined {
  const rule: NetRule = { kind: 'name', name, port: undefined, reach: 'private' }
  const isNameApproved = view.names.has(name) && allowsResolved([rule], name, formatRange(range), undefined)
  return isNameApproved ? undefined : objectionToRange(view, range)
}

function objectionToRange(view: View, range: AddressRange): Objection | undefined {
  if (!isApproved(view, range) && isTaken(view, range)) return 'taken'
  return needOfApproval(view, range)
}

const isApproved = ({ ranges }: Pick<Approvals, 'ranges'>, range: AddressRange): boolean =>
  ranges.some((approved) => containsRange(approved, range))

/** Why nobody may have this range without the operator's approval. */
function needOfApproval(
  approvals: Pick<Approvals, 'ranges' | 'open'>,
  range: AddressRange,
): 'internal' | 'wide' | undefined {
  if (isApproved(approvals, range)) return undefined
  if (isWideRange(range)) return 'wide'
  if (approvals.open.some((one) => containsRange(one, range))) return undefined
  return isInternalRange(range) ? 'internal' : undefined
}

/** Media servers are no claim to an address: many workspaces have the same carrier. But none chooses machines of the operator's network. */
function isMediaRefused(view: View, range: AddressRange): boolean {
  return isInternalRange(range) && ![...view.ranges, ...view.open].some((one) => containsRange(one, range))
}

/** What the operator gave to others alone is theirs; else an address is of the workspace that had it first. */
function isTaken(view: View, range: AddressRange): boolean {
  if (view.rangesOfOthers.some((approved) => overlaps(approved, range))) return true
  return view.taken.has(formatRange(range)) && !view.own.some((one) => containsRange(one.range, range))
}

/** @param trunkId whose present addresses don't count: it is about to have others */
function isTooMuch(view: View, trunkId: string, listed: readonly AddressRange[], resolved: number): boolean {
  const others = view.own.filter((one) => one.trunkId !== trunkId)
  if (others.filter((one) => !one.listed).length + resolved > MOST_RESOLVED) return true
  const ranges = [...others.filter((one) => one.listed).map(({ range }) => range), ...listed]
  const counted = ranges.filter((one) => !view.ranges.some((approved) => containsRange(approved, one)))
  return ([4, 6] as const).some(
    (family) =>
      counted.filter((one) => one.family === family).reduce((sum, one) => sum + sizeOf(one), 0n) >
      MOST_ADDRESSES[family],
  )
}

const APPROVAL = 'ask the operator to approve'

function refusalOfHop({ name, field }: Hop, objection: Objection): PatchbayError {
  if (objection === 'taken') return new PatchbayError('trunk_host_taken')
  const msg = `names a machine of the operator's own network; ${APPROVAL} ${JSON.stringify(name)} for your workspace`
  return new ValidationError([{ loc: ['body', field], msg, type: 'value_error' }])
}

function refusalOfRange(range: AddressRange, objection: Objection, field = 'allowed_addresses'): PatchbayError {
  const shown = formatRange(range)
  if (objection === 'taken') return new PatchbayError('trunk_address_taken', { params: { address: shown } })
  const what =
    objection === 'wide'
      ? `${JSON.stringify(shown)} is wider than /24 (IPv6: /48)`
      : `${JSON.stringify(shown)} holds addresses of the operator's own network`
  const msg = `${what}; ${APPROVAL} it for your workspace`
  return new ValidationError([{ loc: ['body', field], msg, type: 'value_error' }])
}

/** Throws `configuration`. */
function rangesOf(entries: readonly string[] = []): AddressRange[] {
  return entries.map((entry) => {
    const range = parseRange(entry)
    if (range !== undefined) return range
    const reason = `PATCHBAY_TRUNKS_ALLOW_NET has "${entry}", which is no address and no range such as 10.0.0.0/8.`
    throw new PatchbayError('configuration', { params: { reason } })
  })
}
