import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatAgo } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { Agent, PhoneNumber, Trunk } from '../data/types.ts'
import { t } from '../language/t.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input, Select } from '../ui/field.tsx'
import { ListCard } from '../ui/list-page.tsx'
import { TabbedPage } from '../ui/tabbed-page.tsx'
import { PlaceCall } from './call/place-call.tsx'
import { TrunkState } from './trunk/trunk-state.tsx'
import { Trunks } from './trunks.tsx'

const TRUNKS_EVERY_MS = 10_000
const PROVIDERS = ['sip', 'twilio', 'telnyx', 'plivo', 'sim']

export function Screen() {
  return (
    <TabbedPage
      lead={t('Where callers reach your agents, and over which lines.')}
      path="/numbers"
      tabs={[
        ['numbers', t('Phone numbers'), <Numbers key="numbers" />],
        ['trunks', t('SIP trunks'), <Trunks key="trunks" />],
      ]}
      title={t('Numbers and trunks')}
    />
  )
}

function Numbers() {
  const { may } = useSession()
  const list = useRead<PhoneNumber[]>('/phone-numbers')
  const { data: agents } = useRead<Agent[]>('/agents')
  const { data: trunks } = useRead<Trunk[]>('/trunks', { everyMs: TRUNKS_EVERY_MS })
  const [adding, setAdding] = useState<'register' | 'buy'>()
  const [removed, setRemoved] = useState<PhoneNumber>()
  const [calling, setCalling] = useState<PhoneNumber>()
  const assign = useWrite<PhoneNumber, { phone_number: string; agent_id: string | null }>(
    ({ phone_number, agent_id }) => [
      `/phone-numbers/${encodeURIComponent(phone_number)}`,
      { method: 'PATCH', body: { agent_id } },
    ],
    { done: t('Saved'), changes: ['/phone-numbers', '/agents'] },
  )
  const remove = useWrite(
    () => [`/phone-numbers/${encodeURIComponent(removed?.phone_number ?? '')}`, { method: 'DELETE' }],
    {
      done: t('Removed'),
      changes: ['/phone-numbers', '/agents'],
    },
  )
  const actions = may('developer') && (
    <>
      <Button icon="plus" kind="primary" onClick={() => setAdding('register')}>
        {t('Register a number')}
      </Button>
      <Button onClick={() => setAdding('buy')}>{t('Buy a number')}</Button>
    </>
  )
  return (
    <>
      <ListCard
        add={actions}
        columns={[
          { name: t('Number'), cell: ({ phone_number }) => <span className="font-medium">{phone_number}</span> },
          {
            name: t('Carrier'),
            wide: true,
            cell: ({ provider, trunk }) => (
              <span className="inline-flex items-center gap-2">
                {provider}
                {trunk && <OverTrunk name={trunk} trunk={trunks?.find(({ name }) => name === trunk)} />}
              </span>
            ),
          },
          {
            name: t('Answered by'),
            cell: ({ phone_number, agent_id }) => (
              <Select
                aria-label={t('Agent of {phone_number}', { phone_number })}
                className="h-8! max-w-56"
                disabled={!may('developer')}
                onChange={(event) => assign.mutate({ phone_number, agent_id: event.target.value || null })}
                value={agent_id ?? ''}
              >
                <option value="">{t('Nobody')}</option>
                {agents?.map((agent) => (
                  <option key={agent.agent_id} value={agent.agent_id}>
                    {agent.agent_name}
                  </option>
                ))}
              </Select>
            ),
          },
          {
            name: t('Added'),
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
                    <span className="flex justify-end gap-1">
                      {number.agent_id && (
                        <Button
                          aria-label={t('Call a number from {phone_number}', { phone_number: number.phone_number })}
                          icon="calls"
                          kind="quiet"
                          onClick={() => setCalling(number)}
                          size="sm"
                        />
                      )}
                      <Button
                        aria-label={t('Remove {phone_number}', { phone_number: number.phone_number })}
                        icon="trash"
                        kind="quiet"
                        onClick={() => setRemoved(number)}
                        size="sm"
                      />
                    </span>
                  ),
                },
              ]
            : []),
        ]}
        empty={{
          icon: 'numbers',
          title: t('No phone numbers'),
          children: t('Register a number you have with a carrier or on a SIP trunk, and say which agent answers it.'),
        }}
        label={t('Phone numbers')}
        list={list}
        rowKey={({ phone_number }) => phone_number}
        title={({ length }) => (length === 1 ? t('1 number') : t('{n} numbers', { n: length }))}
      />
      {calling && (
        <PlaceCall
          agentId={calling.agent_id ?? undefined}
          from={calling.phone_number}
          onClose={() => setCalling(undefined)}
        />
      )}
      {adding && <AddNumber agents={agents ?? []} kind={adding} onClose={() => setAdding(undefined)} />}
      <Confirm
        action={t('Remove')}
        onClose={() => setRemoved(undefined)}
        onConfirm={() => remove.mutateAsync()}
        open={removed !== undefined}
        title={t('Remove {phone_number}?', { phone_number: removed?.phone_number })}
      >
        {t('Nobody answers it any more, and no call is made from it. It stays yours at the carrier.')}
      </Confirm>
    </>
  )
}

/** The trunk a number's calls go over, and how it stands. */
function OverTrunk({ name, trunk }: { name: string; trunk: Trunk | undefined }) {
  if (trunk === undefined) return <span>{name}</span>
  return (
    <>
      <Link className="hover:underline" params={{ trunkId: trunk.trunk_id }} to="/numbers/trunks/$trunkId">
        {name}
      </Link>
      <TrunkState trunk={trunk} />
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
      done: ({ phone_number }) => t('{phone_number} is yours', { phone_number }),
      changes: ['/phone-numbers', '/agents'],
      quiet: true,
      onDone: onClose,
    },
  )
  return (
    <Dialog
      lead={
        kind === 'buy'
          ? t('The carrier charges your account with it.')
          : t('One you have with a carrier or on a SIP trunk.')
      }
      onClose={onClose}
      open
      title={kind === 'buy' ? t('Buy a number') : t('Register a number')}
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          add.mutate(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>)
        }}
      >
        <Field fault={faultOf(add.error, 'provider')} label={t('Carrier')}>
          <Select onChange={(event) => setProvider(event.target.value)} value={provider}>
            {PROVIDERS.filter((name) => kind === 'register' || name !== 'sip').map((name) => (
              <option key={name} value={name}>
                {name === 'sip' ? t('A SIP trunk of mine') : name === 'sim' ? t('Simulated, for trying out') : name}
              </option>
            ))}
          </Select>
        </Field>
        {kind === 'buy' ? (
          <div className="grid grid-cols-2 gap-4">
            <Field fault={faultOf(add.error, 'country')} hint={t('Two letters, as US.')} label={t('Country')}>
              <Input defaultValue="US" maxLength={2} name="country" required />
            </Field>
            <Field
              fault={faultOf(add.error, 'area_code')}
              hint={t('Where the country has them.')}
              label={t('Area code')}
            >
              <Input name="area_code" />
            </Field>
          </div>
        ) : (
          <>
            <Field fault={faultOf(add.error, 'phone_number')} label={t('Number')}>
              <Input inputMode="tel" name="phone_number" placeholder="+14155550123" required />
            </Field>
            {provider === 'sip' && (
              <Field
                fault={faultOf(add.error, 'trunk')}
                hint={trunks?.length === 0 ? t('There is none yet: add it under SIP trunks.') : undefined}
                label={t('Trunk')}
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
            <Field fault={faultOf(add.error, 'agent_id')} label={t('Answered by')}>
              <Select name="agent_id">
                <option value="">{t('Nobody yet')}</option>
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
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button busy={add.isPending} kind="primary" type="submit">
            {kind === 'buy' ? t('Buy') : t('Register')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
