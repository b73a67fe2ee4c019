import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatInstant, formatWord } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import type { Prospect, ProspectDetails } from '../../data/types.ts'
import { said, t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { CopiedId } from '../../ui/copied-id.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Facts, Notice } from '../../ui/layout.tsx'

const EVERY_MS = 4_000

/** A person beside the list of a campaign: why they are held, what is known, and each attempt to reach them. */
export function ProspectPanel({ prospect }: { prospect: Prospect }) {
  const { uuid, primary_phone, first_name, last_name, held, variables, timezones, resolution, status } = prospect
  const { data, error } = useRead<ProspectDetails>(`/api/v/prospect/${uuid}/`, { everyMs: EVERY_MS })
  const known: readonly (readonly [string, ReactNode])[] = [
    [t('Number'), primary_phone],
    [t('Status'), formatWord(resolution ?? status)],
    [t('E-mail'), prospect.email],
    [t('Time zone'), timezones.join(', ')],
    [t('Your id'), prospect.external_id],
    [t('Agreed'), prospect.consent_at && formatInstant(prospect.consent_at)],
    ...Object.entries(variables),
  ]
  return (
    <>
      <p className="text-md font-semibold wrap-anywhere">{`${first_name} ${last_name}`.trim() || primary_phone}</p>
      {held && <Notice tone="warn">{said(held.sentence)}</Notice>}
      <Facts rows={[...known.filter(([, value]) => value), [t('Id'), <CopiedId id={uuid} key="id" />]]} />
      <Fault error={error} />
      {data && data.history.length > 0 && (
        <div>
          <h3 className="mb-1 text-xs font-medium text-muted">{t('Attempts')}</h3>
          <ol>
            {data.history.map(({ call_log_id, at, outcome, skipped }) => (
              <li key={call_log_id}>
                <Link
                  className="flex items-center justify-between gap-2 rounded-md px-2 py-1.5 text-sm hover:bg-sunken"
                  params={{ callId: call_log_id }}
                  to="/calls/$callId"
                >
                  <span>{formatInstant(at)}</span>
                  <span className="text-muted">{skipped ? said(skipped.sentence) : formatWord(outcome)}</span>
                </Link>
              </li>
            ))}
          </ol>
        </div>
      )}
    </>
  )
}

/** Takes somebody who waits out of the campaign. */
export function CallNoMore({ prospect }: { prospect: Prospect }) {
  const { uuid, primary_phone, status } = prospect
  const cancel = useWrite<Prospect>(
    () => [`/api/v/prospect/${uuid}/`, { method: 'PATCH', body: { resolution: 'canceled' } }],
    { done: t('Is not called any more'), changes: ['/api/v'] },
  )
  if (status !== 'waiting') return null
  return (
    <span className="relative z-1">
      <Button
        aria-label={t('Call {primary_phone} no more', { primary_phone })}
        busy={cancel.isPending}
        icon="close"
        kind="quiet"
        onClick={() => cancel.mutate()}
        size="sm"
      />
    </span>
  )
}
