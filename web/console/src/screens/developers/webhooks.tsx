import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { formatAgo, formatInstant } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Webhook, WebhookWithSecret } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge } from '../../ui/layout.tsx'
import { ListCard } from '../../ui/list-page.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'

/** How a webhook stands. */
export function WebhookState({ webhook: { enabled, disabled_reason, failing_since } }: { webhook: Webhook }) {
  if (!enabled) {
    return (
      <span title={disabled_reason ?? undefined}>
        <Badge tone={disabled_reason ? 'bad' : 'neutral'}>{t('Off')}</Badge>
      </span>
    )
  }
  return failing_since ? (
    <span title={t('Every attempt failed since {failing_since}', { failing_since: formatInstant(failing_since) })}>
      <Badge tone="bad">{t('Fails')}</Badge>
    </span>
  ) : (
    <Badge tone="good">{t('On')}</Badge>
  )
}

export const typesOf = ({ types }: Pick<Webhook, 'types'>): string =>
  types.includes('*') ? t('Everything') : types.length > 3 ? `${types.slice(0, 3).join(', ')} …` : types.join(', ')

/** Addresses that are told what happens. */
export function Webhooks() {
  const { may } = useSession()
  const list = useRead<Webhook[]>('/webhooks')
  const [isNew, setNew] = useState(false)
  const [made, setMade] = useState<WebhookWithSecret>()
  const add = may('admin') && (
    <Button icon="plus" kind="primary" onClick={() => setNew(true)}>
      {t('New webhook')}
    </Button>
  )
  return (
    <>
      <ListCard
        add={add}
        columns={[
          {
            name: t('Address'),
            cell: ({ webhook_id, url, description }) => (
              <>
                <Link
                  className="font-medium hover:underline"
                  params={{ webhookId: webhook_id }}
                  to="/developers/webhooks/$webhookId"
                >
                  {url}
                </Link>{' '}
                <span className="text-muted">{description}</span>
              </>
            ),
          },
          { name: t('State'), cell: (webhook) => <WebhookState webhook={webhook} /> },
          { name: t('Subscribed to'), wide: true, cell: typesOf },
          {
            name: t('Created'),
            align: 'end',
            wide: true,
            cell: ({ created_at }) => <span className="text-muted">{formatAgo(created_at)}</span>,
          },
        ]}
        empty={{
          icon: 'developers',
          title: t('No webhooks'),
          children: t(
            'A webhook sends your server what happens here: calls, batches, campaigns. Each message is signed, and sent again until it is taken.',
          ),
        }}
        label={t('Webhooks')}
        list={list}
        rowKey={({ webhook_id }) => webhook_id}
        title={() => t('Webhooks')}
      />
      {isNew && (
        <WebhookDialog
          onClose={() => setNew(false)}
          onSaved={(webhook) => {
            setNew(false)
            if ('secret' in webhook) setMade(webhook)
          }}
        />
      )}
      <ShownOnce
        lead={t('It is shown this once. Your server verifies each message with it (Standard Webhooks).')}
        onClose={() => setMade(undefined)}
        secret={made?.secret}
        title={t('The secret of your webhook')}
      />
    </>
  )
}
