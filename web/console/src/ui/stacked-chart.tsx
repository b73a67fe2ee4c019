import { t } from '../language/t.ts'
import { TimeChart } from './time-chart.tsx'

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
  const most = Math.max(...totals, 1)
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
    <TimeChart bars={told} height="h-36" label={label} legend={legend}>
      {({ label: name, counts, text }) => (
        <div className="flex h-full min-w-0 flex-1 flex-col-reverse" key={name} title={`${name}: ${text}`}>
          {parts.map((part, at) => (
            <div
              key={part.name}
              style={{ background: colourOf(at), height: `${((counts[part.name] ?? 0) / most) * 100}%` }}
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
