import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { formatAgo, formatCount, formatInstant } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Agent, Delivery, Webhook, WebhookWithSecret } from '../../data/types.ts'
import { said, t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Card, Facts, Loading, Notice, PageHead } from '../../ui/layout.tsx'
import { Menu } from '../../ui/menu.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Deliveries } from './deliveries.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'
import { typesOf, WebhookState } from './webhooks.tsx'

type Asked = 'change' | 'rotate' | 'recover' | 'delete'
const KEPT_DAYS = 30

/** One webhook: how it stands, what it was sent and what it answered. */
export function Screen() {
  const { webhookId } = useParams({ strict: false })
  const { may } = useSession()
  const navigate = useNavigate()
  const path = `/webhooks/${webhookId}`
  const changes = ['/webhooks']
  const { data: webhook, error, refetch } = useRead<Webhook>(path)
  const { data: agents } = useRead<Agent[]>('/agents')
  const [asked, setAsked] = useState<Asked>()
  const [secret, setSecret] = useState<string>()
  const close = () => setAsked(undefined)
  const test = useWrite<Delivery>(() => [`${path}/test`, { method: 'POST' }], {
    done: t('A test is on its way'),
    changes,
  })
  const turn = useWrite<Webhook, boolean>((enabled) => [path, { method: 'PATCH', body: { enabled } }], {
    done: ({ enabled }) => (enabled ? t('Events are sent again') : t('Events are no longer sent')),
    changes,
  })
  const rotate = useWrite<WebhookWithSecret>(() => [`${path}/rotate-secret`, { method: 'POST' }], {
    changes,
    onDone: (answer) => setSecret(answer.secret),
  })
  const remove = useWrite(() => [path, { method: 'DELETE' }], {
    done: t('Deleted'),
    changes,
    onDone: () => void navigate({ to: '/developers' }),
  })
  if (error) return <Fault error={error} retry={() => void refetch()} />
  if (webhook === undefined) return <Loading />
  const agent = agents?.find(({ agent_id }) => agent_id === webhook.agent_id)
  return (
    <>
      <PageHead
        actions={
          may('admin') && (
            <>
              <Button busy={test.isPending} icon="send" onClick={() => test.mutate()}>
                {t('Send a test')}
              </Button>
              <Button onClick={() => setAsked('change')}>{t('Change')}</Button>
              <Menu
                items={[
                  {
                    label: webhook.enabled ? t('Switch off') : t('Switch on'),
                    onSelect: () => turn.mutate(!webhook.enabled),
                  },
                  { label: t('New secret'), onSelect: () => setAsked('rotate') },
                  { label: t('Send what it missed'), onSelect: () => setAsked('recover') },
                  { label: t('Delete'), icon: 'trash', danger: true, onSelect: () => setAsked('delete') },
                ]}
                trigger={<Button aria-label={t('More')} icon="more" />}
              />
            </>
          )
        }
        id={webhook.webhook_id}
        lead={
          <Link className="hover:underline" to="/developers">
            {t('Webhooks')}
          </Link>
        }
        title={
          <span className="flex items-center gap-3">
            <span className="truncate">{webhook.url}</span> <WebhookState webhook={webhook} />
          </span>
        }
      />
      <div className="space-y-4">
        {!webhook.enabled && (
          <Notice
            action={
              may('admin') && (
                <Button busy={turn.isPending} onClick={() => turn.mutate(true)} size="sm">
                  {t('Switch on')}
                </Button>
              )
            }
            tone="warn"
          >
            {webhook.disabled_at
              ? t('It is off since {at}.', { at: formatInstant(webhook.disabled_at) })
              : t('It is off.')}{' '}
            {webhook.disabled_reason && `${said(webhook.disabled_reason)}. `}
            {t('Mend its server, switch it on, then send what it missed.')}
          </Notice>
        )}
        <Card>
          <Facts
            rows={[
              ...(webhook.description ? [[t('For'), webhook.description] as const] : []),
              [
                t('Subscribed to'),
                <span title={webhook.types.join(', ')} key="types">
                  {typesOf(webhook)}
                </span>,
              ],
              [
                t('Of'),
                webhook.agent_id === null ? t('All agents') : (agent?.agent_name ?? t('An agent that is gone')),
              ],
              [t('Created'), formatInstant(webhook.created_at)],
              ...(webhook.failing_since
                ? [[t('Every attempt failed since'), formatAgo(webhook.failing_since)] as const]
                : []),
              ...(webhook.old_secret_until
                ? [[t('The secret before signs until'), formatInstant(webhook.old_secret_until)] as const]
                : []),
            ]}
          />
        </Card>
        <Deliveries path={`${path}/deliveries`} />
      </div>
      {asked === 'change' && <WebhookDialog onClose={close} onSaved={close} webhook={webhook} />}
      {asked === 'recover' && <Recover onClose={close} path={path} />}
      <Confirm
        action={t('New secret')}
        onClose={close}
        onConfirm={() => rotate.mutateAsync()}
        open={asked === 'rotate'}
        title={t('Give it a new secret?')}
      >
        {t('For 24 hours both secrets sign, so that your server can be changed in between.')}
      </Confirm>
      <Confirm
        action={t('Delete webhook')}
        onClose={close}
        onConfirm={() => remove.mutateAsync()}
        open={asked === 'delete'}
        title={t('Delete this webhook?')}
      >
        {t('What it was not sent yet is not sent any more.')}
      </Confirm>
      <ShownOnce
        lead={t('It is shown this once. For 24 hours messages carry signatures of both.')}
        onClose={() => setSecret(undefined)}
        secret={secret}
        title={t('The new secret')}
      />
    </>
  )
}

function Recover({ path, onClose }: { path: string; onClose: () => void }) {
  const recover = useWrite<{ deliveries: number }, string>(
    (since) => [`${path}/recover`, { method: 'POST', body: { since } }],
    {
      done: ({ deliveries }) =>
        deliveries === 1 ? t('1 event is sent') : t('{n} events are sent', { n: formatCount(deliveries) }),
      changes: ['/webhooks'],
      quiet: true,
      onDone: onClose,
    },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    recover.mutate(new Date(String(new FormData(event.currentTarget).get('since'))).toISOString())
  }
  const day = new Date(Date.now() - 86_400_000)
  const local = new Date(day.getTime() - day.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
  return (
    <Dialog
      lead={t(
        'Every event it asks for and has not taken: those that failed, and those of the time it was off or not there yet.',
      )}
      onClose={onClose}
      open
      title={t('Send what it missed')}
    >
      <form onSubmit={submit}>
        <Field hint={t('At most {KEPT_DAYS} days ago.', { KEPT_DAYS })} label={t('Since')}>
          <Input defaultValue={local} name="since" required type="datetime-local" />
        </Field>
        <div className="mt-3 empty:hidden">
          <Fault error={recover.error} />
        </div>
        <DialogActions>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button busy={recover.isPending} kind="primary" type="submit">
            {t('Send')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
