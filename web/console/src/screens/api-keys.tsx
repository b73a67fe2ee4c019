import { type FormEvent, useState } from 'react'
import { formatAgo, formatInstant } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import type { ApiKey } from '../data/types.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input } from '../ui/field.tsx'
import { Notice } from '../ui/layout.tsx'
import { ListCard } from '../ui/list-page.tsx'
import { ShownOnce } from '../ui/shown-once.tsx'

const SCOPES = [
  ['read', 'Read agents, calls, batches, chats, reports'],
  ['calls', 'Place calls, open web sessions, chat'],
  ['agents', 'Change agents and documents'],
  ['batches', 'Change batches'],
  ['numbers', 'Change numbers and trunks'],
  ['campaigns', 'Change campaigns'],
] as const

export function ApiKeys() {
  const list = useRead<ApiKey[]>('/api-keys')
  const [isNew, setNew] = useState(false)
  const [shown, setShown] = useState<string>()
  const [removed, setRemoved] = useState<ApiKey>()
  const remove = useWrite(() => [`/api-keys/${removed?.id}`, { method: 'DELETE' }], {
    done: 'Revoked',
    changes: ['/api-keys'],
  })
  const add = (
    <Button icon="plus" kind="primary" onClick={() => setNew(true)}>
      New key
    </Button>
  )
  return (
    <>
      <ListCard
        add={add}
        columns={[
          { name: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span> },
          { name: 'Key', wide: true, cell: ({ prefix }) => <code className="text-xs">{prefix}…</code> },
          { name: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
          { name: 'Last used', align: 'end', wide: true, cell: ({ last_used_at }) => formatAgo(last_used_at) },
          { name: 'Expires', align: 'end', wide: true, cell: ({ expires_at }) => formatInstant(expires_at) },
          {
            name: '',
            align: 'end',
            cell: (key) => (
              <Button
                aria-label={`Revoke ${key.name}`}
                icon="trash"
                kind="quiet"
                onClick={() => setRemoved(key)}
                size="sm"
              />
            ),
          },
        ]}
        empty={{
          icon: 'developers',
          title: 'No API keys',
          children: 'A key lets a server of yours use the API as a Developer of this workspace, within its scopes.',
        }}
        label="API keys"
        list={list}
        rowKey={({ id }) => id}
        title={() => 'API keys'}
      />
      {isNew && (
        <NewKey
          onClose={() => setNew(false)}
          onMade={(key) => {
            setNew(false)
            setShown(key)
          }}
        />
      )}
      <ShownOnce
        lead="It is shown this once. Keep it where only your server reads it."
        onClose={() => setShown(undefined)}
        secret={shown}
        title="Your new key"
      />
      <Confirm
        action="Revoke"
        onClose={() => setRemoved(undefined)}
        onConfirm={() => remove.mutateAsync()}
        open={removed !== undefined}
        title={`Revoke ${removed?.name}?`}
      >
        Whoever uses it is refused from now on.
      </Confirm>
    </>
  )
}

function NewKey({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const create = useWrite<{ key: string }, object>((body) => ['/api-keys', { method: 'POST', body }], {
    changes: ['/api-keys'],
    quiet: true,
    onDone: ({ key }) => onMade(key),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const expires = String(form.get('expires_at') ?? '')
    create.mutate({
      name: form.get('name'),
      scopes: form.getAll('scopes'),
      ...(expires ? { expires_at: new Date(expires).toISOString() } : {}),
    })
  }
  return (
    <Dialog onClose={onClose} open title="New API key">
      <form className="space-y-4" onSubmit={submit}>
        <Field fault={faultOf(create.error, 'name')} label="Name">
          <Input name="name" placeholder="CRM" required />
        </Field>
        <fieldset>
          <legend className="mb-1 text-sm font-medium">It may</legend>
          <div className="space-y-1.5">
            {SCOPES.map(([scope, does], at) => (
              <label className="flex items-center gap-2 text-sm" key={scope}>
                <input
                  className="size-4 accent-(--accent)"
                  defaultChecked={at < 2}
                  name="scopes"
                  type="checkbox"
                  value={scope}
                />
                {does}
              </label>
            ))}
          </div>
        </fieldset>
        <Field fault={faultOf(create.error, 'expires_at')} hint="Empty: never." label="Expires">
          <Input name="expires_at" type="date" />
        </Field>
        <Notice tone="accent">The key is shown once, after this.</Notice>
        <Fault error={create.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button busy={create.isPending} kind="primary" type="submit">
            Make key
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
