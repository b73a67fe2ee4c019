import { useState } from 'react'
import { formatCount } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Campaign, ProspectList } from '../../data/types.ts'
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
      Upload people
    </Button>
  )
  return (
    <Card actions={lists.length > 0 && add} flush title={lists.length > 0 ? 'Lists' : undefined}>
      {lists.length === 0 ? (
        <Empty action={add} icon="upload" title="Nobody to call yet">
          Upload a CSV file with a column of phone numbers.
        </Empty>
      ) : (
        <ul>
          {lists.map((list) => (
            <li className="border-t border-line px-4 py-3 text-sm" key={list.list_uuid}>
              <div className="flex items-center gap-2">
                <span className="min-w-0 flex-1 truncate font-medium">{list.name}</span>
                {!list.active && <Badge tone="warn">Switched off</Badge>}
                {may('developer') && (
                  <Button onClick={() => change.mutate(list)} size="sm">
                    {list.active ? 'Switch off' : 'Switch on'}
                  </Button>
                )}
              </div>
              <p className="text-muted">
                {formatCount(list.prospects)} people, {formatCount(list.unresolved)} to go
              </p>
              {list.uploads.map(({ uuid, filename, status, rows, error, consent_attested }) => (
                <div className="mt-1.5 text-xs text-muted" key={uuid}>
                  {filename}:{' '}
                  {status === 'loading' ? (
                    'loading …'
                  ) : status === 'failed' ? (
                    <span className="text-bad">{error}</span>
                  ) : (
                    `${formatCount(rows.loaded)} of ${formatCount(rows.total)} loaded`
                  )}
                  {rows.duplicates > 0 && `, ${formatCount(rows.duplicates)} twice`}
                  {rows.do_not_call > 0 && `, ${formatCount(rows.do_not_call)} do not call`}
                  {consent_attested && `, consent stated by ${consent_attested.by}`}
                  {rows.invalid > 0 && (
                    <a
                      className={`${buttonClass('quiet', 'sm')} ml-1 h-6!`}
                      download
                      href={`/api/v/upload/${uuid}/rejects/`}
                    >
                      {formatCount(rows.invalid)} refused: why
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
