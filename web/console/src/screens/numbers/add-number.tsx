import { useState } from 'react'
import { useProviders } from '../../data/providers.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import type { Agent, PhoneNumber, Trunk } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault, faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { CARRIERS } from './number-cells.tsx'

const nameOf = (carrier: string): string =>
  carrier === 'sip'
    ? t('A SIP trunk of mine')
    : carrier === 'sim'
      ? t('Simulated, for trying out')
      : (CARRIERS[carrier] ?? carrier)

/** Registers a number somebody has, or buys one at a carrier. */
export function AddNumber({
  kind,
  agents,
  onClose,
}: {
  kind: 'register' | 'buy'
  agents: readonly Agent[]
  onClose: () => void
}) {
  const { data: trunks } = useRead<Trunk[]>('/trunks')
  const { data: known } = useProviders()
  const healthOf = (name: string) => known?.providers.find((one) => one.provider === name)?.health
  const isReady = (name: string) => healthOf(name)?.state !== 'no_key'
  const carriers = Object.keys(CARRIERS)
    .filter((name) => kind === 'register' || name !== 'sip')
    .toSorted((a, b) => Number(isReady(b)) - Number(isReady(a)))
  const [chosen, setChosen] = useState<string>()
  const provider = chosen ?? carriers[0] ?? ''
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
        <Field
          fault={faultOf(add.error, 'provider')}
          hint={isReady(provider) ? undefined : healthOf(provider)?.message}
          label={t('Carrier')}
        >
          <Select onChange={(event) => setChosen(event.target.value)} value={provider}>
            {carriers.map((name) => (
              <option key={name} value={name}>
                {nameOf(name)}
                {isReady(name) ? '' : ` (${t('not set up')})`}
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
