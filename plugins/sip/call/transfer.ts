import type { Trunk } from '../../../runtime/telephony/trunk.ts'
import { targetUri } from '../trunk/presence.ts'
import type { ActiveTrunk } from '../trunk/trunk-table.ts'

/** Names of extensions; digits so many that they are no number of somewhere else. */
const EXTENSION = /^(?:[0-9*#]{1,6}|[A-Za-z][A-Za-z0-9._-]{0,62})$/
const URI = /^sips?:[^@\s<>]+@(\[[0-9a-f:.]+\]|[^\s<>:;?]+)(?::\d{1,5})?$/i

/** The URI of an extension or a SIP URI at a trunk; undefined: it is none, or of a host the trunk has nothing to do with. */
export function nameAt(active: ActiveTrunk, to: string): string | undefined {
  if (EXTENSION.test(to)) return targetUri(active.trunk, active.authority, to)
  const host = URI.exec(to)?.[1]?.replace(/^\[|\]$/g, '')
  return host !== undefined && (active.owns(host) || host === domainOf(active.trunk)) ? to : undefined
}

function domainOf({ settings }: Trunk): string | null {
  return settings.from_domain
}
