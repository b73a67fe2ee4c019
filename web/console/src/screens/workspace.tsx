import { type FormEvent, useState } from 'react'
import { formatAgo, formatDayTime } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { AuditEntry, Invitation, Member, Retention, Role } from '../data/types.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Fault } from '../ui/fault.tsx'
import { Field, Input, Select } from '../ui/field.tsx'
import { Card, Empty, Loading } from '../ui/layout.tsx'
import { TabbedPage } from '../ui/tabbed-page.tsx'
import { Table } from '../ui/table.tsx'
import { VirtualList } from '../ui/virtual-list.tsx'
import { DoNotCall } from './do-not-call.tsx'

const ROLES: readonly Role[] = ['member', 'developer', 'admin']

/** Who works here, with which keys, what is kept how long, who did what. */
export function Screen() {
  const { workspace, may } = useSession()
  const tabs = [
    ['members', 'Members', <Members key="members" />] as const,
    ['do-not-call', 'Do not call', <DoNotCall key="dnc" />] as const,
    ...(may('admin')
      ? [
          ['retention', 'Retention', <Keeping key="retention" />] as const,
          ['audit', 'Audit log', <Audit key="audit" path="/audit-log" />] as const,
        ]
      : []),
  ]
  return (
    <TabbedPage
      lead="Who works here, and what is kept."
      path="/workspace"
      tabs={tabs}
      title={workspace?.name ?? 'Workspace'}
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
  const change = useWrite<{ detail: string }, Member>(
    ({ user_id, role }) => [`${path}/members/${user_id}`, { method: 'PATCH', body: { role } }],
    { done: 'Saved', changes },
  )
  const remove = useWrite(() => [`${path}/members/${removed?.user_id}`, { method: 'DELETE' }], {
    done: 'Removed',
    changes,
  })
  const withdraw = useWrite<{ detail: string }, string>((id) => [`${path}/invitations/${id}`, { method: 'DELETE' }], {
    done: 'Withdrawn',
    changes,
  })
  if (error) return <Fault error={error} />
  if (members === undefined) return <Loading />
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    invite.mutate(Object.fromEntries(new FormData(form)) as Record<string, string>, { onSuccess: () => form.reset() })
  }
  return (
    <div className="space-y-4">
      {may('admin') && (
        <Card title="Invite somebody">
          <form className="grid items-end gap-3 sm:grid-cols-[minmax(0,1fr)_12rem_auto]" onSubmit={submit}>
            <Field label="E-mail">
              <Input name="email" required type="email" />
            </Field>
            <Field label="Role">
              <Select defaultValue="member" name="role">
                <option value="member">Member: listens and calls</option>
                <option value="developer">Developer: makes agents</option>
                <option value="admin">Admin: everything</option>
              </Select>
            </Field>
            <Button busy={invite.isPending} kind="primary" type="submit">
              Invite
            </Button>
          </form>
          <div className="mt-3 empty:hidden">
            <Fault error={invite.error} />
          </div>
        </Card>
      )}
      <Card flush title={members.length === 1 ? '1 member' : `${members.length} members`}>
        <Table
          columns={[
            {
              name: 'Name',
              cell: ({ name, email }) => (
                <>
                  <span className="font-medium">{name}</span> <span className="text-muted">{email}</span>
                </>
              ),
            },
            {
              name: 'Role',
              cell: (member) =>
                may('admin') && member.user_id !== user.id ? (
                  <Select
                    aria-label={`Role of ${member.name}`}
                    className="h-8! w-32!"
                    onChange={(event) => change.mutate({ ...member, role: event.target.value as Role })}
                    value={member.role}
                  >
                    {ROLES.map((role) => (
                      <option className="capitalize" key={role} value={role}>
                        {role.charAt(0).toUpperCase() + role.slice(1)}
                      </option>
                    ))}
                  </Select>
                ) : (
                  <span className="capitalize">{member.role}</span>
                ),
            },
            {
              name: 'Since',
              align: 'end',
              wide: true,
              cell: ({ joined_at }) => <span className="text-muted">{formatAgo(joined_at)}</span>,
            },
            ...(may('admin')
              ? [
                  {
                    name: '',
                    align: 'end' as const,
                    cell: (member: Member) =>
                      member.user_id !== user.id && (
                        <Button
                          aria-label={`Remove ${member.name}`}
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
          label="Members"
          rowKey={({ user_id }) => user_id}
          rows={members}
        />
      </Card>
      {invitations && invitations.length > 0 && (
        <Card flush title="Invited, not here yet">
          <Table
            columns={[
              { name: 'E-mail', cell: ({ email }) => email },
              { name: 'Role', cell: ({ role }) => <span className="capitalize">{role}</span> },
              { name: 'Invited', align: 'end', wide: true, cell: ({ created_at }) => formatAgo(created_at) },
              {
                name: '',
                align: 'end',
                cell: ({ invitation_id }) => (
                  <Button onClick={() => withdraw.mutate(invitation_id)} size="sm">
                    Withdraw
                  </Button>
                ),
              },
            ]}
            label="Invitations"
            rowKey={({ invitation_id }) => invitation_id}
            rows={invitations}
          />
        </Card>
      )}
      <Confirm
        action="Remove"
        onClose={() => setRemoved(undefined)}
        onConfirm={() => remove.mutateAsync()}
        open={removed !== undefined}
        title={`Remove ${removed?.name}?`}
      >
        They see nothing of this workspace any more. What they made stays.
      </Confirm>
    </div>
  )
}

const KEPT = [
  ['recordings_days', 'Recordings'],
  ['transcripts_days', 'Transcripts and numbers of calls'],
  ['chats_days', 'Chats'],
  ['logs_days', 'Call logs'],
] as const

function Keeping() {
  const { workspace } = useSession()
  const path = `/workspaces/${workspace?.workspace_id}/retention`
  const { data } = useRead<Retention>(path)
  const save = useWrite<Retention, Retention>((body) => [path, { method: 'PATCH', body }], {
    done: 'Saved',
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
    <Card title="How long things are kept">
      <form className="max-w-md space-y-4" onSubmit={submit}>
        {KEPT.map(([name, label]) => (
          <Field hint="Days. Empty: forever." key={name} label={label}>
            <Input defaultValue={data[name] ?? ''} min={1} name={name} type="number" />
          </Field>
        ))}
        <Fault error={save.error} />
        <Button busy={save.isPending} kind="primary" type="submit">
          Save
        </Button>
      </form>
    </Card>
  )
}

/** Who did what, newest first. */
export function Audit({ path }: { path: string }) {
  return (
    <Card flush>
      <VirtualList<AuditEntry>
        empty={
          <Empty icon="operator" title="Nothing yet">
            Every change appears here, with who made it and from where.
          </Empty>
        }
        label="Audit log"
        path={path}
        row={({ at, actor, action, resource, address }) => (
          <div
            className="grid h-full grid-cols-[minmax(0,1fr)_auto] content-center items-center gap-x-3 px-4 text-sm md:grid-cols-[minmax(0,1fr)_minmax(0,2fr)_8rem]"
            title={`${resource} from ${address}`}
          >
            <span
              className="truncate text-xs text-muted md:order-none md:text-sm md:font-medium md:text-ink"
              title={actor.kind}
            >
              {actor.name}
            </span>
            <span className="text-right text-xs whitespace-nowrap text-muted md:order-last md:text-sm">
              {formatDayTime(at)}
            </span>
            <span className="col-span-2 truncate font-mono text-xs md:col-span-1">{action}</span>
          </div>
        )}
        rowKey={({ id }) => id}
      />
    </Card>
  )
}
