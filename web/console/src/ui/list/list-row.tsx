import { Link } from '@tanstack/react-router'
import { type MouseEvent, memo, type ReactNode } from 'react'
import type { ListColumn } from './columns.tsx'

interface ListRowProps<T> {
  row: T | undefined
  index: number
  topPx: number
  heightPx: number
  /** Those that are drawn. */
  columns: readonly ListColumn<T>[]
  template: string
  /** The page of the row; absent: it has none. */
  path: string | undefined
  /** The second line, where there is no room for columns. */
  compact: ((row: T) => ReactNode) | undefined
  isChosen: boolean
  takesTab: boolean
  /** A click may do something: without a page that is all it does. */
  opens: boolean
  onOpen: (event: MouseEvent, index: number) => void
}

const STRETCHED = 'block max-w-full truncate text-left font-medium outline-offset-[-2px]! after:absolute after:inset-0'

function Row<T>({ row, index, topPx, heightPx, columns, template, compact, isChosen, ...opening }: ListRowProps<T>) {
  return (
    <tr
      aria-rowindex={index + 2}
      className={`absolute inset-x-0 top-0 grid items-center gap-x-3 border-t border-line px-4 ${
        isChosen ? 'bg-accent-soft' : 'hover:bg-sunken/60'
      }`}
      style={{ gridTemplateColumns: template, height: heightPx, transform: `translateY(${topPx}px)` }}
    >
      {row === undefined ? (
        <td className="h-3 w-40 rounded bg-sunken p-0" />
      ) : (
        columns.map(({ id, cell, align }, n) => (
          <td
            className={`min-w-0 truncate p-0 ${align === 'end' ? 'text-right' : ''} ${n === 0 ? '' : 'text-sm'}`}
            key={id}
          >
            {n === 0 ? (
              <Opener {...opening} index={index}>
                {cell(row)}
              </Opener>
            ) : (
              cell(row)
            )}
            {compact && <div className="truncate text-xs text-muted">{compact(row)}</div>}
          </td>
        ))
      )}
    </tr>
  )
}

type OpenerProps = Pick<ListRowProps<unknown>, 'index' | 'path' | 'takesTab' | 'opens' | 'onOpen'> & {
  children: ReactNode
}

/** The first cell of a row: a click anywhere in the row is a click on it. */
function Opener({ index, path, takesTab, opens, onOpen, children }: OpenerProps) {
  const common = { className: STRETCHED, 'data-row': index, tabIndex: takesTab ? 0 : -1 }
  if (path !== undefined) {
    return (
      <Link {...common} onClick={(event) => onOpen(event, index)} to={path}>
        {children}
      </Link>
    )
  }
  if (!opens) return <span className="block truncate font-medium">{children}</span>
  return (
    <button {...common} onClick={(event) => onOpen(event, index)} type="button">
      {children}
    </button>
  )
}

/** One row of a long list; drawn again only when it changes, not with each step of scrolling. */
export const ListRow = memo(Row) as typeof Row
