import { type FormEvent, useState } from 'react'
import { formatBytes, formatCount, formatMs, formatShare, formatUsd, formatWord } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import type { OperatedUser, OperatedWorkspace, OperatorSettings, Page, WorkloadReport } from '../data/types.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input, Select } from '../ui/field.tsx'
import { Badge, Card, Empty, Facts, Loading, Stat } from '../ui/layout.tsx'
import { TabbedPage } from '../ui/tabbed-page.tsx'
import { Table } from '../ui/table.tsx'
import { Audit } from './workspace.tsx'

/** The installation as whoever runs it sees it. */
export function Screen() {
  return (
    <TabbedPage
      lead="The whole installation: only those who run it see this."
      path="/operator"
      tabs={[
        ['workers', 'Workers', <Workers key="workers" />],
        ['workspaces', 'Workspaces', <Workspaces key="workspaces" />],
        ['users', 'Users', <Users key="users" />],
        ['settings', 'Settings', <Settings key="settings" />],
        ['audit', 'Audit log', <Audit key="audit" path="/operator/audit-log" />],
      ]}
      title="Operator"
    />
  )
}

const TONES = { ready: 'good', draining: 'warn', overloaded: 'warn', unreachable: 'bad' } as const

function Workers() {
  const { data, error } = useRead<WorkloadReport>('/operator/workers', { everyMs: 3_000 })
  if (error) return <Fault error={error} />
  if (data === undefined) return <Loading />
  return (
    <div className="space-y-4">
      <Card>
        <div className="grid grid-cols-2 gap-5 sm:grid-cols-4">
          <Stat label="Voice workers" value={formatCount(data.totals.workers)} />
          <Stat label="Sessions" value={formatCount(data.totals.active_sessions)} />
          <Stat label="Seats" value={formatCount(data.totals.capacity)} />
          <Stat label="Used" value={formatShare(data.totals.utilization)} />
        </div>
      </Card>
      <Card flush>
        {data.workers.length === 0 ? (
          <Empty icon="workers" title="No voice worker is linked">
            Start one with: npm run patchbay voice
          </Empty>
        ) : (
          <Table
            columns={[
              { name: 'Worker', cell: ({ worker_id }) => <span className="font-medium">{worker_id}</span> },
              { name: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{formatWord(state)}</Badge> },
              {
                name: 'Sessions',
                align: 'end',
                cell: ({ active_sessions, capacity }) => `${formatCount(active_sessions)} of ${formatCount(capacity)}`,
              },
              { name: 'CPU', align: 'end', wide: true, cell: ({ cpu_utilization }) => formatShare(cpu_utilization) },
              { name: 'Memory', align: 'end', wide: true, cell: ({ memory_bytes }) => formatBytes(memory_bytes) },
              {
                name: 'Loop lag',
                align: 'end',
                wide: true,
                cell: ({ event_loop_lag_ms }) => formatMs(event_loop_lag_ms),
              },
              {
                name: 'Turn p50',
                align: 'end',
                wide: true,
                cell: ({ turn_latency_p50_ms }) => formatMs(turn_latency_p50_ms),
              },
              { name: 'Turn p95', align: 'end', cell: ({ turn_latency_p95_ms }) => formatMs(turn_latency_p95_ms) },
            ]}
            label="Voice workers"
            rowKey={({ worker_id }) => worker_id}
            rows={data.workers}
          />
        )}
      </Card>
    </div>
  )
}

function Workspaces() {
  const { data, error } = useRead<Page<OperatedWorkspace>>('/operator/workspaces', { query: { page_size: 200 } })
  const [edited, setEdited] = useState<OperatedWorkspace>()
  if (error) return <Fault error={error} />
  if (data === undefined) return <Loading />
  return (
    <>
      <Card flush title={`${formatCount(data.total)} ${data.total === 1 ? 'workspace' : 'workspaces'}`}>
        <Table
          columns={[
            { name: 'Workspace', cell: ({ name }) => <span className="font-medium">{name}</span> },
            {
              name: 'State',
              cell: ({ suspended_at, suspended_reason }) =>
                suspended_at ? (
                  <span title={suspended_reason ?? ''}>
                    <Badge tone="bad">Suspended</Badge>
                  </span>
                ) : (
                  <Badge tone="good">Active</Badge>
                ),
            },
            { name: 'Members', align: 'end', wide: true, cell: ({ members }) => formatCount(members) },
            { name: 'Agents', align: 'end', wide: true, cell: ({ use }) => formatCount(use.agents) },
            { name: 'Calls now', align: 'end', wide: true, cell: ({ use }) => formatCount(use.calls_now) },
            {
              name: 'Minutes this month',
              align: 'end',
              wide: true,
              cell: ({ use }) => formatCount(Math.round(use.minutes_this_month)),
            },
            {
              name: 'Cost this month',
              align: 'end',
              wide: true,
              cell: ({ use }) => formatUsd(use.cost_usd_this_month),
            },
            {
              name: '',
              align: 'end',
              cell: (workspace) => (
                <Button aria-label={`Manage ${workspace.name}`} onClick={() => setEdited(workspace)} size="sm">
                  Manage
                </Button>
              ),
            },
          ]}
          label="Workspaces"
          rowKey={({ workspace_id }) => workspace_id}
          rows={data.items}
        />
      </Card>
      {edited && <Manage onClose={() => setEdited(undefined)} workspace={edited} />}
    </>
  )
}

const QUOTAS = [
  ['calls_at_once', 'Calls at once'],
  ['web_sessions_at_once', 'Web sessions at once'],
  ['agents', 'Agents'],
  ['documents', 'Documents'],
  ['minutes_a_month', 'Minutes a month'],
  ['cost_usd_a_month', 'Dollars a month'],
] as const

function Manage({ workspace, onClose }: { workspace: OperatedWorkspace; onClose: () => void }) {
  const path = `/operator/workspaces/${workspace.workspace_id}`
  const options = { changes: ['/operator/workspaces'], quiet: true, onDone: onClose }
  const save = useWrite<OperatedWorkspace, object>((body) => [path, { method: 'PATCH', body }], {
    ...options,
    done: 'Saved',
  })
  const suspend = useWrite<{ detail: string }, string>(
    (reason) => [`${path}/suspend`, { method: 'POST', body: { reason, end_calls: false } }],
    { ...options, done: 'Suspended. Running calls end by themselves.' },
  )
  const resume = useWrite(() => [`${path}/resume`, { method: 'POST' }], { ...options, done: 'Active again' })
  const [reason, setReason] = useState('')
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>
    save.mutate(Object.fromEntries(QUOTAS.map(([name]) => [name, fields[name] === '' ? null : Number(fields[name])])))
  }
  return (
    <Dialog lead="Empty: no limit." onClose={onClose} open title={workspace.name}>
      <form className="space-y-4" onSubmit={submit}>
        <div className="grid grid-cols-2 gap-4">
          {QUOTAS.map(([name, label]) => (
            <Field fault={faultOf(save.error, name)} key={name} label={label}>
              <Input defaultValue={workspace.quotas[name] ?? ''} min={0} name={name} type="number" />
            </Field>
          ))}
        </div>
        <Fault error={save.error} />
        <DialogActions>
          <Button busy={save.isPending} kind="primary" type="submit">
            Save limits
          </Button>
        </DialogActions>
      </form>
      <div className="mt-5 border-t border-line pt-4">
        {workspace.suspended_at ? (
          <Button busy={resume.isPending} onClick={() => resume.mutate()}>
            Let it work again
          </Button>
        ) : (
          <div className="flex items-end gap-2">
            <Field
              className="flex-1"
              hint="Its members see it. Nothing can be changed or called; reading stays."
              label="Suspend, because"
            >
              <Input onChange={(event) => setReason(event.target.value)} value={reason} />
            </Field>
            <Button
              busy={suspend.isPending}
              className="mb-5"
              disabled={reason.trim() === ''}
              kind="danger"
              onClick={() => suspend.mutate(reason)}
            >
              Suspend
            </Button>
          </div>
        )}
        <Fault error={suspend.error ?? resume.error} />
      </div>
    </Dialog>
  )
}

interface Link {
  link: string
}

function Users() {
  const { data, error } = useRead<Page<OperatedUser>>('/operator/users', { query: { page_size: 200 } })
  const [link, setLink] = useState<string>()
  const onDone = ({ link: made }: Link) => setLink(made)
  const invite = useWrite<Link, Record<string, string>>((body) => ['/operator/invitations', { method: 'POST', body }], {
    onDone,
    quiet: true,
  })
  const reset = useWrite<Link, string>((id) => [`/operator/users/${id}/password-reset`, { method: 'POST' }], { onDone })
  if (error) return <Fault error={error} />
  if (data === undefined) return <Loading />
  return (
    <div className="space-y-4">
      <Card title="Invite somebody to this installation">
        <form
          className="flex gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            invite.mutate(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>)
          }}
        >
          <Input aria-label="E-mail" name="email" placeholder="grace@example.com" required type="email" />
          <Button busy={invite.isPending} kind="primary" type="submit">
            Make a link
          </Button>
        </form>
        <div className="mt-3 empty:hidden">
          <Fault error={invite.error} />
        </div>
      </Card>
      <Card flush title={`${formatCount(data.total)} ${data.total === 1 ? 'user' : 'users'}`}>
        <Table
          columns={[
            {
              name: 'User',
              cell: ({ name, email }) => (
                <>
                  <span className="font-medium">{name}</span> <span className="text-muted">{email}</span>
                </>
              ),
            },
            {
              name: 'Runs the installation',
              wide: true,
              cell: ({ is_operator }) => (is_operator ? <Badge tone="accent">Operator</Badge> : ''),
            },
            {
              name: '',
              align: 'end',
              cell: ({ user_id, name }) => (
                <Button aria-label={`Password link for ${name}`} onClick={() => reset.mutate(user_id)} size="sm">
                  Password link
                </Button>
              ),
            },
          ]}
          label="Users"
          rowKey={({ user_id }) => user_id}
          rows={data.items}
        />
      </Card>
      <Dialog
        lead="It works once. Hand it to them yourself."
        onClose={() => setLink(undefined)}
        open={link !== undefined}
        title="The link"
      >
        <code className="block rounded-md bg-sunken p-3 text-sm wrap-anywhere">{link}</code>
      </Dialog>
    </div>
  )
}

const SIGNUP = [
  ['', 'As the configuration says (PATCHBAY_SIGNUP)'],
  ['open', 'Everybody who reaches it'],
  ['invitation', 'Who has an invitation'],
  ['closed', 'Nobody'],
] as const

function Settings() {
  const { data } = useRead<OperatorSettings>('/operator/settings')
  const save = useWrite<OperatorSettings, string | null>(
    (signup) => ['/operator/settings', { method: 'PATCH', body: { signup } }],
    {
      done: 'Saved',
      changes: ['/operator/settings'],
    },
  )
  if (data === undefined) return <Loading />
  return (
    <Card title="Installation">
      <div className="max-w-md space-y-4">
        <Field
          hint={`Now: ${data.effective_signup === 'local' ? 'requests from this very machine' : data.effective_signup}.`}
          label="Who may sign up"
        >
          <Select onChange={(event) => save.mutate(event.target.value || null)} value={data.signup ?? ''}>
            {SIGNUP.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
        <Facts
          rows={[
            ['Version', data.version],
            ['Mail', data.mail ? 'is sent' : 'is not set up (SMTP_URL): hand links out yourself'],
          ]}
        />
      </div>
    </Card>
  )
}
