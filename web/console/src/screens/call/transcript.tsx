import { formatMs, formatOffset } from '../../data/format.ts'
import type { Call, Turn } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Icon } from '../../ui/icon.tsx'
import { Badge } from '../../ui/layout.tsx'
import { isRunning } from '../call-status.tsx'

interface TranscriptProps {
  call: Call
  turns: readonly Turn[]
  /** Where the recording plays. */
  atMs: number
  onSeek: (ms: number) => void
}

type Line = Call['transcript'][number]

/** What was said, in step with the recording: a click plays from there. */
export function Transcript({ call, turns, atMs, onSeek }: TranscriptProps) {
  const lines: readonly (Line & Partial<Turn>)[] = turns.length > 0 ? turns : call.transcript
  if (lines.length === 0) {
    return (
      <p className="py-6 text-center text-muted">
        {isRunning(call) ? t('Nothing was said yet.') : t('Nothing was said in this call.')}
      </p>
    )
  }
  return (
    <ol className="space-y-1">
      {lines.map((line) => {
        const isNow = atMs > 0 && atMs >= line.start_ms && atMs < line.end_ms
        return (
          <li
            className={`rounded-md px-2 py-1.5 ${isNow ? 'bg-accent-soft' : ''}`}
            key={`${line.role} ${line.start_ms}`}
          >
            <div className="flex items-center gap-2 text-xs text-muted">
              <span className={`font-semibold ${line.role === 'user' ? 'text-caller' : 'text-accent-ink'}`}>
                {line.role === 'user' ? t('Caller') : t('Agent')}
              </span>
              <button
                className="rounded-sm hover:text-ink hover:underline"
                onClick={() => onSeek(line.start_ms)}
                type="button"
              >
                {formatOffset(line.start_ms)}
              </button>
              {line.latency && <span>{t('answered in {time}', { time: formatMs(line.latency.total_ms) })}</span>}
              {line.interrupted && <Badge tone="warn">{t('interrupted')}</Badge>}
            </div>
            <p className="mt-0.5 whitespace-pre-wrap wrap-anywhere">
              {line.text || <span className="text-muted">{t('(not heard)')}</span>}
            </p>
            <Evidence turn={line} />
          </li>
        )
      })}
    </ol>
  )
}

/** What the agent did for this answer. */
function Evidence({ turn: { tools = [], knowledge = [], faults = [] } }: { turn: Partial<Turn> }) {
  if (tools.length + knowledge.length + faults.length === 0) return null
  return (
    <div className="mt-1.5 space-y-1 text-xs">
      {tools.map(({ id, name, arguments: given, result, error, duration_ms }) => (
        <details className="rounded-md border border-line px-2 py-1" key={id}>
          <summary className="flex items-center gap-1.5">
            <Icon name="tool" size={13} /> <span className="font-mono">{name}</span>
            <span className="text-muted">{formatMs(duration_ms)}</span>
            {error && <span className="text-bad">{t('failed')}</span>}
          </summary>
          <pre className="mt-1 overflow-x-auto font-mono whitespace-pre-wrap wrap-anywhere">
            {JSON.stringify(given, null, 2)}
            {'\n→ '}
            {error ?? result}
          </pre>
        </details>
      ))}
      {knowledge.map(({ query, hits, duration_ms, start_ms }) => (
        <details className="rounded-md border border-line px-2 py-1" key={`${start_ms} ${query}`}>
          <summary className="flex items-center gap-1.5">
            <Icon name="knowledge" size={13} /> {t('looked up “{query}”', { query })}{' '}
            <span className="text-muted">{formatMs(duration_ms)}</span>
          </summary>
          {hits.length === 0 && <p className="mt-1 text-muted">{t('Nothing was found.')}</p>}
          <ul className="mt-1 space-y-0.5">
            {hits.map(({ document_id, filename, score }, at) => (
              <li className="flex justify-between gap-3" key={`${document_id} ${at}`}>
                <span className="truncate">{filename}</span> <span className="text-muted">{score.toFixed(3)}</span>
              </li>
            ))}
          </ul>
        </details>
      ))}
      {faults.map((fault) => (
        <p className="flex items-start gap-1.5 text-bad" key={fault}>
          <Icon className="mt-px" name="warning" size={13} /> {fault}
        </p>
      ))}
    </div>
  )
}
