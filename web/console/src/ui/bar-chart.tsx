interface BarChartProps {
  bars: readonly { label: string; value: number; text: string }[]
  label: string
}

const MAX_LABELS = 6

/** Amounts over time. The figures stand in a table for who can't see it. */
export function BarChart({ bars, label }: BarChartProps) {
  const most = Math.max(...bars.map(({ value }) => value), 0)
  const every = Math.max(1, Math.ceil(bars.length / MAX_LABELS))
  return (
    <figure aria-label={label}>
      <div aria-hidden="true" className="flex h-44 items-end gap-px border-b border-line">
        {bars.map(({ label: name, value, text }) => (
          <div className="group relative flex h-full min-w-0 flex-1 items-end" key={name} title={`${name}: ${text}`}>
            <div
              className="w-full rounded-t-sm bg-accent transition-opacity group-hover:opacity-70"
              style={{ height: most === 0 ? 0 : `${(value / most) * 100}%`, minHeight: value > 0 ? 2 : 0 }}
            />
          </div>
        ))}
      </div>
      <div aria-hidden="true" className="mt-1 flex text-xs text-muted">
        {bars.map(({ label: name }, at) => (
          <span className="min-w-0 flex-1 overflow-visible whitespace-nowrap" key={name}>
            {at % every === 0 ? name : ''}
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
