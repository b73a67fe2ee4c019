import { useEffect, useState } from 'react'
import { formatTime } from '../../data/format.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { Badge, Card, Empty } from '../../ui/layout.tsx'

interface Happened {
  readonly key: number
  readonly type: string
  readonly at: string
  readonly text: string
}

const MAX_SHOWN = 200
const ALL = '*'
/** A stream names each event by its type; those of these groups are shown. */
const TYPES = [
  ...['call.queued', 'call.ringing', 'call.answered', 'call.ended', 'call.analyzed', 'call.turn', 'call.tool_called'],
  ...['call.transferred', 'call.fault', 'recording.ready', 'batch.started', 'batch.completed', 'batch.canceled'],
  ...[
    'call.handed_off',
    'call.tool_returned',
    'call.transfer_failed',
    'batch.paused',
    'batch.resumed',
    'chat.started',
    'agent.deleted',
  ],
  ...['number.added', 'number.changed', 'number.removed', 'number.blocked', 'do_not_call.removed'],
  ...['campaign.deleted', 'prospect.added', 'upload.completed', 'upload.failed'],
  ...[
    'campaign.started',
    'campaign.paused',
    'campaign.breaker_opened',
    'campaign.budget_reached',
    'campaign.completed',
  ],
  ...['prospect.resolved', 'prospect.callback_missed', 'do_not_call.added', 'document.ready', 'document.failed'],
  ...['agent.changed', 'rollout.stopped', 'trunk.down', 'trunk.up', 'worker.joined', 'worker.lost', 'webhook.disabled'],
]

/** What happens in the workspace as it happens: what webhooks are sent. */
export function LiveEvents() {
  const [asked, setAsked] = useState(ALL)
  const [isPaused, setPaused] = useState(false)
  const [events, setEvents] = useState<readonly Happened[]>([])
  useEffect(() => {
    if (isPaused) return
    const feed = new EventSource(`/events?${new URLSearchParams({ types: asked })}`)
    let key = Date.now()
    const take = ({ type, data }: MessageEvent<string>) => {
      const { created_at: at, data: content } = JSON.parse(data) as { created_at: string; data: unknown }
      const one = { key: key++, type, at, text: JSON.stringify(content, null, 2) }
      setEvents((before) => [one, ...before].slice(0, MAX_SHOWN))
    }
    for (const type of TYPES) feed.addEventListener(type, take)
    return () => feed.close()
  }, [asked, isPaused])
  return (
    <Card
      actions={
        <>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              setAsked(String(new FormData(event.currentTarget).get('types')).trim() || ALL)
            }}
          >
            <Input
              aria-label={t('Types')}
              className="h-8! w-48!"
              defaultValue={ALL}
              name="types"
              placeholder="call.*, batch.completed"
            />
          </form>
          <Button
            aria-pressed={isPaused}
            icon={isPaused ? 'play' : 'pause'}
            onClick={() => setPaused(!isPaused)}
            size="sm"
          >
            {isPaused ? t('Go on') : t('Pause')}
          </Button>
        </>
      }
      flush
      title={t('As it happens')}
    >
      {events.length === 0 ? (
        <Empty icon="live" title={t('Nothing happened yet')}>
          {t('What webhooks are sent appears here from now on, as GET /events streams it.')}
        </Empty>
      ) : (
        <ol>
          {events.map(({ key, type, at, text }) => (
            <li className="border-t border-line px-4 py-2 text-sm" key={key}>
              <details>
                <summary className="flex items-center gap-3">
                  <span className="text-muted">{formatTime(at)}</span>
                  <Badge>{type}</Badge>
                </summary>
                <pre className="mt-2 rounded-md bg-sunken p-3 text-xs whitespace-pre-wrap wrap-anywhere">{text}</pre>
              </details>
            </li>
          ))}
        </ol>
      )}
    </Card>
  )
}
