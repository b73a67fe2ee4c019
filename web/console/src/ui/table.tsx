import type { ReactNode } from 'react'
import { t } from '../language/t.ts'

export interface Column<T> {
  readonly name: string
  readonly cell: (row: T) => ReactNode
  /** CSS width of the column, such as `10rem` or `minmax(8rem, 1fr)`. */
  readonly width?: string
  readonly align?: 'end'
  /** Left out on small screens. */
  readonly wide?: boolean
}

interface TableProps<T> {
  columns: readonly Column<T>[]
  rows: readonly T[]
  rowKey: (row: T) => string
  label: string
}

/** What is done with a row stays in reach where the table is wider than the screen. */
const STAYS = 'sticky right-0 bg-surface'

/** A short table; long ones are `VirtualList`. */
export function Table<T>({ columns, rows, rowKey, label }: TableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label={label} className="relative overflow-x-auto" tabIndex={0}>
      <table className="w-full border-collapse text-sm">
        <thead>
          <tr className="border-b border-line text-left text-xs text-muted">
            {columns.map(({ name, wide, align, width }) => (
              <th
                className={`h-9 px-3 font-medium first:pl-4 sm:px-4 whitespace-nowrap ${wide ? 'hidden md:table-cell' : ''} ${align === 'end' ? 'text-right' : ''} ${name ? '' : STAYS}`}
                key={name}
                scope="col"
                style={width ? { width } : undefined}
              >
                {name || <span className="sr-only">{t('Actions')}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr className="border-b border-line last:border-0 hover:bg-sunken/60" key={rowKey(row)}>
              {columns.map(({ name, cell, wide, align }) => (
                <td
                  className={`h-11 max-w-[45vw] truncate px-3 first:pl-4 sm:max-w-xs sm:px-4 ${wide ? 'hidden md:table-cell' : ''} ${align === 'end' ? 'text-right' : ''} ${name ? '' : STAYS}`}
                  key={name}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
