import { formatCount } from '../data/format.ts'
import { t } from '../language/t.ts'
import type { Tone } from './layout.tsx'
import { Stat } from './layout.tsx'

interface TalliesProps {
  rows: readonly (readonly [label: string, count: number, tone?: Tone])[]
  total: number
  /** So many rows were looked at. */
  judged: number
}

/** How many rows of a file are what. */
export function Tallies({ rows, total, judged }: TalliesProps) {
  return (
    <div className="rounded-md border border-line px-3 py-2.5">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-5">
        {rows.map(([label, count, tone = 'neutral']) => (
          <Stat key={label} label={label} tone={count > 0 ? tone : 'neutral'} value={formatCount(count)} />
        ))}
      </div>
      {judged < total && (
        <p className="mt-2 text-xs text-muted">
          {t('Of the first {n} rows; those behind them are looked at as they are loaded.', { n: formatCount(judged) })}
        </p>
      )}
    </div>
  )
}

interface SkippedProps {
  /** The first of them. */
  rows: readonly { line: number; phone: string; reason: string }[]
  /** All of them. */
  count: number
}

/** The rows that are left out, each with its reason. */
export function Skipped({ rows, count }: SkippedProps) {
  if (rows.length === 0) return null
  return (
    <details className="rounded-md border border-line text-sm" open={rows.length <= 5}>
      <summary className="cursor-pointer px-3 py-2 font-medium">
        {count === 1 ? t('1 row is left out') : t('{n} rows are left out', { n: formatCount(count) })}
      </summary>
      <section
        aria-label={t('Rows that are left out')}
        className="max-h-48 overflow-auto border-t border-line"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        <table className="w-full text-xs">
          <thead className="sr-only">
            <tr>
              <th scope="col">{t('Line')}</th>
              <th scope="col">{t('Number')}</th>
              <th scope="col">{t('Why')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ line, phone, reason }) => (
              <tr className="border-b border-line last:border-0" key={line}>
                <td className="w-20 px-3 py-1 text-muted">{t('Line {line}', { line })}</td>
                <td className="max-w-40 truncate px-3 py-1">{phone || '–'}</td>
                <td className="px-3 py-1">{reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {count > rows.length && (
        <p className="border-t border-line px-3 py-1.5 text-xs text-muted">
          {t('And {n} more; after the upload you get all of them as a file.', { n: formatCount(count - rows.length) })}
        </p>
      )}
    </details>
  )
}
