import type { FormEvent } from 'react'
import { useRead, useWrite } from '../../data/queries.ts'
import type { Agent, Campaign, PhoneNumber } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault, faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Steps } from './wizard.tsx'

interface CampaignDialogProps {
  /** Undefined: a new one. */
  campaign?: Campaign
  onClose: () => void
  onSaved: (campaign: Campaign) => void
}

/** A campaign, new or to be changed. */
export function CampaignDialog({ campaign, onClose, onSaved }: CampaignDialogProps) {
  const { data: agents } = useRead<Agent[]>('/agents')
  const { data: numbers } = useRead<PhoneNumber[]>('/phone-numbers')
  const save = useWrite<Campaign, object>(
    (body) =>
      campaign
        ? [`/api/v/campaign/${campaign.slug}/`, { method: 'PATCH', body }]
        : ['/api/v/campaign/', { method: 'POST', body: { ...body, paused: true } }],
    { changes: ['/api/v/campaign'], quiet: true, onDone: onSaved },
  )
  const fault = (field: string) => faultOf(save.error, field)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const budget = String(form.get('budget'))
    save.mutate({
      name: form.get('name'),
      agent_id: form.get('agent_id') || null,
      from_numbers: form.getAll('from_numbers').filter(Boolean),
      earliest_prospect_time: `${String(form.get('earliest')).slice(0, 5)}:00`,
      latest_prospect_time: `${String(form.get('latest')).slice(0, 5)}:00`,
      max_active_calls: Number(form.get('max_active_calls')),
      max_number_calls: Number(form.get('max_number_calls')),
      budget: budget === '' ? null : Number(budget),
      consent_required: form.get('consent_required') === 'on',
    })
  }
  // Drawn later, a choice would lose what was chosen.
  if (agents === undefined || numbers === undefined) return null
  return (
    <Dialog
      lead={campaign ? undefined : t('It begins paused: nobody is called before you start it.')}
      onClose={onClose}
      open
      title={campaign ? t('Settings of {name}', { name: campaign.name }) : t('New campaign')}
    >
      {!campaign && <Steps at="settings" />}
      <form className="space-y-4" onSubmit={submit}>
        <Field fault={fault('name')} label={t('Name')}>
          <Input defaultValue={campaign?.name} name="name" placeholder={t('Spring appointments')} required />
        </Field>
        <Field fault={fault('agent_id')} label={t('Agent')}>
          <Select defaultValue={campaign?.agent_id ?? undefined} name="agent_id" required>
            {agents.map(({ agent_id, agent_name }) => (
              <option key={agent_id} value={agent_id}>
                {agent_name}
              </option>
            ))}
          </Select>
        </Field>
        <Field
          fault={fault('from_numbers')}
          hint={
            numbers.length === 0 ? t('There is none yet: register one under Numbers.') : t('All: those of the agent.')
          }
          label={t('Call from')}
        >
          <Select defaultValue={campaign?.from_numbers[0] ?? ''} name="from_numbers">
            <option value="">{t('All numbers of the agent')}</option>
            {numbers.map(({ phone_number }) => (
              <option key={phone_number}>{phone_number}</option>
            ))}
          </Select>
        </Field>
        <div className="grid grid-cols-2 gap-4">
          <Field fault={fault('earliest_prospect_time')} hint={t('Where the person is.')} label={t('Not before')}>
            <Input
              defaultValue={campaign?.earliest_prospect_time.slice(0, 5) ?? '09:00'}
              name="earliest"
              required
              type="time"
            />
          </Field>
          <Field fault={fault('latest_prospect_time')} label={t('Not after')}>
            <Input
              defaultValue={campaign?.latest_prospect_time.slice(0, 5) ?? '20:00'}
              name="latest"
              required
              type="time"
            />
          </Field>
          <Field
            fault={fault('max_active_calls')}
            hint={t('0: as many as there are seats.')}
            label={t('Calls at once, at most')}
          >
            <Input
              defaultValue={campaign?.max_active_calls ?? 5}
              min={0}
              name="max_active_calls"
              required
              type="number"
            />
          </Field>
          <Field fault={fault('max_number_calls')} label={t('Attempts per contact, at most')}>
            <Input
              defaultValue={campaign?.max_number_calls ?? 3}
              min={1}
              name="max_number_calls"
              required
              type="number"
            />
          </Field>
          <Field fault={fault('budget')} hint={t('US dollars. Empty: none.')} label={t('Budget')}>
            <Input defaultValue={campaign?.budget ?? ''} min={0} name="budget" step="any" type="number" />
          </Field>
        </div>
        <label className="flex items-start gap-2 text-sm">
          <input
            className="mt-0.5 size-4 accent-(--accent)"
            defaultChecked={campaign?.consent_required}
            name="consent_required"
            type="checkbox"
          />
          <span>
            {t('Call only people who agreed')}
            <span className="block text-xs text-muted">
              {t('Those whose row says when, or whose file somebody vouched for.')}
            </span>
          </span>
        </label>
        <Fault error={save.error} />
        <DialogActions>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button busy={save.isPending} kind="primary" type="submit">
            {campaign ? t('Save') : t('Create campaign')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
