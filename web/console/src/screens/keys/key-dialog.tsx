import { type FormEvent, useState } from 'react'
import { formatMs } from '../../data/format.ts'
import type { Provider } from '../../data/providers.ts'
import { useWrite } from '../../data/queries.ts'
import { said, t, translated } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault, faultOf } from '../../ui/fault.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { PROVIDER_STATES } from '../provider-states.ts'

type Health = Provider['health']
type Keys = Record<string, string>

interface KeyDialogProps {
  title: string
  /** Of the provider: `keys` and `test` are below it. */
  path: string
  /** `isFixed`: it can't be set here. */
  variables: readonly { variable: string; hint: string | undefined; isFixed: boolean }[]
  /** How the provider stands before anything is typed. */
  health?: Health
  canRemove: boolean
  /** The lists that show the key. */
  changes: readonly string[]
  onClose: () => void
}

/** Pastes, tests and removes the key of a provider, of the installation or of the workspace. */
export function KeyDialog({ title, path, variables, health, canRemove, changes: own, onClose }: KeyDialogProps) {
  const [typed, setTyped] = useState<Keys>({})
  const keys = Object.fromEntries(Object.entries(typed).filter(([, value]) => value.trim() !== ''))
  const [tested, setTested] = useState<Health>()
  const changes = [...own, '/providers', '/agents', '/voices']
  const test = useWrite<Health>(() => [`${path}/test`, { method: 'POST', body: { keys } }], {
    quiet: true,
    onDone: setTested,
  })
  // The workspace's own key is kept only where the provider does not refuse it: there is no health to show.
  const save = useWrite<{ health?: Health }>(() => [`${path}/keys`, { method: 'PUT', body: { keys } }], {
    changes,
    quiet: true,
    onDone: ({ health: now }) => {
      setTyped({})
      setTested(now)
      if (isReady(now)) onClose()
    },
    done: ({ health: now }) => (isReady(now) ? t('{name} is ready', { name: title }) : t('Saved')),
  })
  const remove = useWrite(() => [`${path}/keys`, { method: 'DELETE' }], {
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
  const shown = tested ?? (health?.state === 'no_key' ? undefined : health)
  return (
    <Dialog onClose={onClose} open title={title}>
      <form autoComplete="off" className="space-y-4" onSubmit={submit}>
        {variables.map(({ variable, hint, isFixed }) => (
          <Field fault={faultOf(error, `keys.${variable}`)} hint={hint} key={variable} label={variable}>
            <Input
              autoComplete="off"
              className="font-mono"
              disabled={isFixed}
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
          {canRemove && (
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

const isReady = (health: Health | undefined): boolean => health === undefined || health.state === 'ok'

function HealthNotice({ health: { state, latency_ms, message } }: { health: Health }) {
  const [tone, label] = PROVIDER_STATES[state]
  const words = state === 'ok' && latency_ms !== null ? t('It answers in {ms}.', { ms: formatMs(latency_ms) }) : label
  return (
    <Notice tone={tone}>
      <span lang={message === null || translated(message) !== undefined ? undefined : 'en'}>
        {message === null ? words : said(message)}
      </span>
    </Notice>
  )
}
