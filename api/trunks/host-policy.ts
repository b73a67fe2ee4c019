import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { PatchbayError } from '../../runtime/errors.ts'
import { isInternalAddress } from '../../runtime/tools/address.ts'
import type { User } from '../../store/schema.ts'
import { approveTrunkHost, claimOnHost } from '../../store/trunk-hosts.ts'
import { ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'

/**
 * Which hosts a workspace's trunks may name. Calls leave from one address, so a carrier that knows its customers by address
 * bills one of them for all: a host is one workspace's. And only the operator knows which machines of the own network may
 * be called: a host that is none of the public internet needs approval.
 */

const RESOLVE_TIMEOUT_MS = 3_000

/** `sip.example.com:5070` → `sip.example.com`, `[2001:db8::1]:5060` → `2001:db8::1`; in lower case. */
export function bareHost(host: string): string {
  const lower = host.trim().toLowerCase()
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(lower)
  if (bracketed) return bracketed[1] ?? ''
  return isIP(lower) === 6 ? lower : lower.replace(/:\d+$/, '').replace(/\.$/, '')
}

/** Throws 409 for another workspace's host and 422 for one that needs approval; an operator's own trunk is approved. */
export async function admitHost(
  services: Services,
  trunk: { workspaceId: string; host: string; allowed_addresses: readonly string[] },
  user: User | undefined,
): Promise<void> {
  const { store, config, operators } = services
  const host = bareHost(trunk.host)
  const { isApproved, isTaken } = await claimOnHost(store, trunk.workspaceId, host)
  if (isApproved) return
  const allowed = listOf((config.trunksAllowNet ?? []).join(' '))
  const isInternal =
    (await isInternalHost(host, allowed)) || trunk.allowed_addresses.some((one) => isInternalRange(one, allowed))
  if (!isTaken && !isInternal) return
  if (operators.includes(user)) {
    await approveTrunkHost(store, { host, workspaceId: trunk.workspaceId, approvedBy: user?.id ?? null })
    return
  }
  if (isTaken) throw new PatchbayError('trunk_host_taken')
  const msg = `names a machine of the operator's own network; ask the operator to approve ${JSON.stringify(host)} for your workspace`
  throw new ValidationError([{ loc: ['body', 'host'], msg, type: 'value_error' }])
}

async function isInternalHost(host: string, allowed: BlockList): Promise<boolean> {
  if (isIP(host) !== 0) return isInternalRange(host, allowed)
  if (!host.includes('.') || /\.(local|internal|lan|home|localhost)$/.test(host)) return true
  const timeout = new Promise<[]>((resolve) => setTimeout(resolve, RESOLVE_TIMEOUT_MS, []).unref())
  // A name nobody knows leads nowhere.
  const addresses = await Promise.race([lookup(host, { all: true }).catch(() => []), timeout])
  return addresses.some(({ address }) => isInternalRange(address, allowed))
}

function isInternalRange(range: string, allowed: BlockList): boolean {
  const [address = ''] = range.split('/')
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  return isIP(address) !== 0 && isInternalAddress(address) && !allowed.check(address, family)
}

function listOf(ranges: string): BlockList {
  const list = new BlockList()
  for (const range of ranges.split(' ').filter((text) => text !== '')) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (isIP(address) === 0) {
      const reason = `PATCHBAY_TRUNKS_ALLOW_NET has "${range}", which is no address and no range such as 10.0.0.0/8.`
      throw new PatchbayError('configuration', { params: { reason } })
    }
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family)
  }
  return list
}
