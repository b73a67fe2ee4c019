import { useState } from 'react'
import { formatTime } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import { t } from '../../language/t.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Loading } from '../../ui/layout.tsx'

interface Signalling {
  messages: {
    leg: number
    at: string
    direction: 'in' | 'out'
    transport: string
    local: string
    remote: string
    label: string
    text: string
  }[]
}

/** The SIP messages of a phone call, one under the other, each with its text; a capture to download. */
export function SipLadder({ callId, isRunning }: { callId: string; isRunning: boolean }) {
  const { data } = useRead<Signalling>(`/calls/${callId}/sip`, isRunning ? { everyMs: 3_000 } : {})
  const [isOpen, setOpen] = useState(false)
  // Calls of other carriers, and of the browser, have none.
  if (data?.messages.length === 0) return null
  return (
    <Card flush>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="px-4 py-3 font-semibold">
          {t('SIP messages')}
          {data && <span className="font-normal text-muted"> ({data.messages.length})</span>}
        </summary>
        {isOpen && (data === undefined ? <Loading /> : <Ladder callId={callId} messages={data.messages} />)}
      </details>
    </Card>
  )
}

function Ladder({ callId, messages }: { callId: string } & Signalling) {
  const hasSecondLeg = messages.some(({ leg }) => leg > 1)
  return (
    <>
      <p className="flex items-center justify-between px-4 pb-2 text-xs text-muted">
        <span>{t('Patchbay on the left, the other side on the right. Credentials and keys are left out.')}</span>
        <a className={buttonClass('plain', 'sm')} download href={`/calls/${callId}/sip.pcap`}>
          <Icon name="download" size={15} /> pcap
        </a>
      </p>
      <ol aria-label={t('SIP messages')}>
        {messages.map(({ leg, at, direction, transport, remote, label, text }, index) => (
          <li className="border-t border-line text-sm" key={index}>
            <details>
              <summary className="grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-3 px-4 py-1.5">
                <span className="text-xs whitespace-nowrap text-muted">{formatTime(at)}</span>
                <span className="flex min-w-0 items-center gap-2">
                  {direction === 'in' && <Arrow direction="in" />}
                  <span
                    className={`truncate font-mono text-xs ${direction === 'in' ? 'text-caller' : 'text-accent-ink'}`}
                  >
                    {label}
                  </span>
                  {direction === 'out' && <Arrow direction="out" />}
                </span>
                <span className="text-xs text-muted">
                  {hasSecondLeg && `${t('leg {n}', { n: leg })} · `}
                  {remote} {transport}
                </span>
              </summary>
              <pre className="mx-4 mb-2 overflow-x-auto rounded-md bg-sunken p-3 text-xs whitespace-pre-wrap wrap-anywhere">
                {text}
              </pre>
            </details>
          </li>
        ))}
      </ol>
    </>
  )
}

function Arrow({ direction }: { direction: 'in' | 'out' }) {
  return (
    <span className="flex min-w-8 flex-1 items-center text-muted">
      <span className="sr-only">{direction === 'in' ? t('from the other side') : t('to the other side')}</span>
      {direction === 'in' && <span aria-hidden="true">◂</span>}
      <span className="h-px flex-1 bg-line-strong" />
      {direction === 'out' && <span aria-hidden="true">▸</span>}
    </span>
  )
}
