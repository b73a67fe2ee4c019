import { useState } from 'react'
import { formatCount } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Campaign, ProspectList } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Badge, Card, Empty } from '../../ui/layout.tsx'
import { UploadPeople } from './upload-people.tsx'

const EVERY_MS = 3_000

/** The lists of people of a campaign, with what was loaded of each file. */
export function Lists({ campaign }: { campaign: Campaign }) {
  const { may } = useSession()
  const [isNew, setNew] = useState(false)
  const { data: lists = [] } = useRead<ProspectList[]>('/api/v/list/', {
    query: { campaign: campaign.slug },
    everyMs: EVERY_MS,
  })
  const change = useWrite<ProspectList, ProspectList>(
    ({ list_slug, active }) => [`/api/v/list/${list_slug}/`, { method: 'PATCH', body: { active: !active } }],
    { changes: ['/api/v/list'] },
  )
  const add = may('developer') && (
    <Button icon="upload" onClick={() => setNew(true)} size="sm">
      {t('Upload people')}
    </Button>
  )
  return (
    <Card actions={lists.length > 0 && add} flush title={lists.length > 0 ? t('Lists') : undefined}>
      {lists.length === 0 ? (
        <Empty action={add} icon="upload" title={t('Nobody to call yet')}>
          {t('Upload a CSV or Excel file with a column of phone numbers.')}
        </Empty>
      ) : (
        <ul>
          {lists.map((list) => (
            <li className="border-t border-line px-4 py-3 text-sm" key={list.list_uuid}>
              <div className="flex items-center gap-2">
                <span className="min-w-0 flex-1 truncate font-medium">{list.name}</span>
                {!list.active && <Badge tone="warn">{t('Switched off')}</Badge>}
                {may('developer') && (
                  <Button onClick={() => change.mutate(list)} size="sm">
                    {list.active ? t('Switch off') : t('Switch on')}
                  </Button>
                )}
              </div>
              <p className="text-muted">
                {t('{n} people, {left} to go', { n: formatCount(list.prospects), left: formatCount(list.unresolved) })}
              </p>
              {list.uploads.map(({ uuid, filename, status, rows, error, consent_attested }) => (
                <div className="mt-1.5 text-xs text-muted" key={uuid}>
                  {filename}:{' '}
                  {status === 'loading' ? (
                    t('loading …')
                  ) : status === 'failed' ? (
                    <span className="text-bad">{error}</span>
                  ) : (
                    t('{n} of {all} loaded', { n: formatCount(rows.loaded), all: formatCount(rows.total) })
                  )}
                  {rows.duplicates > 0 && t(', {n} duplicates', { n: formatCount(rows.duplicates) })}
                  {rows.do_not_call > 0 && t(', {n} do not call', { n: formatCount(rows.do_not_call) })}
                  {consent_attested && t(', consent stated by {by}', { by: consent_attested.by })}
                  {rows.invalid > 0 && (
                    <a
                      className={`${buttonClass('quiet', 'sm')} ml-1 h-6!`}
                      download
                      href={`/api/v/upload/${uuid}/rejects/`}
                    >
                      {t('{n} refused: why', { n: formatCount(rows.invalid) })}
                    </a>
                  )}
                </div>
              ))}
            </li>
          ))}
        </ul>
      )}
      {isNew && <UploadPeople campaign={campaign} onClose={() => setNew(false)} />}
    </Card>
  )
}
