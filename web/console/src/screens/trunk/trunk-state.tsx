import type { Trunk } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Badge } from '../../ui/layout.tsx'

type Contacted = Pick<Trunk, 'state' | 'register'>

const ANSWERS = 200

/** Whether the trunk answers; undefined: nobody knows yet. */
export function answers({ state }: Pick<Trunk, 'state'>): boolean | undefined {
  const status = state?.contact_status
  return status == null ? undefined : status === ANSWERS
}

/** What a trunk said, with its number: `403 Forbidden`; where it said nothing, why. */
export function saidBy(status: number, reason: string | null): string {
  if (status !== 0) return `${status} ${reason ?? ''}`.trim()
  if (reason === null || reason.endsWith(' does not answer')) return t('No answer')
  return reason.endsWith(' has no address') ? t('Its host has no address') : reason
}

export function TrunkState({ trunk }: { trunk: Contacted }) {
  const { state, register } = trunk
  const isUp = answers(trunk)
  if (isUp === undefined) {
    return <Badge>{state === null ? t('Off') : register ? t('Registering') : t('Not asked yet')}</Badge>
  }
  if (isUp) return <Badge tone="good">{register ? t('Registered') : t('Reachable')}</Badge>
  const { contact_status: status = 0, contact_reason: reason = null } = state ?? {}
  return (
    <span title={saidBy(status ?? 0, reason)}>
      <Badge tone="bad">{status ? saidBy(status, reason) : t('No answer')}</Badge>
    </span>
  )
}

/** What to do about a trunk that does not answer as it should; undefined: nothing. */
export function cureOf({ state, register }: Contacted): string | undefined {
  if (state === null) return t('SIP does not listen on this instance: its operator sets PATCHBAY_SIP_PORT.')
  const status = state.contact_status
  if (status === null || status === ANSWERS) return undefined
  if (status === 0) return t('Nothing came back. Check the host and its port, and that the firewall lets SIP through.')
  if ([401, 403, 407].includes(status)) {
    return t('It refuses the user name or the password. Enter them as the carrier has them.')
  }
  if (status === 404) return t('It does not know this account. Check the user name and the host.')
  if (status === 408 || status >= 500) {
    return t('It is there and can’t serve now. It is asked again by itself; where this lasts, ask the carrier.')
  }
  return register
    ? t('It does not let us register. Ask the carrier what its answer means.')
    : t('Ask the carrier what its answer means.')
}
