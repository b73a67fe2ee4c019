import { useState } from 'react'
import { formatAgo } from '../../../data/format.ts'
import { useRead } from '../../../data/queries.ts'
import type { AgentVersion, Page } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Fault } from '../../../ui/fault.tsx'
import { Badge, Card, Loading } from '../../../ui/layout.tsx'
import type { Draft } from '../agent.tsx'
import { RestoreDialog } from './restore-dialog.tsx'
import { VersionDialog } from './version-dialog.tsx'

const PAGE_SIZE = 25

/** The versions of the agent, newest first. */
export function History({ draft: { saved, isChanged, isReadOnly } }: { draft: Draft }) {
  const [page, setPage] = useState(1)
  const [shown, setShown] = useState<AgentVersion>()
  const [restored, setRestored] = useState<number>()
  const { data, error, refetch } = useRead<Page<AgentVersion>>(`/agents/${saved.agent_id}/versions`, {
    query: { page, page_size: PAGE_SIZE },
  })
  const isAsLive = !saved.unpublished_changes
  return (
    <Card flush title={t('History')}>
      <Fault error={error} retry={() => void refetch()} />
      {data === undefined && !error && <Loading />}
      {data && (
        <ul aria-label={t('Versions')}>
          {data.items.map((one) => (
            <li
              className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line px-4 py-3"
              key={one.version}
            >
              <div className="min-w-0 flex-1 basis-52">
                <div className="flex flex-wrap items-center gap-2">
                  <span className="font-medium">{t('Version {version}', { version: one.version })}</span>
                  {one.live && <Badge tone="good">{t('Live')}</Badge>}
                </div>
                {one.note !== '' && <p className="text-sm wrap-anywhere">{one.note}</p>}
                <p className="text-sm text-muted wrap-anywhere">
                  {one.published_by?.name ?? 'Patchbay'} · {formatAgo(one.published_at)}
                </p>
              </div>
              <div className="flex gap-2">
                <Button
                  aria-label={t('Changes of version {version}', { version: one.version })}
                  onClick={() => setShown(one)}
                  size="sm"
                >
                  {t('Changes')}
                </Button>
                {!isReadOnly && !(one.live && isAsLive) && (
                  <Button
                    aria-label={t('Restore version {version}', { version: one.version })}
                    disabled={isChanged}
                    onClick={() => setRestored(one.version)}
                    size="sm"
                    title={isChanged ? t('Save or discard your changes first.') : undefined}
                  >
                    {t('Restore')}
                  </Button>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
      {data && data.total_pages > 1 && (
        <div className="flex justify-end gap-2 border-t border-line px-4 py-3">
          <Button disabled={page === 1} onClick={() => setPage(page - 1)} size="sm">
            {t('Newer')}
          </Button>
          <Button disabled={page >= data.total_pages} onClick={() => setPage(page + 1)} size="sm">
            {t('Older')}
          </Button>
        </div>
      )}
      {shown && <VersionDialog agentId={saved.agent_id} onClose={() => setShown(undefined)} version={shown} />}
      {restored !== undefined && (
        <RestoreDialog onClose={() => setRestored(undefined)} saved={saved} version={restored} />
      )}
    </Card>
  )
}
