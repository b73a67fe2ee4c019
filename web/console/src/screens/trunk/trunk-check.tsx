import { formatTime } from '../../data/format.ts'
import { useWrite } from '../../data/queries.ts'
import type { TrunkCheck as Check, Trunk } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Card, Notice } from '../../ui/layout.tsx'
import { Findings } from './findings.tsx'

const NAMES: Readonly<Record<Check['findings'][number]['check'], string>> = {
  listens: t('SIP of this instance'),
  address: t('Address of the host'),
  connection: t('Connection'),
  answers: t('An answer'),
  seen_as: t('How it sees us'),
  credentials: t('User name and password'),
  media: t('Sound'),
}

/** Looks at the trunk now and lists what was found. */
export function TrunkCheck({ trunk, mayCheck }: { trunk: Trunk; mayCheck: boolean }) {
  const path = `/trunks/${trunk.trunk_id}`
  const check = useWrite<Check>(() => [`${path}/check`, { method: 'POST' }], { changes: [path], quiet: true })
  const { data, isPending, error } = check
  const failed = data?.findings.filter(({ ok }) => !ok).length ?? 0
  return (
    <Card
      actions={
        mayCheck && (
          <Button busy={isPending} icon="search" kind="primary" onClick={() => check.mutate()} size="sm">
            {t('Check now')}
          </Button>
        )
      }
      title={t('Diagnose')}
    >
      <div aria-live="polite" className="space-y-3">
        <Fault error={error} />
        {isPending && <p className="text-muted">{t('It is asked what it can do; this takes up to 15 seconds.')}</p>}
        {!isPending && data === undefined && (
          <p className="text-muted">
            {mayCheck
              ? t(
                  'Asks the trunk now: its address, an answer, how it sees us, the password, and whether sound comes back.',
                )
              : t('Developers of this workspace can have the trunk asked.')}
          </p>
        )}
        {!isPending && data && (
          <>
            <Notice tone={data.healthy ? 'good' : 'bad'}>
              {data.healthy
                ? t('All is as it should be, at {time}', { time: formatTime(data.checked_at) })
                : failed === 1
                  ? t('1 check failed, at {time}', { time: formatTime(data.checked_at) })
                  : t('{n} checks failed, at {time}', { n: failed, time: formatTime(data.checked_at) })}
            </Notice>
            <Findings findings={data.findings} names={NAMES} />
          </>
        )}
      </div>
    </Card>
  )
}
