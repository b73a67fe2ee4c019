import { type FormEvent, useState } from 'react'
import { useWrite } from '../../data/queries.ts'
import type { TestCall, Trunk } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Card, Notice } from '../../ui/layout.tsx'
import { Findings } from './findings.tsx'

const NAMES: Readonly<Record<TestCall['findings'][number]['check'], string>> = {
  call: t('The call'),
  codec: t('Codec'),
  encryption: t('Encryption'),
  addresses: t('Addresses of sound'),
  sound_in: t('Sound from the phone'),
  sound_out: t('Sound to the phone'),
  keys: t('Keys'),
  hold: t('Hold'),
  session_timer: t('Session timer'),
  transfer: t('Transfers'),
  end: t('The end'),
}

/** Calls a phone over the trunk and lists what the call showed. */
export function TrunkTestCall({ trunk }: { trunk: Trunk }) {
  const path = `/trunks/${trunk.trunk_id}`
  const [number, setNumber] = useState('')
  const call = useWrite<TestCall, string>(
    (to) => [`${path}/test-call`, { method: 'POST', body: { phone_number_to_dial: to } }],
    { changes: [path], quiet: true },
  )
  const { data, isPending, error } = call
  const start = (event: FormEvent): void => {
    event.preventDefault()
    call.mutate(number.trim())
  }
  return (
    <Card title={t('Test call')}>
      <form className="flex flex-wrap items-start gap-3" onSubmit={start}>
        <Field
          className="min-w-56 flex-1"
          hint={t('Your own phone. You hear yourself for 15 seconds: speak, press a key, hold and take the call back.')}
          label={t('Call this number')}
        >
          <Input
            onChange={({ target }) => setNumber(target.value)}
            placeholder="+14155550123"
            required
            value={number}
          />
        </Field>
        <Button busy={isPending} className="sm:mt-6" icon="calls" kind="primary" type="submit">
          {t('Call')}
        </Button>
      </form>
      <div aria-live="polite" className="mt-3 space-y-3 empty:hidden">
        <Fault error={error} />
        {isPending && <p className="text-muted">{t('It rings. What the call shows stands here when it is over.')}</p>}
        {!isPending && data && (
          <>
            <Notice tone={data.healthy ? 'good' : 'bad'}>
              {data.healthy ? t('The call showed no fault') : t('The call showed a fault')}
            </Notice>
            <Findings findings={data.findings} names={NAMES} />
            {data.ladder !== '' && (
              <details>
                <summary className="cursor-pointer text-sm text-muted">{t('SIP messages')}</summary>
                <pre className="mt-2 overflow-x-auto text-xs">{data.ladder}</pre>
              </details>
            )}
          </>
        )}
      </div>
    </Card>
  )
}
