import { type FormEvent, useState } from 'react'
import { formatInstant, formatList, formatMs } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import type { KeyedProvider } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault, faultOf } from '../../ui/fault.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Badge, Card, Loading, Notice } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import { PROVIDER_STATES } from '../provider-states.ts'

const PATH = '/operator/providers'
const KINDS: Readonly<Record<string, string>> = {
  stt: t('Listens'),
  llm: t('Thinks'),
  tts: t('Speaks'),
  telephony: t('Phone calls'),
}

type Health = KeyedProvider['health']
type Keys = Record<string, string>

/** Keys of providers and carriers: pasted, tested, and used at once. */
export function Providers() {
  const { data, error } = useRead<{ providers: KeyedProvider[] }>(PATH)
  const [edited, setEdited] = useState<string>()
  if (error) return <Fault error={error} />
  if (data === undefined) return <Loading />
  const provider = data.providers.find((one) => one.provider === edited)
  return (
    <>
      <Card flush title={t('Keys of providers and carriers')}>
        <p className="px-4 pb-3 text-sm text-muted">
          {t(
            'A key that you paste is used at once by all calls that begin. It is stored encrypted and never shown again.',
          )}
        </p>
        <Table
          columns={[
            { name: t('Provider'), cell: ({ title }) => <span className="font-medium">{title}</span> },
            {
              name: t('For'),
              wide: true,
              cell: ({ kinds }) => formatList(kinds.flatMap((kind) => KINDS[kind] ?? [])),
            },
            { name: t('Key'), cell: (one) => keySentence(one) },
            { name: t('State'), cell: ({ health }) => <StateBadge health={health} /> },
            {
              name: '',
              align: 'end',
              cell: ({ provider: name, title }) => (
                <Button aria-label={t('Key of {name}', { name: title })} onClick={() => setEdited(name)} size="sm">
                  {t('Key')}
                </Button>
              ),
            },
          ]}
          label={t('Providers')}
          rowKey={({ provider: name }) => name}
          rows={data.providers}
        />
      </Card>
      {provider && <KeyDialog onClose={() => setEdited(undefined)} provider={provider} />}
    </>
  )
}

function StateBadge({ health }: { health: Health }) {
  const [tone, label] = PROVIDER_STATES[health.state]
  return <Badge tone={tone}>{label}</Badge>
}

/** Where the key comes from. */
function keySentence({ variables: [key] }: KeyedProvider): string {
  if (key?.source === 'environment') return t('Set in the environment')
  if (key?.source !== 'stored') return t('None')
  return key.hint ? t('Ends in {hint}', { hint: key.hint }) : t('Stored')
}

function KeyDialog({ provider, onClose }: { provider: KeyedProvider; onClose: () => void }) {
  const { title, variables, health } = provider
  const path = `${PATH}/${provider.provider}`
  const [typed, setTyped] = useState<Keys>({})
  const keys = Object.fromEntries(Object.entries(typed).filter(([, value]) => value.trim() !== ''))
  const [tested, setTested] = useState<Health>()
  const changes = [PATH, '/providers', '/agents', '/voices']
  const test = useWrite<Health>(() => [`${path}/test`, { method: 'POST', body: { keys } }], {
    quiet: true,
    onDone: setTested,
  })
  const save = useWrite<KeyedProvider>(() => [`${path}/keys`, { method: 'PUT', body: { keys } }], {
    changes,
    quiet: true,
    onDone: ({ health: now }) => {
      setTyped({})
      setTested(now)
      if (now.state === 'ok') onClose()
    },
    done: ({ health: now }) => (now.state === 'ok' ? t('{name} is ready', { name: title }) : t('Saved')),
  })
  const remove = useWrite<KeyedProvider>(() => [`${path}/keys`, { method: 'DELETE' }], {
    changes,
    done: t('Key removed'),
    onDone: onClose,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const error = save.error ?? test.error
  const isEmpty = Object.keys(keys).length === 0
  const shown = tested ?? (health.state === 'no_key' ? undefined : health)
  return (
    <Dialog onClose={onClose} open title={title}>
      <form autoComplete="off" className="space-y-4" onSubmit={submit}>
        {variables.map(({ variable, source, hint, set_at }) => (
          <Field
            fault={faultOf(error, `keys.${variable}`)}
            hint={
              source === 'environment'
                ? t(
                    'Set in the environment of this installation, which wins. To set it here, remove it there and restart.',
                  )
                : source === 'stored' && set_at
                  ? hint
                    ? t('Stored on {day}; ends in {hint}. Paste another to replace it.', {
                        day: formatInstant(set_at),
                        hint,
                      })
                    : t('Stored on {day}. Paste another to replace it.', { day: formatInstant(set_at) })
                  : undefined
            }
            key={variable}
            label={variable}
          >
            <Input
              autoComplete="off"
              className="font-mono"
              disabled={source === 'environment'}
              onChange={({ target }) => {
                setTested(undefined)
                setTyped({ ...typed, [variable]: target.value })
              }}
              spellCheck={false}
              type="password"
              value={typed[variable] ?? ''}
            />
          </Field>
        ))}
        {shown && <HealthNotice health={shown} />}
        <Fault error={error} />
        <DialogActions>
          {variables.some(({ source }) => source === 'stored') && (
            <Button busy={remove.isPending} kind="danger" onClick={() => remove.mutate()}>
              {t('Remove key')}
            </Button>
          )}
          <Button busy={test.isPending} disabled={isEmpty} onClick={() => test.mutate()}>
            {t('Test')}
          </Button>
          <Button busy={save.isPending} disabled={isEmpty} kind="primary" type="submit">
            {t('Save')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

function HealthNotice({ health: { state, latency_ms, message } }: { health: Health }) {
  const [tone, label] = PROVIDER_STATES[state]
  const words = state === 'ok' && latency_ms !== null ? t('It answers in {ms}.', { ms: formatMs(latency_ms) }) : label
  return (
    <Notice tone={tone}>
      <span lang={message === null ? undefined : 'en'}>{message ?? words}</span>
    </Notice>
  )
}
