import type { ReactNode } from 'react'

interface TimeChartProps<B> {
  label: string
  bars: readonly B[]
  /** How high, as a class. */
  height: string
  /** What the top of the chart stands for, from `axisTop`, and how a figure reads; absent: bars of one height. */
  axis?: { top: number; format: (figure: number) => string }
  /** What stands over the bars. */
  legend?: ReactNode
  /** What is drawn of a bar, in a box as high as the chart. */
  children: (bar: B) => ReactNode
}

const MAX_LABELS = 6
/** Steps of the axis as people count them. */
const STEPS = [1, 2, 2.5, 5, 10]

/** The highest figure of an axis with two steps, for bars of up to `most`; counts have whole steps. */
export function axisTop(most: number, isCount: boolean): number {
  if (most <= 0) return isCount ? 2 : 1
  const power = 10 ** Math.floor(Math.log10(most / 2))
  const step = STEPS.map((one) => one * power).find((one) => one * 2 >= most) ?? most / 2
  return isCount ? 2 * Math.max(1, Math.ceil(step)) : 2 * step
}

/**
 * Bars over time with an axis, a figure under the pointer, and the labels that there is room for, the newest always; where bars have
 * ticks, those alone. The figures stand in a table for those who can't see them.
 */
export function TimeChart<B extends { label: string; text: string; tick?: string }>({
  label,
  bars,
  height,
  axis,
  legend,
  children,
}: TimeChartProps<B>) {
  const hasTicks = bars.some(({ tick }) => tick !== undefined)
  const every = Math.max(1, Math.ceil(bars.length / MAX_LABELS))
  return (
    <figure aria-label={label}>
      {legend}
      <div aria-hidden="true" className={axis ? 'grid grid-cols-[auto_minmax(0,1fr)] gap-x-2' : ''}>
        {axis && (
          <div className={`flex ${height} flex-col justify-between text-right text-xs text-muted tabular-nums`}>
            {[axis.top, axis.top / 2, 0].map((figure, at) => (
              <span className={['-translate-y-1/2', '', 'translate-y-1/2'][at]} key={figure}>
                {axis.format(figure)}
              </span>
            ))}
          </div>
        )}
        <div className={`relative flex ${height} justify-around gap-px border-line ${axis ? 'border-y' : 'border-b'}`}>
          {axis && <div className="absolute inset-x-0 top-1/2 border-t border-line" />}
          {bars.map((bar, at) => (
            <div className="group relative h-full max-w-12 min-w-0 flex-1" key={bar.label}>
              {children(bar)}
              <span
                className={`pointer-events-none absolute bottom-full z-10 mb-1 hidden rounded-sm border border-line bg-surface px-2 py-1 text-xs whitespace-nowrap shadow-[var(--shadow)] group-hover:block ${
                  at > bars.length / 2 ? 'right-0' : 'left-0'
                }`}
              >
                <span className="text-muted">{bar.label}</span> <span className="font-medium">{bar.text}</span>
              </span>
            </div>
          ))}
        </div>
        {axis && <span />}
        <div className="mt-1 flex justify-around gap-px text-xs text-muted">
          {bars.map(({ label: name, tick = '' }, at) => (
            <span className="flex max-w-12 min-w-0 flex-1 justify-center overflow-visible whitespace-nowrap" key={name}>
              {hasTicks ? tick : (bars.length - 1 - at) % every === 0 ? name : ''}
            </span>
          ))}
        </div>
      </div>
      <div className="sr-only">
        <table>
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
      </div>
    </figure>
  )
}
