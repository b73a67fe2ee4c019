import type { ReactNode } from 'react'

interface TimeChartProps<B> {
  label: string
  bars: readonly B[]
  /** How high, as a class. */
  height: string
  /** What stands over the bars. */
  legend?: ReactNode
  children: (bar: B) => ReactNode
}

const MAX_LABELS = 6

/** Bars over time with the labels, or their shorter ticks, that there is room for. The figures stand in a table for who can't see it. */
export function TimeChart<B extends { label: string; text: string; tick?: string }>({
  label,
  bars,
  height,
  legend,
  children,
}: TimeChartProps<B>) {
  const every = Math.max(1, Math.ceil(bars.length / MAX_LABELS))
  return (
    <figure aria-label={label}>
      {legend}
      <div aria-hidden="true" className={`flex ${height} items-end gap-px border-b border-line`}>
        {bars.map((bar) => children(bar))}
      </div>
      <div aria-hidden="true" className="mt-1 flex text-xs text-muted">
        {bars.map(({ label: name, tick = name }, at) => (
          <span className="min-w-0 flex-1 overflow-visible whitespace-nowrap" key={name}>
            {at % every === 0 ? tick : ''}
          </span>
        ))}
      </div>
      <table className="sr-only">
        <caption>{label}</caption>
        <tbody>
          {bars.map(({ label: name, text }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
