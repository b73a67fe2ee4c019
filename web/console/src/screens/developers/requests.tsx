import { useState } from 'react'
import { formatAgo, formatInstant, formatMs } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import type { ApiRequest, Page } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { CopiedId } from '../../ui/copied-id.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { FilterSelect } from '../../ui/filter-select.tsx'
import { Badge, Card, Empty, Facts, type Tone } from '../../ui/layout.tsx'
import { pretty, TextBlock } from '../../ui/text-block.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'

const EVERY_MS = 5_000
const PATH = '/requests'
const CLASSES = [
  ['2xx', t('Answered (2xx)')],
  ['4xx', t('Refused (4xx)')],
  ['5xx', t('Failed (5xx)')],
] as const
const COLUMNS =
  'grid h-full w-full items-center gap-3 px-4 text-left text-sm grid-cols-[3.5rem_minmax(0,1fr)_auto] md:grid-cols-[3.5rem_minmax(0,1fr)_10rem_5rem_8rem]'

const toneOf = (status: number): Tone => (status < 400 ? 'good' : status < 500 ? 'warn' : 'bad')

/** What API keys asked for, newest first. */
export function Requests() {
  const [status, setStatus] = useState('')
  const [keyId, setKeyId] = useState('')
  const [shown, setShown] = useState<ApiRequest>()
  const isFiltered = status !== '' || keyId !== ''
  return (
    <Card
      actions={
        <>
          <FilterSelect all={t('All')} label={t('Status')} onChange={setStatus} options={CLASSES} value={status} />
          <KeySelect onChange={setKeyId} value={keyId} />
        </>
      }
      flush
      title={t('Requests of API keys')}
    >
      <VirtualList<ApiRequest>
        empty={
          isFiltered ? (
            <Empty icon="search" title={t('No request matches')}>
              {t('The last 1,000 requests of a week are kept.')}
            </Empty>
          ) : (
            <Empty icon="developers" title={t('No API key has asked for anything yet')}>
              {t('What your servers ask for with their keys appears here, with the answers that were errors.')}
            </Empty>
          )
        }
        everyMs={EVERY_MS}
        key={`${status} ${keyId}`}
        label={t('Requests of API keys')}
        path={PATH}
        query={{ status, api_key_id: keyId }}
        row={(request) => (
          <button className={`${COLUMNS} hover:bg-sunken/60`} onClick={() => setShown(request)} type="button">
            <span>
              <Badge tone={toneOf(request.status)}>{request.status}</Badge>
            </span>
            <span className="truncate font-mono text-xs">
              {request.method} {request.path}
            </span>
            <span className="hidden truncate md:block">{request.api_key_name}</span>
            <span className="hidden text-right md:block">{formatMs(request.duration_ms)}</span>
            <span className="truncate text-right text-muted">{formatAgo(request.answered_at)}</span>
          </button>
        )}
        rowKey={({ request_id, answered_at, path }) => `${request_id} ${answered_at} ${path}`}
      />
      {shown && <RequestDialog onClose={() => setShown(undefined)} request={shown} />}
    </Card>
  )
}

/** The keys that asked lately: who may read the requests need not be who rules over the keys. */
function KeySelect({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const { data } = useRead<Page<ApiRequest>>(PATH, { query: { page_size: 200 } })
  const names = new Map((data?.items ?? []).map(({ api_key_id, api_key_name }) => [api_key_id, api_key_name]))
  return <FilterSelect all={t('Every key')} label={t('Key')} onChange={onChange} options={names} value={value} />
}

function RequestDialog({ request, onClose }: { request: ApiRequest; onClose: () => void }) {
  const { method, path, status, error } = request
  return (
    <Dialog onClose={onClose} open title={`${method} ${path}`} wide>
      <Facts
        rows={[
          [
            t('Status'),
            <Badge key="status" tone={toneOf(status)}>
              {status}
            </Badge>,
          ],
          [t('Happened'), formatInstant(request.answered_at)],
          [t('Took'), formatMs(request.duration_ms)],
          [t('Key'), request.api_key_name],
          ['x-request-id', <CopiedId id={request.request_id} key="id" />],
          ...(error
            ? [
                [
                  t('Error'),
                  <code className="text-xs" key="code">
                    {error.code}
                  </code>,
                ] as const,
              ]
            : []),
        ]}
      />
      {error && <TextBlock label={t('Answered {status}', { status })}>{pretty(error.body)}</TextBlock>}
      <p className="mt-4 text-sm text-muted">
        {t('What was sent is not kept: neither body nor query nor the values of parameters.')}
      </p>
      <DialogActions>
        <Button onClick={onClose}>{t('Close')}</Button>
      </DialogActions>
    </Dialog>
  )
}
