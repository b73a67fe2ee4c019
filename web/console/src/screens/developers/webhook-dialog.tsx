import { type FormEvent, useState } from 'react'
import { useRead, useWrite } from '../../data/queries.ts'
import type { Agent, Webhook, WebhookWithSecret } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { AgentOptions } from '../../ui/agent-options.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault, faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select, Switch } from '../../ui/field.tsx'
import { Loading } from '../../ui/layout.tsx'

interface WebhookDialogProps {
  /** Undefined: a new one. */
  webhook?: Webhook
  onClose: () => void
  onSaved: (webhook: Webhook | WebhookWithSecret) => void
}

/** A webhook, new or to be changed. */
export function WebhookDialog({ webhook, onClose, onSaved }: WebhookDialogProps) {
  const { data: agents } = useRead<Agent[]>('/agents')
  const [isAll, setAll] = useState(webhook?.types.includes('*') ?? true)
  const save = useWrite<Webhook | WebhookWithSecret, object>(
    (body) =>
      webhook
        ? [`/webhooks/${webhook.webhook_id}`, { method: 'PATCH', body }]
        : ['/webhooks', { method: 'POST', body }],
    { changes: ['/webhooks'], quiet: true, onDone: onSaved },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    save.mutate({
      url: String(form.get('url')).trim(),
      description: String(form.get('description')).trim(),
      agent_id: form.get('agent_id') || null,
      types: isAll ? ['*'] : form.getAll('types'),
    })
  }
  return (
    <Dialog onClose={onClose} open title={webhook ? t('Webhook') : t('New webhook')} wide>
      <form className="space-y-4" onSubmit={submit}>
        <Field
          fault={faultOf(save.error, 'url')}
          hint={t('http or https; private addresses are refused.')}
          label={t('Address')}
        >
          <Input
            defaultValue={webhook?.url}
            name="url"
            placeholder="https://example.com/patchbay"
            required
            type="url"
          />
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field fault={faultOf(save.error, 'description')} label={t('What it is for')}>
            <Input defaultValue={webhook?.description} maxLength={500} name="description" placeholder="CRM" />
          </Field>
          <Field fault={faultOf(save.error, 'agent_id')} label="Of">
            <Select defaultValue={webhook?.agent_id ?? ''} key={agents?.length} name="agent_id">
              <AgentOptions agents={agents} />
            </Select>
          </Field>
        </div>
        <Switch
          checked={isAll}
          hint={t('Types of events added later, too.')}
          label={t('Subscribed to everything')}
          onChange={setAll}
        />
        {!isAll && <Types fault={faultOf(save.error, 'types')} chosen={webhook?.types ?? []} />}
        <Fault error={save.error} />
        <DialogActions>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button busy={save.isPending} kind="primary" type="submit">
            {webhook ? t('Save') : t('Create webhook')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

interface Document {
  webhooks: Record<string, { post: { summary: string } }>
}

/** The events that a webhook may subscribe to, as the API itself lists them. */
function Types({ chosen, fault }: { chosen: readonly string[]; fault: string | undefined }) {
  const { data, error } = useRead<Document>('/openapi.json')
  if (error) return <Fault error={error} />
  if (data === undefined) return <Loading />
  const types = Object.entries(data.webhooks).filter(([type]) => type !== 'webhook.test')
  const isChosen = (type: string) => chosen.includes(type) || chosen.includes(`${type.split('.')[0]}.*`)
  return (
    <fieldset className="grid max-h-64 gap-x-4 gap-y-1.5 overflow-y-auto rounded-md border border-line p-3 sm:grid-cols-2">
      <legend className="px-1 text-sm font-medium">{t('Subscribed to')}</legend>
      {types.map(([type, { post }]) => (
        <label className="flex items-start gap-2 text-sm" key={type}>
          <input
            className="mt-0.5 size-4 shrink-0 accent-(--accent)"
            defaultChecked={isChosen(type)}
            name="types"
            type="checkbox"
            value={type}
          />
          <span>
            <code className="text-xs">{type}</code>
            <span className="block text-xs text-muted">{post.summary}</span>
          </span>
        </label>
      ))}
      {fault && <p className="text-xs text-bad">{fault}</p>}
    </fieldset>
  )
}
