import { axisTop, TimeChart } from './time-chart.tsx'

interface BarChartProps {
  bars: readonly { label: string; value: number; text: string }[]
  label: string
  format: (figure: number) => string
  /** Amounts that are no counts have steps of any size. */
  isCount?: boolean
}

/** Amounts over time. */
export function BarChart({ bars, label, format, isCount = false }: BarChartProps) {
  const top = axisTop(Math.max(...bars.map(({ value }) => value), 0), isCount)
  return (
    <TimeChart axis={{ top, format }} bars={bars} height="h-44" label={label}>
      {({ value }) => (
        <div
          className="absolute inset-x-0 bottom-0 rounded-t-sm bg-accent transition-opacity group-hover:opacity-70"
          style={{ height: `${(value / top) * 100}%`, minHeight: value > 0 ? 2 : 0 }}
        />
      )}
    </TimeChart>
  )
}
