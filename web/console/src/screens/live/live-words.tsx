import { useEffect, useRef } from 'react'
import { useLiveLines } from '../../data/use-live-lines.ts'
import { t } from '../../language/t.ts'

/** What is said in a running call as it is said, and what supervisors do. */
export function LiveWords({ callId }: { callId: string }) {
  const lines = useLiveLines(callId)
  const log = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (lines.length > 0) log.current?.scrollTo({ top: log.current.scrollHeight })
  }, [lines])
  return (
    <div
      aria-label={t('What is said')}
      className="h-64 space-y-1.5 overflow-y-auto rounded-md border border-line p-3 text-sm"
      ref={log}
      role="log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      {lines.length === 0 && <p className="text-muted">{t('Nothing was said yet.')}</p>}
      {lines.map(({ kind, text, final }, at) =>
        kind === 'note' ? (
          <p className="border-l-2 border-line pl-2 text-xs text-muted wrap-anywhere" key={at}>
            {text}
          </p>
        ) : (
          <p className={`wrap-anywhere ${final ? '' : 'opacity-70'}`} key={at}>
            <span className={`mr-1.5 text-xs font-semibold ${kind === 'user' ? 'text-caller' : 'text-accent-ink'}`}>
              {kind === 'user' ? t('Caller') : t('Agent')}
            </span>
            {text}
          </p>
        ),
      )}
    </div>
  )
}
