import { type FormEvent, useState } from 'react'
import { formatAgo, formatInstant } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import type { ApiKey } from '../data/types.ts'
import { t } from '../language/t.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input } from '../ui/field.tsx'
import { Notice } from '../ui/layout.tsx'
import { ListCard } from '../ui/list-page.tsx'
import { ShownOnce } from '../ui/shown-once.tsx'

/** What a key may be allowed to do. */
export const SCOPES = [
  ['read', t('Read agents, calls, batches, chats, reports')],
  ['calls', t('Place calls, open web sessions, chat')],
  ['agents', t('Change agents and documents')],
  ['batches', t('Change batches')],
  ['numbers', t('Change numbers and trunks')],
  ['campaigns', t('Change campaigns')],
] as const

export function ApiKeys() {
  const list = useRead<ApiKey[]>('/api-keys')
  const [isNew, setNew] = useState(false)
  const [shown, setShown] = useState<string>()
  const [removed, setRemoved] = useState<ApiKey>()
  const remove = useWrite(() => [`/api-keys/${removed?.id}`, { method: 'DELETE' }], {
    done: t('Revoked'),
    changes: ['/api-keys'],
  })
  const add = (
    <Button icon="plus" kind="primary" onClick={() => setNew(true)}>
      {t('New key')}
    </Button>
  )
  return (
    <>
      <ListCard
        add={add}
        columns={[
          { name: t('Name'), cell: ({ name }) => <span className="font-medium">{name}</span> },
          { name: t('Key'), wide: true, cell: ({ prefix }) => <code className="text-xs">{prefix}…</code> },
          { name: t('Scopes'), cell: ({ scopes }) => scopes.join(', ') },
          { name: t('Last used'), align: 'end', wide: true, cell: ({ last_used_at }) => formatAgo(last_used_at) },
          { name: t('Expires'), align: 'end', wide: true, cell: ({ expires_at }) => formatInstant(expires_at) },
          {
            name: '',
            align: 'end',
            cell: (key) => (
              <Button
                aria-label={t('Revoke {name}', { name: key.name })}
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
          title: t('No API keys'),
          children: t('A key lets a server of yours use the API as a Developer of this workspace, within its scopes.'),
        }}
        label={t('API keys')}
        list={list}
        rowKey={({ id }) => id}
        title={() => t('API keys')}
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
        lead={t('It is shown this once. Keep it where only your server reads it.')}
        onClose={() => setShown(undefined)}
        secret={shown}
        title={t('Your new key')}
      />
      <Confirm
        action={t('Revoke')}
        onClose={() => setRemoved(undefined)}
        onConfirm={() => remove.mutateAsync()}
        open={removed !== undefined}
        title={t('Revoke {name}?', { name: removed?.name })}
      >
        {t('Requests with it are refused from now on.')}
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
    <Dialog onClose={onClose} open title={t('New API key')}>
      <form className="space-y-4" onSubmit={submit}>
        <Field fault={faultOf(create.error, 'name')} label={t('Name')}>
          <Input name="name" placeholder="CRM" required />
        </Field>
        <fieldset>
          <legend className="mb-1 text-sm font-medium">{t('It may')}</legend>
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
        <Field fault={faultOf(create.error, 'expires_at')} hint={t('Empty: never.')} label={t('Expires')}>
          <Input name="expires_at" type="date" />
        </Field>
        <Notice tone="accent">{t('The key is shown once, after this.')}</Notice>
        <Fault error={create.error} />
        <DialogActions>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button busy={create.isPending} kind="primary" type="submit">
            {t('Create key')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
