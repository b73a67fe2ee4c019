import { useState } from 'react'
import { useWrite } from '../../data/queries.ts'
import type { Trunk } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault, faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select, Switch } from '../../ui/field.tsx'

/** Makes a trunk, or changes one. */
export function TrunkDialog({ trunk, onClose }: { trunk: Trunk | undefined; onClose: () => void }) {
  const [register, setRegister] = useState(trunk?.register ?? false)
  const save = useWrite<Trunk, Record<string, string>>(
    ({ password, username, max_concurrent_calls, allowed_addresses, ...fields }) => {
      const body = {
        ...fields,
        register,
        username: username || null,
        ...(password ? { password } : {}),
        ...(max_concurrent_calls ? { max_concurrent_calls: Number(max_concurrent_calls) } : {}),
        allowed_addresses: (allowed_addresses ?? '')
          .split(',')
          .map((one) => one.trim())
          .filter(Boolean),
      }
      return trunk ? [`/trunks/${trunk.trunk_id}`, { method: 'PATCH', body }] : ['/trunks', { method: 'POST', body }]
    },
    {
      done: ({ name }) => t('The trunk {name} was saved', { name }),
      changes: ['/trunks'],
      quiet: true,
      onDone: onClose,
    },
  )
  const fault = (field: string) => faultOf(save.error, field)
  return (
    <Dialog
      lead={t('What it has beyond these (codecs, encryption, headers, numbers it may call) is set over the API.')}
      onClose={onClose}
      open
      title={trunk ? t('Trunk {name}', { name: trunk.name }) : t('New SIP trunk')}
      wide
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>)
        }}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field fault={fault('name')} label={t('Name')}>
            <Input defaultValue={trunk?.name} name="name" placeholder={t('Office')} required />
          </Field>
          <Field fault={fault('transport')} label={t('Transport')}>
            <Select defaultValue={trunk?.transport ?? 'udp'} name="transport">
              <option value="udp">UDP</option>
              <option value="tcp">TCP</option>
              <option value="tls">TLS</option>
            </Select>
          </Field>
          <Field
            fault={fault('host')}
            hint={t('Name or address, with a port where it is not the usual one.')}
            label={t('Host')}
          >
            <Input defaultValue={trunk?.host} name="host" placeholder="sip.example.com" required />
          </Field>
          <Field fault={fault('max_concurrent_calls')} label={t('Calls at once, at most')}>
            <Input
              defaultValue={trunk?.max_concurrent_calls}
              inputMode="numeric"
              min={1}
              name="max_concurrent_calls"
              type="number"
            />
          </Field>
          <Field fault={fault('username')} label={t('User name')}>
            <Input autoComplete="off" defaultValue={trunk?.username ?? ''} name="username" />
          </Field>
          <Field
            fault={fault('password')}
            hint={
              trunk?.has_password
                ? t('Empty: stays as it is. With another host or transport, enter it again.')
                : undefined
            }
            label={t('Password')}
          >
            <Input autoComplete="new-password" name="password" type="password" />
          </Field>
        </div>
        <Switch
          checked={register}
          hint={t('Tells the trunk where we are, as a telephone does. Needs user name and password.')}
          label={t('Register')}
          onChange={setRegister}
        />
        <Field
          fault={fault('allowed_addresses')}
          hint={t(
            'Addresses calls of this trunk come from, separated by commas; needed where it has no user name and password.',
          )}
          label={t('Allowed addresses')}
        >
          <Input
            defaultValue={trunk?.allowed_addresses.join(', ')}
            name="allowed_addresses"
            placeholder="203.0.113.0/24"
          />
        </Field>
        <Fault error={save.error} />
        <DialogActions>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button busy={save.isPending} kind="primary" type="submit">
            {t('Save')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
