interface StackedChartProps {
  label: string
  /** What a bar is made of, from its foot up. */
  parts: readonly { name: string; label: string }[]
  bars: readonly { label: string; counts: Readonly<Record<string, number>> }[]
}

const COLOURS = ['var(--accent)', 'var(--caller)', 'var(--think)', 'var(--warn)', 'var(--line-strong)', 'var(--bad)']
const MAX_LABELS = 6

/** Counts of several kinds over time. The figures stand in a table for who can't see it. */
export function StackedChart({ label, parts, bars }: StackedChartProps) {
  const totals = bars.map(({ counts }) => parts.reduce((sum, { name }) => sum + (counts[name] ?? 0), 0))
  const most = Math.max(...totals, 1)
  const every = Math.max(1, Math.ceil(bars.length / MAX_LABELS))
  const colourOf = (at: number) => COLOURS[at % COLOURS.length]
  return (
    <figure aria-label={label}>
      <ul aria-hidden="true" className="mb-2 flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
        {parts.map(({ name, label: text }, at) => (
          <li className="flex items-center gap-1.5" key={name}>
            <span className="size-2.5 rounded-sm" style={{ background: colourOf(at) }} /> {text}
          </li>
        ))}
      </ul>
      <div aria-hidden="true" className="flex h-36 items-end gap-px border-b border-line">
        {bars.map(({ label: name, counts }) => (
          <div
            className="flex h-full min-w-0 flex-1 flex-col-reverse"
            key={name}
            title={`${name}: ${textOf(parts, counts)}`}
          >
            {parts.map((part, at) => (
              <div
                key={part.name}
                style={{ background: colourOf(at), height: `${((counts[part.name] ?? 0) / most) * 100}%` }}
              />
            ))}
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
          {bars.map(({ label: name, counts }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{textOf(parts, counts)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

function textOf(parts: StackedChartProps['parts'], counts: Readonly<Record<string, number>>): string {
  const said = parts.flatMap(({ name, label }) => (counts[name] ? [`${label} ${counts[name]}`] : []))
  return said.length === 0 ? 'none' : said.join(', ')
}
