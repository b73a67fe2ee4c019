import { type FormEvent, type MouseEvent, useState } from 'react'
import { formatAgo, formatWord } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Invitation, Member, Retention, Role } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Card, Loading } from '../../ui/layout.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { TabbedPage } from '../../ui/tabbed-page.tsx'
import { Table } from '../../ui/table.tsx'
import { OwnKeys } from '../keys/own-keys.tsx'
import { AuditLog } from './audit-log.tsx'
import { DoNotCall } from './do-not-call.tsx'
import { General } from './general.tsx'

const ROLES: readonly Role[] = ['member', 'developer', 'admin']

/** Who works here, with which keys, what is kept how long, who did what. */
export function Screen() {
  const { workspace, may } = useSession()
  const tabs = [
    ['members', t('Members'), <Members key="members" />] as const,
    ...(workspace ? [['general', t('General'), <General key="general" workspace={workspace} />] as const] : []),
    ['do-not-call', t('Do not call'), <DoNotCall key="dnc" />] as const,
    ...(may('admin')
      ? [
          ['keys', t('Provider keys'), <OwnKeys key="keys" />] as const,
          ['retention', t('Retention'), <Keeping key="retention" />] as const,
          ['audit', t('Audit log'), <AuditLog key="audit" path="/audit-log" />] as const,
        ]
      : []),
  ]
  return (
    <TabbedPage
      lead={t('Who works here, and what is kept.')}
      path="/workspace"
      tabs={tabs}
      title={workspace?.name ?? t('Workspace')}
    />
  )
}

function Members() {
  const { workspace, may, user } = useSession()
  const path = `/workspaces/${workspace?.workspace_id}`
  const { data: members, error } = useRead<Member[]>(`${path}/members`)
  const { data: invitations } = useRead<Invitation[]>(`${path}/invitations`, { enabled: may('admin') })
  const [removed, setRemoved] = useState<Member>()
  const changes = [path]
  const invite = useWrite<{ detail: string }, Record<string, string>>(
    (body) => [`${path}/invite`, { method: 'POST', body }],
    {
      done: ({ detail }) => detail,
      changes,
      quiet: true,
    },
  )
  const [link, setLink] = useState<string>()
  const createLink = useWrite<{ link: string }, Role>(
    (role) => [`${path}/invitation-links`, { method: 'POST', body: { role } }],
    { onDone: (created) => setLink(created.link), changes, quiet: true },
  )
  const change = useWrite<{ detail: string }, Member>(
    ({ user_id, role }) => [`${path}/members/${user_id}`, { method: 'PATCH', body: { role } }],
    { done: t('Saved'), changes },
  )
  const remove = useWrite(() => [`${path}/members/${removed?.user_id}`, { method: 'DELETE' }], {
    done: t('Removed'),
    changes,
  })
  const withdraw = useWrite<{ detail: string }, string>((id) => [`${path}/invitations/${id}`, { method: 'DELETE' }], {
    done: t('Withdrawn'),
    changes,
  })
  if (error) return <Fault error={error} />
  if (members === undefined) return <Loading />
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    invite.mutate(Object.fromEntries(new FormData(form)) as Record<string, string>, { onSuccess: () => form.reset() })
  }
  const linkFor = ({ currentTarget: { form } }: MouseEvent<HTMLButtonElement>) => {
    if (form) createLink.mutate(new FormData(form).get('role') as Role)
  }
  return (
    <div className="space-y-4">
      {may('admin') && (
        <Card title={t('Invite somebody')}>
          <form className="grid items-end gap-3 sm:grid-cols-[minmax(0,1fr)_16rem_auto]" onSubmit={submit}>
            <Field label={t('E-mail')}>
              <Input name="email" required type="email" />
            </Field>
            <Field label={t('Role')}>
              <Select defaultValue="member" name="role">
                <option value="member">{t('Member: listens and calls')}</option>
                <option value="developer">{t('Developer: creates agents')}</option>
                <option value="admin">{t('Admin: everything')}</option>
              </Select>
            </Field>
            <span className="flex gap-2">
              <Button busy={invite.isPending} kind="primary" type="submit">
                {t('Invite')}
              </Button>
              <Button busy={createLink.isPending} onClick={linkFor}>
                {t('Create a link')}
              </Button>
            </span>
          </form>
          <p className="mt-2 text-sm text-muted">
            {t('Inviting adds somebody who has an account here. For anybody else, create a link: they sign up by it.')}
          </p>
          <div className="mt-3 empty:hidden">
            <Fault error={invite.error ?? createLink.error} />
          </div>
          <ShownOnce
            lead={t('It works once, within a week. Hand it to the person yourself.')}
            onClose={() => setLink(undefined)}
            secret={link}
            title={t('Invitation link')}
          />
        </Card>
      )}
      <Card flush title={members.length === 1 ? t('1 member') : t('{length} members', { length: members.length })}>
        <Table
          columns={[
            {
              name: t('Name'),
              cell: ({ name, email }) => (
                <>
                  <span className="font-medium">{name}</span> <span className="text-muted">{email}</span>
                </>
              ),
            },
            {
              name: t('Role'),
              cell: (member) =>
                may('admin') && member.user_id !== user.id ? (
                  <Select
                    aria-label={t('Role of {name}', { name: member.name })}
                    className="h-8! w-32!"
                    onChange={(event) => change.mutate({ ...member, role: event.target.value as Role })}
                    value={member.role}
                  >
                    {ROLES.map((role) => (
                      <option key={role} value={role}>
                        {formatWord(role)}
                      </option>
                    ))}
                  </Select>
                ) : (
                  formatWord(member.role)
                ),
            },
            {
              name: t('Since'),
              align: 'end',
              wide: true,
              cell: ({ joined_at }) => <span className="text-muted">{formatAgo(joined_at)}</span>,
            },
            ...(may('admin') && members.length > 1
              ? [
                  {
                    name: '',
                    align: 'end' as const,
                    cell: (member: Member) =>
                      member.user_id !== user.id && (
                        <Button
                          aria-label={t('Remove {name}', { name: member.name })}
                          icon="trash"
                          kind="quiet"
                          onClick={() => setRemoved(member)}
                          size="sm"
                        />
                      ),
                  },
                ]
              : []),
          ]}
          label={t('Members')}
          rowKey={({ user_id }) => user_id}
          rows={members}
        />
      </Card>
      {invitations && invitations.length > 0 && (
        <Card flush title={t('Invited, not here yet')}>
          <Table
            columns={[
              { name: t('E-mail'), cell: ({ email }) => (email === '' ? t('Anyone with the link') : email) },
              { name: t('Role'), cell: ({ role }) => formatWord(role) },
              { name: t('Invited'), align: 'end', wide: true, cell: ({ created_at }) => formatAgo(created_at) },
              {
                name: '',
                align: 'end',
                cell: ({ invitation_id }) => (
                  <Button onClick={() => withdraw.mutate(invitation_id)} size="sm">
                    {t('Withdraw')}
                  </Button>
                ),
              },
            ]}
            label={t('Invitations')}
            rowKey={({ invitation_id }) => invitation_id}
            rows={invitations}
          />
        </Card>
      )}
      <Confirm
        action={t('Remove')}
        onClose={() => setRemoved(undefined)}
        onConfirm={() => remove.mutateAsync()}
        open={removed !== undefined}
        title={t('Remove {name}?', { name: removed?.name })}
      >
        {t('They lose access to this workspace. What they created stays.')}
      </Confirm>
    </div>
  )
}

const KEPT = [
  ['recordings_days', t('Recordings')],
  ['transcripts_days', t('Transcripts and numbers of calls')],
  ['chats_days', t('Chats')],
  ['logs_days', t('Call logs')],
] as const

function Keeping() {
  const { workspace } = useSession()
  const path = `/workspaces/${workspace?.workspace_id}/retention`
  const { data } = useRead<Retention>(path)
  const save = useWrite<Retention, Retention>((body) => [path, { method: 'PATCH', body }], {
    done: t('Saved'),
    changes: [path],
    quiet: true,
  })
  if (data === undefined) return <Loading />
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as Record<keyof Retention, string>
    save.mutate(
      Object.fromEntries(KEPT.map(([name]) => [name, fields[name] === '' ? null : Number(fields[name])])) as Retention,
    )
  }
  return (
    <Card title={t('How long things are kept')}>
      <form className="max-w-md space-y-4" onSubmit={submit}>
        {KEPT.map(([name, label]) => (
          <Field hint={t('Days. Empty: forever.')} key={name} label={label}>
            <Input defaultValue={data[name] ?? ''} min={1} name={name} type="number" />
          </Field>
        ))}
        <Fault error={save.error} />
        <Button busy={save.isPending} kind="primary" type="submit">
          {t('Save')}
        </Button>
      </form>
    </Card>
  )
}
