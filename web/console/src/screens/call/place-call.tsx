import { Link, useNavigate } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { useRead, useWrite } from '../../data/queries.ts'
import type { Agent, Call, PhoneNumber } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault, faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select, Textarea } from '../../ui/field.tsx'
import { Empty, Loading } from '../../ui/layout.tsx'

interface PlaceCallProps {
  /** Numbers of this agent come first. */
  agentId?: string | undefined
  /** The number to call from, if it is chosen already. */
  from?: string | undefined
  to?: string | undefined
  onClose: () => void
}

/** Calls a phone number with an agent and opens the live call. */
export function PlaceCall({ agentId, from, to, onClose }: PlaceCallProps) {
  const { data: numbers, error } = useRead<PhoneNumber[]>('/phone-numbers')
  const { data: agents } = useRead<Agent[]>('/agents')
  const usable = numbers
    ?.filter((number) => number.agent_id !== null)
    .toSorted((a, b) => Number(b.agent_id === agentId) - Number(a.agent_id === agentId))
  return (
    <Dialog
      lead={t('The agent calls as soon as a voice worker is free. You see and hear the call live.')}
      onClose={onClose}
      open
      title={t('Call a number')}
    >
      <Fault error={error} />
      {usable === undefined || agents === undefined ? (
        !error && <Loading lines={3} />
      ) : usable.length === 0 ? (
        <Empty
          action={
            <Link className={buttonClass('primary')} to="/numbers">
              {t('Phone numbers')}
            </Link>
          }
          icon="numbers"
          title={t('No number to call from')}
        >
          {t('Register a number and choose the agent that answers it; that agent can then call from it.')}
        </Empty>
      ) : (
        <CallForm agents={agents} from={from} numbers={usable} onClose={onClose} to={to} />
      )}
    </Dialog>
  )
}

interface CallFormProps extends Pick<PlaceCallProps, 'from' | 'to' | 'onClose'> {
  numbers: readonly PhoneNumber[]
  agents: readonly Agent[]
}

function CallForm({ numbers, agents, from, to, onClose }: CallFormProps) {
  const navigate = useNavigate()
  const place = useWrite<Call, Record<string, unknown>>(
    (body) => ['/calls/outbound_call', { method: 'POST', body, idempotencyKey: crypto.randomUUID() }],
    {
      changes: ['/calls'],
      quiet: true,
      onDone: ({ call_log_id }) => {
        onClose()
        void navigate({ to: '/calls/$callId', params: { callId: call_log_id } })
      },
    },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const given = String(fields.get('variables'))
      .split('\n')
      .map((line) => line.split('='))
      .filter(([name = '', ...value]) => name.trim() !== '' && value.length > 0)
    place.mutate({
      agent_phone_number: fields.get('agent_phone_number'),
      phone_number_to_dial: fields.get('phone_number_to_dial'),
      dynamic_variables: Object.fromEntries(
        given.map(([name = '', ...value]) => [name.trim(), value.join('=').trim()]),
      ),
    })
  }
  const nameOf = (id: string | null) => agents.find(({ agent_id }) => agent_id === id)?.agent_name
  return (
    <form className="space-y-4" onSubmit={submit}>
      <Field
        fault={faultOf(place.error, 'phone_number_to_dial')}
        hint={t('With country code, as +14155550123')}
        label={t('To')}
      >
        <Input autoComplete="off" defaultValue={to} inputMode="tel" name="phone_number_to_dial" required />
      </Field>
      <Field fault={faultOf(place.error, 'agent_phone_number')} label={t('From')}>
        <Select defaultValue={from ?? numbers[0]?.phone_number} name="agent_phone_number">
          {numbers.map(({ phone_number, agent_id }) => (
            <option key={phone_number} value={phone_number}>
              {phone_number} · {nameOf(agent_id)}
            </option>
          ))}
        </Select>
      </Field>
      <Field
        fault={faultOf(place.error, 'dynamic_variables')}
        hint={t('One in a line, as first_name=Ada; they fill {{first_name}} in the prompt and the first message.')}
        label={t('Variables')}
      >
        <Textarea className="font-mono text-sm" name="variables" rows={2} />
      </Field>
      <Fault error={place.error} />
      <DialogActions>
        <Button onClick={onClose}>{t('Cancel')}</Button>
        <Button busy={place.isPending} icon="calls" kind="primary" type="submit">
          {t('Call')}
        </Button>
      </DialogActions>
    </form>
  )
}
