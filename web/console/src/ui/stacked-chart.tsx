import { formatCount } from '../data/format.ts'
import { t } from '../language/t.ts'
import { axisTop, TimeChart } from './time-chart.tsx'

interface StackedChartProps {
  label: string
  /** What a bar is made of, from its foot up. */
  parts: readonly { name: string; label: string }[]
  bars: readonly { label: string; counts: Readonly<Record<string, number>> }[]
}

const COLOURS = ['var(--accent)', 'var(--caller)', 'var(--think)', 'var(--warn)', 'var(--line-strong)', 'var(--bad)']

/** Counts of several kinds over time. */
export function StackedChart({ label, parts, bars }: StackedChartProps) {
  const totals = bars.map(({ counts }) => parts.reduce((sum, { name }) => sum + (counts[name] ?? 0), 0))
  const top = axisTop(Math.max(...totals), true)
  const colourOf = (at: number) => COLOURS[at % COLOURS.length]
  const legend = (
    <ul aria-hidden="true" className="mb-2 flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
      {parts.map(({ name, label: text }, at) => (
        <li className="flex items-center gap-1.5" key={name}>
          <span className="size-2.5 rounded-sm" style={{ background: colourOf(at) }} /> {text}
        </li>
      ))}
    </ul>
  )
  const told = bars.map((bar) => ({ ...bar, text: textOf(parts, bar.counts) }))
  return (
    <TimeChart axis={{ top, format: formatCount }} bars={told} height="h-36" label={label} legend={legend}>
      {({ counts }) => (
        <div className="flex h-full flex-col-reverse overflow-hidden rounded-t-sm">
          {parts.map((part, at) => (
            <div
              key={part.name}
              style={{ background: colourOf(at), height: `${((counts[part.name] ?? 0) / top) * 100}%` }}
            />
          ))}
        </div>
      )}
    </TimeChart>
  )
}

function textOf(parts: StackedChartProps['parts'], counts: Readonly<Record<string, number>>): string {
  const said = parts.flatMap(({ name, label }) => (counts[name] ? [`${label} ${counts[name]}`] : []))
  return said.length === 0 ? t('none') : said.join(', ')
}
