import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Agent, PhoneNumber, Trunk } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Select } from '../../ui/field.tsx'
import { PlaceCall } from '../call/place-call.tsx'
import { TrunkState } from '../trunk/trunk-state.tsx'

const TRUNKS_EVERY_MS = 10_000

/** As they write themselves. */
export const CARRIERS: Readonly<Record<string, string>> = {
  sip: 'SIP',
  twilio: 'Twilio',
  telnyx: 'Telnyx',
  plivo: 'Plivo',
  sim: t('Simulated'),
}

const pathOf = ({ phone_number }: PhoneNumber) => `/phone-numbers/${encodeURIComponent(phone_number)}`
const CHANGES = ['/phone-numbers', '/agents']

/** Who carries the calls of a number, over which trunk, and how that stands. */
export function CarrierOf({ number: { provider, trunk: name } }: { number: PhoneNumber }) {
  const { data: trunks } = useRead<Trunk[]>('/trunks', { everyMs: TRUNKS_EVERY_MS })
  const trunk = trunks?.find((one) => one.name === name)
  return (
    <span className="inline-flex items-center gap-2">
      {CARRIERS[provider] ?? provider}
      {name &&
        (trunk === undefined ? (
          <span>{name}</span>
        ) : (
          <>
            <Link
              className="relative z-1 hover:underline"
              params={{ trunkId: trunk.trunk_id }}
              to="/numbers/trunks/$trunkId"
            >
              {name}
            </Link>
            <TrunkState trunk={trunk} />
          </>
        ))}
    </span>
  )
}

/** Chooses the agent that answers a number. */
export function AgentOf({ number }: { number: PhoneNumber }) {
  const { phone_number, agent_id } = number
  const { may } = useSession()
  const { data: agents } = useRead<Agent[]>('/agents')
  const assign = useWrite<PhoneNumber, string>(
    (agentId) => [pathOf(number), { method: 'PATCH', body: { agent_id: agentId || null } }],
    { done: t('Saved'), changes: CHANGES },
  )
  return (
    <Select
      aria-label={t('Agent of {phone_number}', { phone_number })}
      className="relative z-1 h-8! max-w-56"
      disabled={!may('developer')}
      onChange={(event) => assign.mutate(event.target.value)}
      value={agent_id ?? ''}
    >
      <option value="">{t('Nobody')}</option>
      {agents?.map((agent) => (
        <option key={agent.agent_id} value={agent.agent_id}>
          {agent.agent_name}
        </option>
      ))}
    </Select>
  )
}

/** Calls from a number, or takes it away. */
export function ActionsOf({ number }: { number: PhoneNumber }) {
  const { phone_number, agent_id } = number
  const { may } = useSession()
  const [isCalling, setCalling] = useState(false)
  const [isRemoving, setRemoving] = useState(false)
  const remove = useWrite(() => [pathOf(number), { method: 'DELETE' }], { done: t('Removed'), changes: CHANGES })
  if (!may('developer')) return null
  return (
    <span className="relative z-1 flex justify-end gap-1">
      {agent_id && (
        <Button
          aria-label={t('Call a number from {phone_number}', { phone_number })}
          icon="calls"
          kind="quiet"
          onClick={() => setCalling(true)}
          size="sm"
        />
      )}
      <Button
        aria-label={t('Remove {phone_number}', { phone_number })}
        icon="trash"
        kind="quiet"
        onClick={() => setRemoving(true)}
        size="sm"
      />
      {isCalling && <PlaceCall agentId={agent_id ?? undefined} from={phone_number} onClose={() => setCalling(false)} />}
      <Confirm
        action={t('Remove')}
        onClose={() => setRemoving(false)}
        onConfirm={() => remove.mutateAsync()}
        open={isRemoving}
        title={t('Remove {phone_number}?', { phone_number })}
      >
        {t('Nobody answers it any more, and no call is made from it. It stays yours at the carrier.')}
      </Confirm>
    </span>
  )
}
