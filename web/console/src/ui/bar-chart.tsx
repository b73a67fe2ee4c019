import { TimeChart } from './time-chart.tsx'

interface BarChartProps {
  bars: readonly { label: string; value: number; text: string }[]
  label: string
}

/** Amounts over time. */
export function BarChart({ bars, label }: BarChartProps) {
  const most = Math.max(...bars.map(({ value }) => value), 0)
  return (
    <TimeChart bars={bars} height="h-44" label={label}>
      {({ label: name, value, text }) => (
        <div className="group relative flex h-full min-w-0 flex-1 items-end" key={name} title={`${name}: ${text}`}>
          <div
            className="w-full rounded-t-sm bg-accent transition-opacity group-hover:opacity-70"
            style={{ height: most === 0 ? 0 : `${(value / most) * 100}%`, minHeight: value > 0 ? 2 : 0 }}
          />
        </div>
      )}
    </TimeChart>
  )
}
