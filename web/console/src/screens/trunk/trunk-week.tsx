import { formatShare, formatWeekday, formatWeekHour } from '../../data/format.ts'
import type { TrunkHealth } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { TimeChart } from '../../ui/time-chart.tsx'

type Hour = TrunkHealth['hours'][number]

/** Hour by hour, whether the trunk answered. */
export function TrunkWeek({ hours }: { hours: readonly Hour[] }) {
  const asked = hours.reduce((sum, { ok, failed }) => sum + ok + failed, 0)
  const answered = hours.reduce((sum, { ok }) => sum + ok, 0)
  return (
    <>
      <p className="mb-3 text-sm text-muted">
        {asked === 0
          ? t('It was not asked yet.')
          : t('Answered {share} of what it was asked in seven days.', { share: formatShare(answered / asked) })}
      </p>
      <TimeChart
        bars={hours.map((hour) => ({
          ...hour,
          label: formatWeekHour(hour.start),
          // In the middle of its day.
          tick: new Date(hour.start).getHours() === 12 ? formatWeekday(hour.start) : '',
          text: textOf(hour),
        }))}
        height="h-9"
        label={t('The last seven days')}
      >
        {(hour) => <div className={`h-full rounded-[1px] ${colourOf(hour)}`} />}
      </TimeChart>
    </>
  )
}

function colourOf({ ok, failed }: Hour): string {
  if (ok + failed === 0) return 'bg-sunken'
  if (failed === 0) return 'bg-good'
  return ok === 0 ? 'bg-bad' : 'bg-warn'
}

function textOf({ ok, failed }: Hour): string {
  if (ok + failed === 0) return t('not asked')
  return failed === 0
    ? t('answered {n} times', { n: ok })
    : t('{n} of {all} unanswered', { n: failed, all: ok + failed })
}
