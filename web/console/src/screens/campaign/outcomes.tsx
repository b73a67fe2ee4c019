import { formatWord } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import type { Campaign, DispositionReport } from '../../data/types.ts'
import { locale } from '../../language/language.ts'
import { t } from '../../language/t.ts'
import { Card } from '../../ui/layout.tsx'
import { StackedChart } from '../../ui/stacked-chart.tsx'

const EVERY_MS = 30_000
const DAY_MS = 86_400_000
const MAX_DAYS = 90

/** What the campaign's calls came to, over time: since it was made, at most three months. */
export function OutcomesOverTime({ campaign: { slug, created_at } }: { campaign: Campaign }) {
  const minuteMs = Math.floor(Date.now() / 60_000) * 60_000
  const startMs = Math.max(Date.parse(created_at), minuteMs - MAX_DAYS * DAY_MS)
  const query = { campaign: slug, interval: 'auto', start_date: new Date(startMs).toISOString() }
  const { data } = useRead<DispositionReport>('/reports/disposition', { query, everyMs: EVERY_MS })
  if (data === undefined || data.total === 0) return null
  const isByHour = data.interval === 'hour'
  return (
    <Card title={t('Outcomes over time')}>
      <StackedChart
        bars={data.series.map(({ start, counts }) => ({
          label: new Date(start).toLocaleString(
            locale,
            isByHour ? { weekday: 'short', hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' },
          ),
          counts,
        }))}
        label={t('Outcomes over time')}
        parts={data.dispositions.map(({ disposition }) => ({ name: disposition, label: formatWord(disposition) }))}
      />
    </Card>
  )
}
