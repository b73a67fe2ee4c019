import { useState } from 'react'
import { formatAgo } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { Agent, PhoneNumber, Trunk } from '../data/types.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input, Select } from '../ui/field.tsx'
import { ListCard } from '../ui/list-page.tsx'
import { TabbedPage } from '../ui/tabbed-page.tsx'
import { Trunks } from './trunks.tsx'

const PROVIDERS = ['sip', 'twilio', 'telnyx', 'plivo', 'sim']

export function Screen() {
  return (
    <TabbedPage
      lead="Where callers reach your agents, and over which lines."
      path="/numbers"
      tabs={[
        ['numbers', 'Phone numbers', <Numbers key="numbers" />],
        ['trunks', 'SIP trunks', <Trunks key="trunks" />],
      ]}
      title="Numbers and trunks"
    />
  )
}

function Numbers() {
  const { may } = useSession()
  const list = useRead<PhoneNumber[]>('/phone-numbers')
  const { data: agents } = useRead<Agent[]>('/agents')
  const [adding, setAdding] = useState<'register' | 'buy'>()
  const [removed, setRemoved] = useState<PhoneNumber>()
  const assign = useWrite<PhoneNumber, { phone_number: string; agent_id: string | null }>(
    ({ phone_number, agent_id }) => [
      `/phone-numbers/${encodeURIComponent(phone_number)}`,
      { method: 'PATCH', body: { agent_id } },
    ],
    { done: 'Saved', changes: ['/phone-numbers', '/agents'] },
  )
  const remove = useWrite(
    () => [`/phone-numbers/${encodeURIComponent(removed?.phone_number ?? '')}`, { method: 'DELETE' }],
    {
      done: 'Removed',
      changes: ['/phone-numbers', '/agents'],
    },
  )
  const actions = may('developer') && (
    <>
      <Button icon="plus" kind="primary" onClick={() => setAdding('register')}>
        Register a number
      </Button>
      <Button onClick={() => setAdding('buy')}>Buy a number</Button>
    </>
  )
  return (
    <>
      <ListCard
        add={actions}
        columns={[
          { name: 'Number', cell: ({ phone_number }) => <span className="font-medium">{phone_number}</span> },
          {
            name: 'Carrier',
            wide: true,
            cell: ({ provider, trunk }) => (trunk ? `${provider}, ${trunk}` : provider),
          },
          {
            name: 'Answered by',
            cell: ({ phone_number, agent_id }) => (
              <Select
                aria-label={`Agent of ${phone_number}`}
                className="h-8! max-w-56"
                disabled={!may('developer')}
                onChange={(event) => assign.mutate({ phone_number, agent_id: event.target.value || null })}
                value={agent_id ?? ''}
              >
                <option value="">Nobody</option>
                {agents?.map((agent) => (
                  <option key={agent.agent_id} value={agent.agent_id}>
                    {agent.agent_name}
                  </option>
                ))}
              </Select>
            ),
          },
          {
            name: 'Added',
            wide: true,
            align: 'end',
            cell: ({ created_at }) => <span className="text-muted">{formatAgo(created_at)}</span>,
          },
          ...(may('developer')
            ? [
                {
                  name: '',
                  align: 'end' as const,
                  cell: (number: PhoneNumber) => (
                    <Button
                      aria-label={`Remove ${number.phone_number}`}
                      icon="trash"
                      kind="quiet"
                      onClick={() => setRemoved(number)}
                      size="sm"
                    />
                  ),
                },
              ]
            : []),
        ]}
        empty={{
          icon: 'numbers',
          title: 'No phone numbers',
          children: 'Register a number you have with a carrier or on a SIP trunk, and say which agent answers it.',
        }}
        label="Phone numbers"
        list={list}
        rowKey={({ phone_number }) => phone_number}
        title={({ length }) => `${length} ${length === 1 ? 'number' : 'numbers'}`}
      />
      {adding && <AddNumber agents={agents ?? []} kind={adding} onClose={() => setAdding(undefined)} />}
      <Confirm
        action="Remove"
        onClose={() => setRemoved(undefined)}
        onConfirm={() => remove.mutateAsync()}
        open={removed !== undefined}
        title={`Remove ${removed?.phone_number}?`}
      >
        Nobody answers it any more, and no call is made from it. It stays yours at the carrier.
      </Confirm>
    </>
  )
}

function AddNumber({
  kind,
  agents,
  onClose,
}: {
  kind: 'register' | 'buy'
  agents: readonly Agent[]
  onClose: () => void
}) {
  const { data: trunks } = useRead<Trunk[]>('/trunks')
  const [provider, setProvider] = useState(kind === 'buy' ? 'twilio' : 'sip')
  const add = useWrite<PhoneNumber, Record<string, string>>(
    (fields) => {
      const body = Object.fromEntries(Object.entries({ ...fields, provider }).filter(([, value]) => value !== ''))
      return [kind === 'buy' ? '/phone-numbers/purchase' : '/phone-numbers', { method: 'POST', body }]
    },
    {
      done: ({ phone_number }) => `${phone_number} is yours`,
      changes: ['/phone-numbers', '/agents'],
      quiet: true,
      onDone: onClose,
    },
  )
  return (
    <Dialog
      lead={
        kind === 'buy' ? 'The carrier charges your account with it.' : 'One you have with a carrier or on a SIP trunk.'
      }
      onClose={onClose}
      open
      title={kind === 'buy' ? 'Buy a number' : 'Register a number'}
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          add.mutate(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>)
        }}
      >
        <Field fault={faultOf(add.error, 'provider')} label="Carrier">
          <Select onChange={(event) => setProvider(event.target.value)} value={provider}>
            {PROVIDERS.filter((name) => kind === 'register' || name !== 'sip').map((name) => (
              <option key={name} value={name}>
                {name === 'sip' ? 'A SIP trunk of mine' : name === 'sim' ? 'Simulated, for trying out' : name}
              </option>
            ))}
          </Select>
        </Field>
        {kind === 'buy' ? (
          <div className="grid grid-cols-2 gap-4">
            <Field fault={faultOf(add.error, 'country')} hint="Two letters, as US." label="Country">
              <Input defaultValue="US" maxLength={2} name="country" required />
            </Field>
            <Field fault={faultOf(add.error, 'area_code')} hint="Where the country has them." label="Area code">
              <Input name="area_code" />
            </Field>
          </div>
        ) : (
          <>
            <Field fault={faultOf(add.error, 'phone_number')} label="Number">
              <Input inputMode="tel" name="phone_number" placeholder="+14155550123" required />
            </Field>
            {provider === 'sip' && (
              <Field
                fault={faultOf(add.error, 'trunk')}
                hint={trunks?.length === 0 ? 'There is none yet: add it under SIP trunks.' : undefined}
                label="Trunk"
              >
                <Select name="trunk" required>
                  {trunks?.map(({ trunk_id, name }) => (
                    <option key={trunk_id} value={name}>
                      {name}
                    </option>
                  ))}
                </Select>
              </Field>
            )}
            <Field fault={faultOf(add.error, 'agent_id')} label="Answered by">
              <Select name="agent_id">
                <option value="">Nobody yet</option>
                {agents.map(({ agent_id, agent_name }) => (
                  <option key={agent_id} value={agent_id}>
                    {agent_name}
                  </option>
                ))}
              </Select>
            </Field>
          </>
        )}
        <Fault error={add.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button busy={add.isPending} kind="primary" type="submit">
            {kind === 'buy' ? 'Buy' : 'Register'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
