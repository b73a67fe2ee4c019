import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatAgo, formatExactly, formatInner, formatInstant, formatMs, formatWord } from '../../data/format.ts'
import { useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Delivery } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { CopiedId } from '../../ui/copied-id.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { FilterSelect } from '../../ui/filter-select.tsx'
import { Badge, Card, Empty, Facts, type Tone } from '../../ui/layout.tsx'
import { pretty, TextBlock } from '../../ui/text-block.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { eventSubject } from './event-subject.ts'

const EVERY_MS = 3_000
const TONES: Readonly<Record<Delivery['status'], Tone>> = { pending: 'accent', delivered: 'good', failed: 'bad' }
const COLUMNS =
  'grid h-full w-full items-center gap-3 px-4 text-left text-sm grid-cols-[minmax(0,1fr)_auto] md:grid-cols-[minmax(0,1fr)_minmax(0,1.2fr)_7rem_minmax(0,1.2fr)_6rem_8rem]'

/** What a webhook was sent, newest first. */
export function Deliveries({ path }: { path: string }) {
  const [status, setStatus] = useState('')
  const [shown, setShown] = useState<Delivery>()
  return (
    <Card
      actions={
        <FilterSelect
          all={t('All')}
          label={t('Status')}
          onChange={setStatus}
          options={[
            ['pending', t('Pending')],
            ['delivered', t('Delivered')],
            ['failed', t('Failed')],
          ]}
          value={status}
        />
      }
      flush
      title={t('Deliveries')}
    >
      <VirtualList<Delivery>
        empty={
          <Empty
            icon="send"
            title={status ? t('Nothing is {state}', { state: formatInner(status) }) : t('Nothing was sent yet')}
          >
            {t('What happens in this workspace is sent as it happens, and shown here for 30 days.')}
          </Empty>
        }
        everyMs={EVERY_MS}
        key={status}
        label={t('Deliveries')}
        path={path}
        query={status ? { status } : {}}
        row={(delivery) => (
          <button className={`${COLUMNS} hover:bg-sunken/60`} onClick={() => setShown(delivery)} type="button">
            <span className="min-w-0 truncate font-mono text-xs">
              {delivery.type}
              <span className="block truncate font-sans text-muted md:hidden">{labelOf(delivery)}</span>
            </span>
            <span className="hidden truncate md:block">{labelOf(delivery)}</span>
            <span>
              <Status delivery={delivery} />
            </span>
            <span className="hidden truncate text-muted md:block">{outcomeOf(delivery)}</span>
            <span className="hidden text-right md:block">{formatMs(delivery.duration_ms)}</span>
            <span className="hidden truncate text-right text-muted md:block">{formatAgo(delivery.created_at)}</span>
          </button>
        )}
        rowKey={({ delivery_id }) => delivery_id}
      />
      {shown && <DeliveryDialog delivery={shown} onClose={() => setShown(undefined)} path={path} />}
    </Card>
  )
}

const labelOf = ({ request }: Delivery) => eventSubject(request?.body)?.label

/** One that failed and will be tried again is no longer just pending. */
function Status({ delivery: { status, attempts } }: { delivery: Delivery }) {
  if (status === 'pending' && attempts > 0) return <Badge tone="warn">{t('Trying again')}</Badge>
  return <Badge tone={TONES[status]}>{formatWord(status)}</Badge>
}

function outcomeOf({ status, response, error, attempts, next_attempt_at }: Delivery): string {
  if (status === 'pending' && attempts === 0) return t('On its way')
  const answer = error ?? (response ? t('Answered {status}', { status: response.status }) : '')
  return status === 'pending' && next_attempt_at
    ? t('{answer}; again at {next_attempt_at}', { answer, next_attempt_at: formatInstant(next_attempt_at) })
    : attempts > 1
      ? t('{answer}, {n} attempts', { answer, n: attempts })
      : answer
}

interface DeliveryDialogProps {
  delivery: Delivery
  path: string
  onClose: () => void
}

function DeliveryDialog({ delivery, path, onClose }: DeliveryDialogProps) {
  const { may } = useSession()
  const { delivery_id, event_id, type, attempts, request, response, error, created_at, last_attempt_at } = delivery
  const subject = eventSubject(request?.body)
  const again = useWrite<Delivery>(() => [`${path}/${delivery_id}/redeliver`, { method: 'POST' }], {
    done: t('It is sent again'),
    changes: [path],
    onDone: onClose,
  })
  return (
    <Dialog onClose={onClose} open title={type} wide>
      <Facts
        rows={[
          [t('State'), <Status delivery={delivery} key="state" />],
          ...(subject
            ? [
                [
                  t('About'),
                  subject.path === undefined ? (
                    subject.label
                  ) : (
                    <Link className="text-accent hover:underline" key="about" to={subject.path}>
                      {subject.label}
                    </Link>
                  ),
                ] as const,
              ]
            : []),
          [t('Happened'), formatExactly(created_at)],
          [
            t('Attempts'),
            last_attempt_at
              ? t('{n}, the last {ago}', { n: attempts, ago: formatAgo(last_attempt_at) })
              : String(attempts),
          ],
          ['webhook-id', <CopiedId id={event_id} key="id" />],
          ...(error ? [[t('Fault'), error] as const] : []),
        ]}
      />
      <TextBlock label={t('Sent')}>
        {request === null ? t('It was erased, or is older than 30 days.') : pretty(request.body)}
      </TextBlock>
      {response && (
        <TextBlock label={t('Answered {status}', { status: response.status })}>
          {response.body || t('Nothing')}
        </TextBlock>
      )}
      <DialogActions>
        <Button onClick={onClose}>{t('Close')}</Button>
        {may('admin') && request !== null && (
          <Button busy={again.isPending} icon="send" kind="primary" onClick={() => again.mutate()}>
            {t('Send again')}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  )
}
