import type { TestRun } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Badge } from '../../ui/layout.tsx'

/** How a run of tests stands, in a word. */
export function RunState({ run: { status, total, passed, errors } }: { run: TestRun }) {
  if (status === 'running') {
    return (
      <Badge dot tone="accent">
        {t('Running')}
      </Badge>
    )
  }
  if (status === 'canceled') return <Badge>{t('Canceled')}</Badge>
  if (passed === total) return <Badge tone="good">{t('Passed')}</Badge>
  return <Badge tone="bad">{errors > 0 ? t('Could not be run') : t('Not passed')}</Badge>
}
