import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { formatAgo, formatInstant, formatWord } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { User, Workspace } from '../data/types.ts'
import { t } from '../language/t.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { CopiedId } from '../ui/copied-id.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input } from '../ui/field.tsx'
import { Badge, Card, Facts, Loading, PageHead } from '../ui/layout.tsx'
import { Table } from '../ui/table.tsx'
import { browserOf } from './browser-of.ts'
import { Invitations } from './invitations.tsx'

interface SignedIn {
  session_id: string
  used_at: string
  created_at: string
  address: string
  user_agent: string
  is_current: boolean
}

/** The signed-in user: password, sessions, workspaces, and signing out. */
export function Screen() {
  const { user } = useSession()
  return (
    <>
      <PageHead lead={user.email} title={user.name} />
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <div className="space-y-4 empty:hidden xl:col-span-2">
          <Invitations />
        </div>
        <div className="min-w-0 space-y-4">
          <You />
          <Password />
        </div>
        <div className="min-w-0 space-y-4">
          <Sessions />
          <Workspaces />
          <DeleteAccount />
        </div>
      </div>
    </>
  )
}

function You() {
  const { user } = useSession()
  const save = useWrite<User, Record<string, string>>((body) => ['/auth/me', { method: 'PATCH', body }], {
    done: t('Saved'),
    changes: ['me'],
    quiet: true,
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    save.mutate(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>)
  }
  return (
    <Card title={t('You')}>
      <form className="mb-5 max-w-md space-y-4" onSubmit={submit}>
        <Field fault={faultOf(save.error, 'name')} label={t('Name')}>
          <Input autoComplete="name" defaultValue={user.name} maxLength={200} name="name" required />
        </Field>
        <Field
          fault={faultOf(save.error, 'phone_number')}
          hint={t('With country code, as +14155550123')}
          label={t('Phone number')}
        >
          <Input autoComplete="tel" defaultValue={user.phone_number} inputMode="tel" name="phone_number" required />
        </Field>
        <Fault error={save.error} />
        <Button busy={save.isPending} kind="primary" type="submit">
          {t('Save')}
        </Button>
      </form>
      <Facts
        rows={[
          [t('E-mail'), user.email],
          [t('Id'), <CopiedId id={user.id} key="id" />],
          [t('Since'), formatInstant(user.created_at)],
        ]}
      />
    </Card>
  )
}

function Password() {
  const change = useWrite<{ detail: string }, Record<string, string>>(
    (body) => ['/auth/password', { method: 'POST', body }],
    { done: t('Changed. Every other session ended.'), changes: ['/auth/sessions'], quiet: true },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    change.mutate(Object.fromEntries(new FormData(form)) as Record<string, string>, { onSuccess: () => form.reset() })
  }
  return (
    <Card title={t('Password')}>
      <form className="max-w-md space-y-4" onSubmit={submit}>
        <Field fault={faultOf(change.error, 'current_password')} label={t('Current password')}>
          <Input autoComplete="current-password" name="current_password" required type="password" />
        </Field>
        <Field
          fault={faultOf(change.error, 'new_password')}
          hint={t('At least 8 characters')}
          label={t('New password')}
        >
          <Input autoComplete="new-password" minLength={8} name="new_password" required type="password" />
        </Field>
        <Fault error={change.error} />
        <Button busy={change.isPending} kind="primary" type="submit">
          {t('Change password')}
        </Button>
      </form>
    </Card>
  )
}

function Sessions() {
  const { data: sessions, error } = useRead<SignedIn[]>('/auth/sessions')
  const [isAsked, setAsked] = useState(false)
  const end = useWrite<{ detail: string }, string>((id) => [`/auth/sessions/${id}`, { method: 'DELETE' }], {
    done: t('Ended'),
    changes: ['/auth/sessions'],
  })
  const endAll = useWrite(() => ['/auth/logout-everywhere', { method: 'POST' }], {
    onDone: () => location.assign('/console/'),
  })
  if (error) return <Fault error={error} />
  if (sessions === undefined) return <Loading />
  return (
    <Card
      actions={
        <Button onClick={() => setAsked(true)} size="sm">
          {t('Sign out everywhere')}
        </Button>
      }
      flush
      title={t('Where you are signed in')}
    >
      <Table
        columns={[
          {
            name: t('Browser'),
            cell: ({ user_agent, is_current }) => (
              <span className="flex items-center gap-2" title={user_agent}>
                <span className="truncate font-medium">{browserOf(user_agent)}</span>
                {is_current && <Badge tone="accent">{t('This one')}</Badge>}
              </span>
            ),
          },
          { name: t('From'), wide: true, cell: ({ address }) => address },
          {
            name: t('Last used'),
            align: 'end',
            cell: ({ used_at }) => <span className="text-muted">{formatAgo(used_at)}</span>,
          },
          {
            name: '',
            align: 'end',
            cell: ({ session_id, is_current, user_agent }) =>
              !is_current && (
                <Button
                  aria-label={t('End the session of {user_agent}', { user_agent: browserOf(user_agent) })}
                  onClick={() => end.mutate(session_id)}
                  size="sm"
                >
                  {t('End')}
                </Button>
              ),
          },
        ]}
        label={t('Sessions')}
        rowKey={({ session_id }) => session_id}
        rows={sessions}
      />
      <Confirm
        action={t('Sign out everywhere')}
        onClose={() => setAsked(false)}
        onConfirm={() => endAll.mutateAsync()}
        open={isAsked}
        title={t('Sign out everywhere?')}
      >
        {t('Every session ends, this one included.')}
      </Confirm>
    </Card>
  )
}

function Workspaces() {
  const { workspaces, workspace: current } = useSession()
  const queries = useQueryClient()
  const [left, setLeft] = useState<Workspace>()
  const [isNew, setNew] = useState(false)
  const changed = () => {
    void queries.invalidateQueries({ queryKey: ['workspaces'] })
    void queries.invalidateQueries({ queryKey: ['me'] })
  }
  const leave = useWrite(() => [`/workspaces/${left?.workspace_id}/leave`, { method: 'POST' }], {
    done: t('You left {name}', { name: left?.name }),
    onDone: changed,
  })
  const create = useWrite<Workspace, string>(
    (name) => ['/workspaces', { method: 'POST', body: { name, type: 'team' } }],
    {
      done: ({ name }) => t('{name} is created; choose it on the left to work in it', { name }),
      quiet: true,
      onDone: () => {
        changed()
        setNew(false)
      },
    },
  )
  return (
    <Card
      actions={
        <Button icon="plus" onClick={() => setNew(true)} size="sm">
          {t('New workspace')}
        </Button>
      }
      flush
      title={t('Your workspaces')}
    >
      <Table
        columns={[
          {
            name: t('Name'),
            cell: ({ name, workspace_id }) => (
              <span className="flex items-center gap-2">
                <span className="truncate font-medium">{name}</span>
                {workspace_id === current?.workspace_id && <Badge tone="accent">{t('Here')}</Badge>}
              </span>
            ),
          },
          { name: t('Your role'), cell: ({ role }) => formatWord(role) },
          {
            name: '',
            align: 'end',
            cell: (workspace) => (
              <Button
                aria-label={t('Leave {name}', { name: workspace.name })}
                onClick={() => setLeft(workspace)}
                size="sm"
              >
                {t('Leave')}
              </Button>
            ),
          },
        ]}
        label={t('Workspaces')}
        rowKey={({ workspace_id }) => workspace_id}
        rows={workspaces}
      />
      <Confirm
        action={t('Leave')}
        onClose={() => setLeft(undefined)}
        onConfirm={() => leave.mutateAsync()}
        open={left !== undefined}
        title={t('Leave {name}?', { name: left?.name })}
      >
        {t('You see nothing of it any more, until somebody invites you again.')}
      </Confirm>
      <Dialog onClose={() => setNew(false)} open={isNew} title={t('New workspace')}>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            create.mutate(String(new FormData(event.currentTarget).get('name')).trim())
          }}
        >
          <Field
            fault={faultOf(create.error, 'name')}
            hint={t('Agents, calls and numbers of a workspace are seen by its members alone.')}
            label={t('Name')}
          >
            <Input autoFocus name="name" required />
          </Field>
          <div className="mt-3 empty:hidden">
            <Fault error={create.error} />
          </div>
          <DialogActions>
            <Button onClick={() => setNew(false)}>{t('Cancel')}</Button>
            <Button busy={create.isPending} kind="primary" type="submit">
              {t('Create workspace')}
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </Card>
  )
}

function DeleteAccount() {
  const [isAsked, setAsked] = useState(false)
  const remove = useWrite<{ detail: string }, string>(
    (password) => ['/auth/delete-account', { method: 'POST', body: { password } }],
    { quiet: true, onDone: () => location.assign('/console/') },
  )
  return (
    <Card title={t('Delete your account')}>
      <p className="mb-3 text-sm text-muted text-pretty">
        {t('Workspaces without another member go with it, and everything in them.')}
      </p>
      <Button kind="danger" onClick={() => setAsked(true)}>
        {t('Delete account')}
      </Button>
      <Dialog
        lead={t('It can’t be undone: workspaces of yours alone are deleted with their agents, calls and recordings.')}
        onClose={() => setAsked(false)}
        open={isAsked}
        title={t('Delete your account?')}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault()
            remove.mutate(String(new FormData(event.currentTarget).get('password')))
          }}
        >
          <Field label={t('Password')}>
            <Input autoComplete="current-password" autoFocus name="password" required type="password" />
          </Field>
          <div className="mt-3 empty:hidden">
            <Fault error={remove.error} />
          </div>
          <DialogActions>
            <Button onClick={() => setAsked(false)}>{t('Cancel')}</Button>
            <Button busy={remove.isPending} kind="danger" type="submit">
              {t('Delete for good')}
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </Card>
  )
}
