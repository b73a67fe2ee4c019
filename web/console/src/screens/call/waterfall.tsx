import { formatMs } from '../../data/format.ts'
import type { Turn } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Card } from '../../ui/layout.tsx'

type Answer = Turn & { latency: NonNullable<Turn['latency']> }

const STAGES = {
  endpointing: [t('End of turn'), 'var(--line-strong)'],
  stt: [t('Listening'), 'var(--caller)'],
  llm: [t('Thinking'), 'var(--think)'],
  tts: [t('Speaking'), 'var(--accent)'],
  model: [t('Model with its own voice'), 'linear-gradient(90deg, var(--think), var(--accent))'],
} as const

/** What an answer waited for, in order. A model that speaks itself thinks and speaks in one. */
function waitsOf({ latency, usage }: Answer): readonly (readonly [stage: keyof typeof STAGES, ms: number])[] {
  const { endpointing_ms, stt_ms, llm_ms, tts_ms } = latency
  const before = [
    ['endpointing', endpointing_ms],
    ['stt', stt_ms],
  ] as const
  if ((usage.output.audio ?? 0) > 0) return [...before, ['model', llm_ms + tts_ms]]
  return [...before, ['llm', llm_ms], ['tts', tts_ms]]
}

/** From the end of the caller's speech to the first sound of each answer, by stage. */
export function Waterfall({ turns }: { turns: readonly Turn[] }) {
  const answers = turns.filter((turn): turn is Answer => turn.latency !== null)
  if (answers.length === 0) {
    return (
      <Card title={t('Latency')}>
        <p className="text-sm text-muted">
          {t(
            'Answers to something the caller said aloud are measured, from the last sound of the caller to the first of the agent.',
          )}
        </p>
      </Card>
    )
  }
  const longestMs = Math.max(...answers.map(({ latency }) => latency.total_ms))
  const waits = answers.map((answer) => ({ ...answer, stages: waitsOf(answer) }))
  const shown = new Set(waits.flatMap(({ stages }) => stages.map(([stage]) => stage)))
  return (
    <Card
      actions={
        <ul className="flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
          {Object.entries(STAGES).map(
            ([stage, [label, colour]]) =>
              shown.has(stage as keyof typeof STAGES) && (
                <li className="flex items-center gap-1.5" key={stage}>
                  <span className="size-2.5 rounded-sm" style={{ background: colour }} /> {label}
                </li>
              ),
          )}
        </ul>
      }
      title={t('Latency by answer')}
    >
      <ol className="space-y-2">
        {waits.map(({ turn, latency, text, stages }) => (
          <li className="grid grid-cols-[minmax(0,7rem)_minmax(0,1fr)_4rem] items-center gap-3 text-sm" key={turn}>
            <span className="truncate text-muted" title={text}>
              {text || t('Turn {turn}', { turn })}
            </span>
            <span
              aria-label={stages.map(([stage, ms]) => `${STAGES[stage][0]} ${formatMs(ms)}`).join(', ')}
              className="flex h-4 gap-px overflow-hidden rounded-sm"
              role="img"
            >
              {stages.map(([stage, ms]) => (
                <span
                  key={stage}
                  style={{ background: STAGES[stage][1], width: `${(Math.max(0, ms) / longestMs) * 100}%` }}
                  title={`${STAGES[stage][0]}: ${formatMs(ms)}`}
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
