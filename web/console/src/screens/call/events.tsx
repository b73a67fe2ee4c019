import { useState } from 'react'
import { formatOffset, formatTime, formatWord } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import type { CallEvent, Page } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Card, Loading } from '../../ui/layout.tsx'

/** The log of the call, as it was written. */
export function Events({ callId, isRunning }: { callId: string; isRunning: boolean }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Card flush>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="px-4 py-3 font-semibold">{t('Everything that happened')}</summary>
        {isOpen && <EventList callId={callId} isRunning={isRunning} />}
      </details>
    </Card>
  )
}

function EventList({ callId, isRunning }: { callId: string; isRunning: boolean }) {
  const { data } = useRead<Page<CallEvent>>(`/calls/${callId}/events`, {
    query: { page_size: 200 },
    ...(isRunning ? { everyMs: 2_000 } : {}),
  })
  if (data === undefined) return <Loading />
  if (data.items.length === 0)
    return <p className="px-4 pb-4 text-muted">{t('The events of this call are not kept any more.')}</p>
  return (
    <>
      <ol>
        {data.items.map((event) => (
          <li
            className="grid grid-cols-[4.5rem_9rem_minmax(0,1fr)] gap-3 border-t border-line px-4 py-1.5 text-sm"
            key={event.seq}
          >
            <span className="text-right text-muted">
              {event.at_ms === null ? formatTime(event.at) : formatOffset(event.at_ms)}
            </span>
            <span className="font-medium">{formatWord(event.type)}</span>
            <span className="min-w-0 font-mono text-xs leading-5 text-muted wrap-anywhere">{detailsOf(event)}</span>
          </li>
        ))}
      </ol>
      {data.total > data.items.length && (
        <p className="border-t border-line px-4 py-2 text-xs text-muted">
          {t('The first {n} of {all}; {path} has all.', {
            n: data.items.length,
            all: data.total,
            path: `GET /calls/${callId}/events`,
          })}
        </p>
      )}
    </>
  )
}

function detailsOf({ seq: _, at: __, at_ms: ___, type: ____, ...fields }: CallEvent): string {
  const entries = Object.entries(fields)
  return entries
    .map(([name, value]) => `${name}: ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' · ')
}
