import { useState } from 'react'
import { formatInstant } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import type { MaintenanceState } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Card } from '../../ui/layout.tsx'

const PATH = '/maintenance'
const LOOK_EVERY_MS = 30_000

/** On every page while the installation takes no new call. */
export function MaintenanceNotice() {
  const { data } = useRead<MaintenanceState>(PATH, { everyMs: LOOK_EVERY_MS })
  const maintenance = data?.maintenance
  if (!maintenance) return null
  return (
    <p className="mb-4 rounded-lg bg-warn-soft px-4 py-2 text-warn" role="status">
      <span className="font-medium">
        {t('Maintenance since {time}: no new call is taken.', { time: formatInstant(maintenance.since) })}
      </span>{' '}
      {maintenance.message}
    </p>
  )
}

/** Where an operator begins and ends it. */
export function MaintenanceCard() {
  const { data } = useRead<MaintenanceState>(PATH, { everyMs: LOOK_EVERY_MS })
  const [message, setMessage] = useState('')
  const changes = { changes: [PATH] }
  const begin = useWrite<MaintenanceState>(
    () => ['/operator/maintenance', { method: 'PUT', body: { message } }],
    changes,
  )
  const end = useWrite<MaintenanceState>(() => ['/operator/maintenance', { method: 'DELETE' }], changes)
  if (data === undefined) return null
  return (
    <Card title={t('Maintenance')}>
      <div className="max-w-md space-y-4">
        <p className="text-muted">
          {t('No call begins, on any node; those that run go on. Campaigns and batches wait and go on afterwards.')}
        </p>
        {data.maintenance ? (
          <Button busy={end.isPending} onClick={() => end.mutate()}>
            {t('End maintenance')}
          </Button>
        ) : (
          <>
            <Field hint={t('Everybody who asks why no call begins reads it.')} label={t('Sentence')}>
              <Input maxLength={500} onChange={(event) => setMessage(event.target.value)} value={message} />
            </Field>
            <Button busy={begin.isPending} onClick={() => begin.mutate()}>
              {t('Begin maintenance')}
            </Button>
          </>
        )}
      </div>
    </Card>
  )
}
