import {
  type DialCase,
  type DialRefusal,
  judge,
  NO_DIAL_RULES,
  refusalOfUser,
} from '../../../runtime/dialing/dial-policy.ts'
import { CarrierFault, type DialOrder, type TransferCase } from '../../../runtime/plugin-sdk/telephony/carrier.ts'
import { formatDestination, readDestination } from '../../../runtime/plugin-sdk/telephony/destination.ts'
import type { Uri } from '../message/message.ts'
import { formatHost } from '../message/serializer.ts'
import { targetUri } from '../trunk/presence.ts'
import type { ActiveTrunk } from '../trunk/trunk-table.ts'

/** Targets a trunk may be asked to call. Every URI sent is formatted here from parsed parts. */

/** What a destination over this trunk is judged by. */
export function caseOf(
  active: ActiveTrunk,
  { from, rules }: Pick<DialOrder | TransferCase, 'from' | 'rules'>,
): DialCase {
  return { rules: rules ?? NO_DIAL_RULES, from, trunk: active.trunk, takesNames: true }
}

/** The destination as the trunk is to be asked for it: E.164, an extension, or a SIP URI of a host of the trunk. */
export function targetAt(active: ActiveTrunk, text: string, by: DialCase): { to: string } | { refusal: DialRefusal } {
  const found = judge(text, by)
  if ('refusal' in found) return found
  const { destination } = found
  if (destination.kind !== 'uri' || ownsHost(active, destination.host)) return { to: formatDestination(destination) }
  const { name } = active.trunk
  const detail = `"${destination.host}" is no host of trunk "${name}": name an extension, a number, or the trunk's own host`
  return { refusal: { reason: 'forbidden', detail } }
}

/**
 * The Refer-To of a call on this trunk. Throws CarrierFault with the rule that is in the way.
 * @param at host and port of numbers there
 */
export function referTarget(active: ActiveTrunk, text: string, by: DialCase, at: string): string {
  const found = targetAt(active, text, by)
  if ('refusal' in found) throw new CarrierFault(found.refusal.detail)
  const { to } = found
  return to.startsWith('+') ? `sip:${to}@${at}` : targetUri(active.trunk, active.authority, to)
}

/**
 * The target of a 3xx Contact, formatted anew; undefined: not at a host of the trunk, where costs would be unbounded (RFC
 * 3261, section 8.1.3.4). A number in it is judged as one that is dialled.
 */
export function redirectTarget(
  active: ActiveTrunk,
  { scheme, user, host, port }: Uri,
  by: DialCase,
): { to: string } | { refusal: DialRefusal } | undefined {
  if (scheme !== 'sip' || !active.owns(host)) return undefined
  const authority = port === undefined ? formatHost(host) : `${formatHost(host)}:${port}`
  if (user === undefined) return { to: `sip:${authority}` }
  const [dialled = ''] = user.split(';')
  const to = readDestination(`sip:${dialled.replaceAll('#', '%23')}@${authority}`)
  if (to === undefined) {
    const detail = `it leads to "${user.slice(0, 64)}", which is neither a number nor an extension`
    return { refusal: { reason: 'forbidden', detail } }
  }
  // A phone of ours forwards within itself, which no carrier bills.
  const refusal = active.isExtension ? undefined : refusalOfUser(dialledIn(active, user), by)
  return refusal === undefined ? { to: formatDestination(to) } : { refusal }
}

/** May a call be led there at the other side's wish, to take the place of one that is up? */
export function mayLead(active: ActiveTrunk, { host, user }: Uri, by: DialCase): boolean {
  return (
    active.owns(host) &&
    (active.isExtension || user === undefined || refusalOfUser(dialledIn(active, user), by) === undefined)
  )
}

/** The user of a URI without what a carrier puts around a number. */
function dialledIn({ trunk }: ActiveTrunk, user: string): string {
  const { tech_prefix: prefix } = trunk.settings
  const [dialled = ''] = user.split(';')
  return prefix !== null && dialled.startsWith(prefix) ? `+${dialled.slice(prefix.length)}` : dialled
}

function ownsHost(active: ActiveTrunk, host: string): boolean {
  return active.owns(host) || host === active.trunk.settings.from_domain?.toLowerCase()
}
