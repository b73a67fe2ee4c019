import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { formatAgo, formatCount, formatInstant, formatWord } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { Agent, Batch, BatchItem, BatchPreview, PhoneNumber } from '../data/types.ts'
import { usePreview } from '../data/use-preview.ts'
import { t } from '../language/t.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input, Select, TableFile } from '../ui/field.tsx'
import { Badge, Card, Loading, PageHead, Stat, type Tone } from '../ui/layout.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { Skipped, Tallies } from '../ui/preview.tsx'
import { VirtualList } from '../ui/virtual-list.tsx'

const EVERY_MS = 3_000
const TONES: Readonly<Record<Batch['status'], Tone>> = {
  pending: 'neutral',
  scheduled: 'accent',
  running: 'accent',
  paused: 'warn',
  completed: 'good',
  canceled: 'neutral',
}
const ITEM_TONES: Readonly<Record<BatchItem['status'], Tone>> = {
  pending: 'neutral',
  in_progress: 'accent',
  completed: 'good',
  failed: 'bad',
}

const Status = ({ batch: { status } }: { batch: Batch }) => (
  <Badge dot={status === 'running'} tone={TONES[status]}>
    {formatWord(status)}
  </Badge>
)

export function Screen() {
  const { may } = useSession()
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const list = useRead<Batch[]>('/batch', { everyMs: EVERY_MS })
  const add = may('developer') && (
    <Button icon="plus" kind="primary" onClick={() => void navigate({ to: '/batches', search: { new: true } })}>
      {t('New batch')}
    </Button>
  )
  return (
    <>
      <ListPage
        add={add}
        columns={[
          {
            name: t('Batch'),
            cell: ({ batch_id, name }) => (
              <Link className="font-medium hover:underline" params={{ batchId: batch_id }} to="/batches/$batchId">
                {name}
              </Link>
            ),
          },
          { name: t('Status'), cell: (batch) => <Status batch={batch} /> },
          { name: t('Rows'), align: 'end', cell: ({ counts }) => formatCount(counts.total) },
          { name: t('Completed'), align: 'end', wide: true, cell: ({ counts }) => formatCount(counts.completed) },
          { name: t('Failed'), align: 'end', wide: true, cell: ({ counts }) => formatCount(counts.failed) },
          {
            name: t('Created'),
            align: 'end',
            wide: true,
            cell: ({ created_at }) => <span className="text-muted">{formatAgo(created_at)}</span>,
          },
        ]}
        empty={{
          icon: 'batches',
          title: t('No batches yet'),
          children: t(
            'Upload a CSV or Excel file with a phone number in each row. Its other columns can be used in the prompt as {name}.',
            {
              name: '{{column}}',
            },
          ),
        }}
        label={t('Batches')}
        lead={t('Calls to every row of a file, at once or at a time.')}
        list={list}
        rowKey={({ batch_id }) => batch_id}
        title={t('Batches')}
      />
      {search.new === true && may('developer') && (
        <NewBatch onClose={() => void navigate({ to: '/batches', search: {} })} />
      )}
    </>
  )
}

function NewBatch({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const { data: agents } = useRead<Agent[]>('/agents')
  const { data: numbers } = useRead<PhoneNumber[]>('/phone-numbers')
  const [file, setFile] = useState<File>()
  const [column, setColumn] = useState('')
  const { preview, error, isReading } = usePreview<BatchPreview>('/batch/preview', file && { file }, {
    phone_column: column,
  })
  const create = useWrite<Batch, Record<string, string>>(
    (fields) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) if (value) form.set(name, value)
      if (fields.scheduled_time) form.set('timezone', Intl.DateTimeFormat().resolvedOptions().timeZone)
      if (file) form.set('file', file)
      return ['/batch/upload', { method: 'POST', form }]
    },
    {
      changes: ['/batch'],
      quiet: true,
      onDone: ({ batch_id }) => void navigate({ to: '/batches/$batchId', params: { batchId: batch_id } }),
    },
  )
  const fault = (field: string) => faultOf(create.error, field)
  return (
    <Dialog lead={t('It waits for you to start it.')} onClose={onClose} open title={t('New batch')} wide>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          const { file: _, ...fields } = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>
          create.mutate(fields)
        }}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field fault={fault('name')} label={t('Name')}>
            <Input name="name" required />
          </Field>
          <Field fault={fault('agent_id')} label={t('Agent')}>
            <Select name="agent_id" required>
              {agents?.map(({ agent_id, agent_name }) => (
                <option key={agent_id} value={agent_id}>
                  {agent_name}
                </option>
              ))}
            </Select>
          </Field>
          <Field
            fault={fault('agent_phone_number')}
            hint={numbers?.length === 0 ? t('There is none yet: register one under Numbers.') : undefined}
            label={t('Call from')}
          >
            <Select name="agent_phone_number" required>
              {numbers?.map(({ phone_number }) => (
                <option key={phone_number}>{phone_number}</option>
              ))}
            </Select>
          </Field>
          <Field fault={fault('scheduled_time')} hint={t('Empty: when you start it.')} label={t('Begin at')}>
            <Input name="scheduled_time" type="datetime-local" />
          </Field>
        </div>
        <Field
          fault={fault('file')}
          hint={t('CSV or Excel (.xlsx) with a header row and a column of phone numbers.')}
          label={t('File')}
        >
          <TableFile
            name="file"
            onChange={({ target }) => {
              setFile(target.files?.[0])
              setColumn('')
            }}
            required
          />
        </Field>
        {preview && <Found isReading={isReading} onColumn={setColumn} preview={preview} />}
        <Fault error={create.error ?? error} />
        <DialogActions>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button
            busy={create.isPending}
            disabled={!preview || preview.phone_column === null || isReading}
            kind="primary"
            type="submit"
          >
            {t('Upload')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

const REASONS = {
  invalid_number: t('No phone number'),
  do_not_call: t('On the do-not-call list'),
} as const satisfies Record<BatchPreview['skipped'][number]['code'], string>

interface FoundProps {
  preview: BatchPreview
  isReading: boolean
  onColumn: (name: string) => void
}

/** What a batch of the file would call, and what it would leave out. */
function Found({ preview: { columns, phone_column, rows, skipped }, isReading, onColumn }: FoundProps) {
  return (
    <div aria-busy={isReading} className="space-y-3">
      <Field hint={t('Every other column is a variable.')} label={t('Column with the phone numbers')}>
        <Select name="phone_column" onChange={({ target }) => onColumn(target.value)} value={phone_column ?? ''}>
          {phone_column === null && <option value="">{t('Choose one')}</option>}
          {[...new Set(columns.map(({ name }) => name))].filter(Boolean).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
      </Field>
      {phone_column !== null && (
        <>
          <Tallies
            judged={rows.judged}
            rows={[
              [t('Rows'), rows.total],
              [t('Will be called'), rows.called, 'good'],
              [t('No number'), rows.invalid, 'bad'],
              [t('Do not call'), rows.do_not_call, 'warn'],
              [t('Duplicate numbers'), rows.duplicates],
            ]}
            total={rows.total}
          />
          <Skipped
            count={rows.invalid + rows.do_not_call}
            rows={skipped.map(({ line, phone_number, code }) => ({ line, phone: phone_number, reason: REASONS[code] }))}
          />
        </>
      )}
    </div>
  )
}

const ACTIONS = {
  send: [t('Start'), ['pending', 'scheduled']],
  pause: [t('Pause'), ['running']],
  resume: [t('Resume'), ['paused']],
  retry: [t('Retry the failed'), ['completed', 'canceled']],
} as const

export function BatchScreen() {
  const { batchId } = useParams({ strict: false })
  const { may } = useSession()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<'cancel' | 'delete'>()
  const { data: batch, error } = useRead<Batch>(`/batch/${batchId}`, { everyMs: EVERY_MS })
  const act = useWrite<Batch, string>((action) => [`/batch/${batchId}/${action}`, { method: 'POST' }], {
    changes: ['/batch'],
  })
  const remove = useWrite(() => [`/batch/${batchId}`, { method: 'DELETE' }], {
    done: t('Deleted'),
    changes: ['/batch'],
    onDone: () => void navigate({ to: '/batches' }),
  })
  if (error) return <Fault error={error} />
  if (batch === undefined) return <Loading />
  const { counts, status } = batch
  const done = counts.completed + counts.failed
  return (
    <>
      <PageHead
        actions={
          may('developer') && (
            <>
              {Object.entries(ACTIONS).map(
                ([action, [label, states]]) =>
                  (states as readonly string[]).includes(status) &&
                  (action !== 'retry' || counts.failed > 0) && (
                    <Button
                      busy={act.isPending}
                      key={action}
                      kind={action === 'send' || action === 'resume' ? 'primary' : 'plain'}
                      onClick={() => act.mutate(action)}
                    >
                      {label}
                    </Button>
                  ),
              )}
              {['running', 'paused', 'scheduled'].includes(status) && (
                <Button kind="danger" onClick={() => setAsked('cancel')}>
                  {t('Cancel')}
                </Button>
              )}
              {status !== 'running' && (
                <Button aria-label={t('Delete')} icon="trash" kind="quiet" onClick={() => setAsked('delete')} />
              )}
            </>
          )
        }
        id={batch.batch_id}
        lead={
          batch.scheduled_time && status === 'scheduled'
            ? t('Begins {scheduled_time} ({timezone})', {
                scheduled_time: formatInstant(batch.scheduled_time),
                timezone: batch.timezone,
              })
            : t('From {agent_phone_number}', { agent_phone_number: batch.agent_phone_number })
        }
        title={
          <span className="flex items-center gap-3">
            {batch.name} <Status batch={batch} />
          </span>
        }
      />
      <div className="space-y-4">
        <Card>
          <div className="mb-4 h-2 overflow-hidden rounded-full bg-sunken">
            <div
              className="h-full bg-accent transition-[width]"
              style={{ width: `${counts.total === 0 ? 0 : (done / counts.total) * 100}%` }}
            />
          </div>
          <div className="grid grid-cols-2 gap-5 sm:grid-cols-3 lg:grid-cols-6">
            <Stat label={t('Rows')} value={formatCount(counts.total)} />
            <Stat label={t('Waiting')} value={formatCount(counts.pending)} />
            <Stat label={t('Calling')} value={formatCount(counts.in_progress)} />
            <Stat label={t('Completed')} value={formatCount(counts.completed)} />
            <Stat label={t('Failed')} tone={counts.failed > 0 ? 'bad' : 'neutral'} value={formatCount(counts.failed)} />
            <Stat label={t('Duplicate numbers')} value={formatCount(counts.duplicates)} />
          </div>
        </Card>
        <Card flush title={t('Rows')}>
          <VirtualList<BatchItem>
            empty={<p className="px-4 pb-4 text-muted">{t('The file had no rows.')}</p>}
            everyMs={EVERY_MS}
            label={t('Rows')}
            path={`/batch/${batchId}/items`}
            row={({ phone_number, status: state, call_log_id, error: why }) => (
              <div className="grid h-full grid-cols-[10rem_7rem_minmax(0,1fr)] items-center gap-3 px-4 text-sm">
                <span className="truncate font-medium">{phone_number}</span>
                <span>
                  <Badge tone={ITEM_TONES[state]}>{formatWord(state)}</Badge>
                </span>
                <span className="truncate text-muted">
                  {why}{' '}
                  {call_log_id && (
                    <Link className="text-accent-ink underline" params={{ callId: call_log_id }} to="/calls/$callId">
                      {t('Open')}
                    </Link>
                  )}
                </span>
              </div>
            )}
            rowKey={({ id }) => id}
          />
        </Card>
      </div>
      <Confirm
        action={asked === 'cancel' ? t('Cancel the batch') : t('Delete the batch')}
        onClose={() => setAsked(undefined)}
        onConfirm={() => (asked === 'cancel' ? act.mutateAsync('cancel') : remove.mutateAsync())}
        open={asked !== undefined}
        title={asked === 'cancel' ? t('Cancel this batch?') : t('Delete this batch?')}
      >
        {asked === 'cancel'
          ? t('Rows that were not called are not called. Running calls end by themselves.')
          : t('Its rows are gone; the calls it made stay.')}
      </Confirm>
    </>
  )
}
