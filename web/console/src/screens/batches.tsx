import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { formatAgo, formatCount, formatInstant, formatWord } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { Agent, Batch, BatchItem, BatchPreview, PhoneNumber } from '../data/types.ts'
import { usePreview } from '../data/use-preview.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input, Select } from '../ui/field.tsx'
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
      New batch
    </Button>
  )
  return (
    <>
      <ListPage
        add={add}
        columns={[
          {
            name: 'Batch',
            cell: ({ batch_id, name }) => (
              <Link className="font-medium hover:underline" params={{ batchId: batch_id }} to="/batches/$batchId">
                {name}
              </Link>
            ),
          },
          { name: 'Status', cell: (batch) => <Status batch={batch} /> },
          { name: 'Rows', align: 'end', cell: ({ counts }) => formatCount(counts.total) },
          { name: 'Completed', align: 'end', wide: true, cell: ({ counts }) => formatCount(counts.completed) },
          { name: 'Failed', align: 'end', wide: true, cell: ({ counts }) => formatCount(counts.failed) },
          {
            name: 'Made',
            align: 'end',
            wide: true,
            cell: ({ created_at }) => <span className="text-muted">{formatAgo(created_at)}</span>,
          },
        ]}
        empty={{
          icon: 'batches',
          title: 'No batches yet',
          children: (
            <>
              Upload a CSV file with a phone number in each row. Its other columns can be used in the prompt as{' '}
              {'{{column}}'}.
            </>
          ),
        }}
        label="Batches"
        lead="Calls to every row of a file, at once or at a time."
        list={list}
        rowKey={({ batch_id }) => batch_id}
        title="Batches"
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
    <Dialog lead="It waits for you to start it." onClose={onClose} open title="New batch" wide>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          const { file: _, ...fields } = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>
          create.mutate(fields)
        }}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field fault={fault('name')} label="Name">
            <Input name="name" required />
          </Field>
          <Field fault={fault('agent_id')} label="Agent">
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
            hint={numbers?.length === 0 ? 'There is none yet: register one under Numbers.' : undefined}
            label="Call from"
          >
            <Select name="agent_phone_number" required>
              {numbers?.map(({ phone_number }) => (
                <option key={phone_number}>{phone_number}</option>
              ))}
            </Select>
          </Field>
          <Field fault={fault('scheduled_time')} hint="Empty: when you start it." label="Begin at">
            <Input name="scheduled_time" type="datetime-local" />
          </Field>
        </div>
        <Field fault={fault('file')} hint="CSV with a header row and a column of phone numbers." label="File">
          <Input
            accept=".csv,text/csv"
            className="py-1.5"
            name="file"
            onChange={({ target }) => {
              setFile(target.files?.[0])
              setColumn('')
            }}
            required
            type="file"
          />
        </Field>
        {preview && <Found isReading={isReading} onColumn={setColumn} preview={preview} />}
        <Fault error={create.error ?? error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            busy={create.isPending}
            disabled={!preview || preview.phone_column === null || isReading}
            kind="primary"
            type="submit"
          >
            Upload
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

const REASONS = {
  invalid_number: 'No phone number',
  do_not_call: 'On the do-not-call list',
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
      <Field hint="Every other column is a variable." label="Column with the phone numbers">
        <Select name="phone_column" onChange={({ target }) => onColumn(target.value)} value={phone_column ?? ''}>
          {phone_column === null && <option value="">Choose one</option>}
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
              ['Rows', rows.total],
              ['Will be called', rows.called, 'good'],
              ['No number', rows.invalid, 'bad'],
              ['Do not call', rows.do_not_call, 'warn'],
              ['Numbers twice', rows.duplicates],
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
  send: ['Start', ['pending', 'scheduled']],
  pause: ['Pause', ['running']],
  resume: ['Resume', ['paused']],
  retry: ['Retry the failed', ['completed', 'canceled']],
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
    done: 'Deleted',
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
                  Cancel
                </Button>
              )}
              {status !== 'running' && (
                <Button aria-label="Delete" icon="trash" kind="quiet" onClick={() => setAsked('delete')} />
              )}
            </>
          )
        }
        lead={
          batch.scheduled_time && status === 'scheduled'
            ? `Begins ${formatInstant(batch.scheduled_time)} (${batch.timezone})`
            : `From ${batch.agent_phone_number}`
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
            <Stat label="Rows" value={formatCount(counts.total)} />
            <Stat label="Waiting" value={formatCount(counts.pending)} />
            <Stat label="Calling" value={formatCount(counts.in_progress)} />
            <Stat label="Completed" value={formatCount(counts.completed)} />
            <Stat label="Failed" tone={counts.failed > 0 ? 'bad' : 'neutral'} value={formatCount(counts.failed)} />
            <Stat label="Duplicates left out" value={formatCount(counts.duplicates)} />
          </div>
        </Card>
        <Card flush title="Rows">
          <VirtualList<BatchItem>
            empty={<p className="px-4 pb-4 text-muted">The file had no rows.</p>}
            everyMs={EVERY_MS}
            label="Rows"
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
                      Call
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
        action={asked === 'cancel' ? 'Cancel the batch' : 'Delete the batch'}
        onClose={() => setAsked(undefined)}
        onConfirm={() => (asked === 'cancel' ? act.mutateAsync('cancel') : remove.mutateAsync())}
        open={asked !== undefined}
        title={asked === 'cancel' ? 'Cancel this batch?' : 'Delete this batch?'}
      >
        {asked === 'cancel'
          ? 'Rows that were not called are not called. Running calls end by themselves.'
          : 'Its rows are gone; the calls it made stay.'}
      </Confirm>
    </>
  )
}
