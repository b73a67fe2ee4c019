import { formatMs } from '../../data/format.ts'
import type { Turn } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Card, Empty } from '../../ui/layout.tsx'

const STAGES = [
  ['endpointing_ms', t('End of turn'), 'var(--line-strong)'],
  ['stt_ms', t('Listening'), 'var(--caller)'],
  ['llm_ms', t('Thinking'), 'var(--think)'],
  ['tts_ms', t('Speaking'), 'var(--accent)'],
] as const

/** From the end of the caller's speech to the first sound of each answer, by stage. */
export function Waterfall({ turns }: { turns: readonly Turn[] }) {
  const answers = turns.flatMap(({ turn, latency, text }) => (latency === null ? [] : [{ turn, latency, text }]))
  if (answers.length === 0) {
    return (
      <Card title={t('Latency')}>
        <Empty icon="reports" title={t('Nothing to measure')}>
          {t(
            'Answers to something the caller said aloud are measured, from the last sound of the caller to the first of the agent.',
          )}
        </Empty>
      </Card>
    )
  }
  const longestMs = Math.max(...answers.map(({ latency }) => latency.total_ms))
  return (
    <Card
      actions={
        <ul className="flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
          {STAGES.map(([name, label, colour]) => (
            <li className="flex items-center gap-1.5" key={name}>
              <span className="size-2.5 rounded-sm" style={{ background: colour }} /> {label}
            </li>
          ))}
        </ul>
      }
      title={t('Latency by answer')}
    >
      <ol className="space-y-2">
        {answers.map(({ turn, latency, text }) => (
          <li className="grid grid-cols-[minmax(0,7rem)_minmax(0,1fr)_4rem] items-center gap-3 text-sm" key={turn}>
            <span className="truncate text-muted" title={text}>
              {text || t('Turn {turn}', { turn })}
            </span>
            <span
              aria-label={STAGES.map(([name, label]) => `${label} ${formatMs(latency[name])}`).join(', ')}
              className="flex h-4 gap-px overflow-hidden rounded-sm"
              role="img"
            >
              {STAGES.map(([name, label, colour]) => (
                <span
                  key={name}
                  style={{ background: colour, width: `${(Math.max(0, latency[name]) / longestMs) * 100}%` }}
                  title={`${label}: ${formatMs(latency[name])}`}
                />
              ))}
            </span>
            <span className="text-right">{formatMs(latency.total_ms)}</span>
          </li>
        ))}
      </ol>
    </Card>
  )
}
