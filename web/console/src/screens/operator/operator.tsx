import { type FormEvent, useState } from 'react'

import { formatCount, formatInner, formatUsd } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import type { OperatedUser, OperatedWorkspace, OperatorSettings, Page } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault, faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Badge, Card, Facts, Loading } from '../../ui/layout.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { TabbedPage } from '../../ui/tabbed-page.tsx'
import { Table } from '../../ui/table.tsx'
import { AuditLog } from '../workspace/audit-log.tsx'
import { MaintenanceCard } from './maintenance.tsx'

import { Providers } from './providers.tsx'
import { SecurityLog } from './security-log.tsx'
import { Workers } from './workers.tsx'

/** The installation as its operators see it. */
export function Screen() {
  return (
    <TabbedPage
      lead={t('The whole installation: only those who run it see this.')}
      path="/operator"
      tabs={[
        ['workers', t('Workers'), <Workers key="workers" />],
        ['workspaces', t('Workspaces'), <Workspaces key="workspaces" />],
        ['users', t('Users'), <Users key="users" />],
        ['providers', t('Providers'), <Providers key="providers" />],
        [
          'settings',
          t('Settings'),
          <div className="space-y-4" key="settings">
            <Settings />
            <MaintenanceCard />
          </div>,
        ],
        ['audit', t('Audit log'), <AuditLog key="audit" path="/operator/audit-log" />],
        ['security', t('Security log'), <SecurityLog key="security" />],
      ]}
      title={t('Operator')}
    />
  )
}

function Workspaces() {
  const { data, error } = useRead<Page<OperatedWorkspace>>('/operator/workspaces', { query: { page_size: 200 } })
  const [edited, setEdited] = useState<OperatedWorkspace>()
  if (error) return <Fault error={error} />
  if (data === undefined) return <Loading />
  return (
    <>
      <Card flush title={data.total === 1 ? t('1 workspace') : t('{n} workspaces', { n: formatCount(data.total) })}>
        <Table
          columns={[
            { name: t('Workspace'), cell: ({ name }) => <span className="font-medium">{name}</span> },
            {
              name: t('State'),
              cell: ({ suspended_at, suspended_reason }) =>
                suspended_at ? (
                  <span title={suspended_reason ?? ''}>
                    <Badge tone="bad">{t('Suspended')}</Badge>
                  </span>
                ) : (
                  <Badge tone="good">{t('Active')}</Badge>
                ),
            },
            { name: t('Members'), align: 'end', wide: true, cell: ({ members }) => formatCount(members) },
            { name: t('Agents'), align: 'end', wide: true, cell: ({ use }) => formatCount(use.agents) },
            { name: t('Calls now'), align: 'end', wide: true, cell: ({ use }) => formatCount(use.calls_now) },
            {
              name: t('Minutes this month'),
              align: 'end',
              wide: true,
              cell: ({ use }) => formatCount(Math.round(use.minutes_this_month)),
            },
            {
              name: t('Cost this month'),
              align: 'end',
              wide: true,
              cell: ({ use }) => formatUsd(use.cost_usd_this_month),
            },
            {
              name: '',
              align: 'end',
              cell: (workspace) => (
                <Button
                  aria-label={t('Manage {name}', { name: workspace.name })}
                  onClick={() => setEdited(workspace)}
                  size="sm"
                >
                  {t('Manage')}
                </Button>
              ),
            },
          ]}
          label={t('Workspaces')}
          rowKey={({ workspace_id }) => workspace_id}
          rows={data.items}
        />
      </Card>
      {edited && <Manage onClose={() => setEdited(undefined)} workspace={edited} />}
    </>
  )
}

const QUOTAS = [
  ['calls_at_once', t('Calls at once')],
  ['web_sessions_at_once', t('Web sessions at once')],
  ['agents', t('Agents')],
  ['documents', t('Documents')],
  ['minutes_a_month', t('Minutes a month')],
  ['cost_usd_a_month', t('Dollars a month')],
  ['bought_numbers', t('Bought numbers')],
] as const

function Manage({ workspace, onClose }: { workspace: OperatedWorkspace; onClose: () => void }) {
  const path = `/operator/workspaces/${workspace.workspace_id}`
  const options = { changes: ['/operator/workspaces'], quiet: true, onDone: onClose }
  const save = useWrite<OperatedWorkspace, object>((body) => [path, { method: 'PATCH', body }], {
    ...options,
    done: t('Saved'),
  })
  const suspend = useWrite<{ detail: string }, string>(
    (reason) => [`${path}/suspend`, { method: 'POST', body: { reason, end_calls: false } }],
    { ...options, done: t('Suspended. Running calls end by themselves.') },
  )
  const resume = useWrite(() => [`${path}/resume`, { method: 'POST' }], { ...options, done: t('Active again') })
  const [reason, setReason] = useState('')
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>
    const quotas = QUOTAS.map(([name]) => [name, fields[name] === '' ? null : Number(fields[name])])
    save.mutate({
      ...Object.fromEntries(quotas),
      purchases: fields.purchases === 'on',
      own_keys: fields.own_keys === 'on',
    })
  }
  return (
    <Dialog lead={t('Empty: no limit.')} onClose={onClose} open title={workspace.name}>
      <form className="space-y-4" onSubmit={submit}>
        <div className="grid grid-cols-2 gap-4">
          {QUOTAS.map(([name, label]) => (
            <Field fault={faultOf(save.error, name)} key={name} label={label}>
              <Input defaultValue={workspace.quotas[name] ?? ''} min={0} name={name} type="number" />
            </Field>
          ))}
        </div>
        <label className="flex items-center gap-2">
          <input defaultChecked={workspace.quotas.purchases} name="purchases" type="checkbox" />
          {t('May buy phone numbers')}
        </label>
        <label className="flex items-center gap-2">
          <input defaultChecked={workspace.quotas.own_keys} name="own_keys" type="checkbox" />
          {t('May use keys of its own accounts at providers')}
        </label>
        <Fault error={save.error} />
        <DialogActions>
          <Button busy={save.isPending} kind="primary" type="submit">
            {t('Save limits')}
          </Button>
        </DialogActions>
      </form>
      <div className="mt-5 border-t border-line pt-4">
        {workspace.suspended_at ? (
          <Button busy={resume.isPending} onClick={() => resume.mutate()}>
            {t('Let it work again')}
          </Button>
        ) : (
          <div className="flex items-end gap-2">
            <Field
              className="flex-1"
              hint={t('Its members see it. Nothing can be changed or called; reading stays.')}
              label={t('Suspend, because')}
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
              {t('Suspend')}
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
      <Card title={t('Invite somebody to this installation')}>
        <form
          className="flex gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            invite.mutate(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>)
          }}
        >
          <Input aria-label={t('E-mail')} name="email" placeholder="grace@example.com" required type="email" />
          <Button busy={invite.isPending} kind="primary" type="submit">
            {t('Create a link')}
          </Button>
        </form>
        <div className="mt-3 empty:hidden">
          <Fault error={invite.error} />
        </div>
      </Card>
      <Card flush title={data.total === 1 ? t('1 user') : t('{n} users', { n: formatCount(data.total) })}>
        <Table
          columns={[
            {
              name: t('User'),
              cell: ({ name, email }) => (
                <>
                  <span className="font-medium">{name}</span> <span className="text-muted">{email}</span>
                </>
              ),
            },
            {
              name: t('Runs the installation'),
              wide: true,
              cell: ({ is_operator }) => (is_operator ? <Badge tone="accent">{t('Operator')}</Badge> : ''),
            },
            {
              name: '',
              align: 'end',
              cell: ({ user_id, name }) => (
                <Button
                  aria-label={t('Password link for {name}', { name })}
                  onClick={() => reset.mutate(user_id)}
                  size="sm"
                >
                  {t('Password link')}
                </Button>
              ),
            },
          ]}
          label={t('Users')}
          rowKey={({ user_id }) => user_id}
          rows={data.items}
        />
      </Card>
      <ShownOnce
        lead={t('It works once. Hand it to them yourself.')}
        onClose={() => setLink(undefined)}
        secret={link}
        title={t('The link')}
      />
    </div>
  )
}

const SIGNUP = [
  ['', t('As the configuration says (PATCHBAY_SIGNUP)')],
  ['open', t('Everybody who reaches it')],
  ['invitation', t('Who has an invitation')],
  ['closed', t('Nobody')],
] as const

function Settings() {
  const { data } = useRead<OperatorSettings>('/operator/settings')
  const save = useWrite<OperatorSettings, string | null>(
    (signup) => ['/operator/settings', { method: 'PATCH', body: { signup } }],
    {
      done: t('Saved'),
      changes: ['/operator/settings'],
    },
  )
  if (data === undefined) return <Loading />
  return (
    <Card title={t('Installation')}>
      <div className="max-w-md space-y-4">
        <Field
          hint={t('Now: {who}.', {
            who:
              data.effective_signup === 'local'
                ? t('requests from this very machine')
                : formatInner(data.effective_signup),
          })}
          label={t('Who may sign up')}
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
            [t('Version'), `${data.version} (${data.commit})`],
            [t('Mail'), data.mail ? t('is sent') : t('is not set up (SMTP_URL): hand links out yourself')],
          ]}
        />
      </div>
    </Card>
  )
}
