import { useWindowVirtualizer } from '@tanstack/react-virtual'
import {
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { Ask } from '../../data/api.ts'
import { useWide } from '../../data/wide.ts'
import { Fault } from '../fault.tsx'
import { Icon } from '../icon.tsx'
import { Card, Loading } from '../layout.tsx'
import { ColumnsMenu, type ListColumn, useColumns } from './columns.tsx'
import { ListRow } from './list-row.tsx'
import { SidePanel } from './side-panel.tsx'
import { useBoxSize } from './use-box-size.ts'
import { useListKeys } from './use-list-keys.ts'
import { type RowRange, type RowSource, usePages } from './use-pages.ts'

const ROW_PX = 40
/** A row of two lines, where there is no room for columns. */
const TALL_ROW_PX = 56
const COLUMNS_FROM_PX = 560
const BESIDE_FROM_PX = 900
const FIRST_SIGHT: RowRange = { first: 0, last: 39 }

export interface Sorting {
  /** The id of a column; undefined: the list's own order. */
  readonly by: string | undefined
  readonly isAscending: boolean
  readonly onSort: (by: string, isAscending: boolean) => void
}

interface WorkListProps<T> {
  /** Names the list in what this browser keeps. */
  name: string
  label: string
  /** The same array each time. */
  columns: readonly ListColumn<T>[]
  rowKey: (row: T) => string
  /** The page of a row; absent: rows have none. */
  rowPath?: (row: T) => string
  /** The second line of a row where there is no room for columns. */
  compact: (row: T) => ReactNode
  /** What stands beside the list when a row is chosen; absent: a row opens its page. */
  panel?: (row: T) => ReactNode
  sorting?: Sorting
  /** In a card already. */
  isBare?: boolean
  empty: ReactNode
}

interface PagedListProps<T> extends WorkListProps<T> {
  /** A path that answers pages. */
  path: string
  query?: NonNullable<Ask['query']>
  everyMs?: number
  /** How many there are, for the surrounding page. */
  onTotal?: (total: number) => void
}

/** A list of any length, of a path that answers pages. */
export function PagedList<T>({ path, query = {}, everyMs, onTotal, ...list }: PagedListProps<T>) {
  const [range, setRange] = useState(FIRST_SIGHT)
  const source = usePages<T>(path, range, { query, everyMs })
  const { total } = source
  useEffect(() => {
    if (total !== undefined) onTotal?.(total)
  }, [total, onTotal])
  return <Rows {...list} onRange={setRange} source={source} />
}

/** A list that was read whole; it sorts by itself. */
export function WholeList<T>({ rows, ...list }: WorkListProps<T> & { rows: readonly T[] }) {
  const { columns, sorting } = list
  const sortValue = columns.find(({ id }) => id === sorting?.by)?.sortValue
  const sorted = sortValue === undefined ? rows : rows.toSorted((a, b) => compare(sortValue(a), sortValue(b)))
  const shown = sortValue !== undefined && !sorting?.isAscending ? sorted.toReversed() : sorted
  const source: RowSource<T> = { total: shown.length, rowAt: (index) => shown[index], error: null, retry: () => {} }
  return <Rows {...list} source={source} />
}

const compare = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b))

type RowsProps<T> = WorkListProps<T> & { source: RowSource<T>; onRange?: (range: RowRange) => void }

function Rows<T>({ source, onRange, empty, panel, isBare, ...list }: RowsProps<T>) {
  const { label, rowKey, rowPath } = list
  const { total, rowAt, error, retry } = source
  const isWindowWide = useWide('(min-width: 64rem)')
  const frame = useBoxSize<HTMLDivElement>()
  const box = useBoxSize<HTMLTableElement>()
  const { widthPx, topPx } = box
  const isCompact = widthPx > 0 && widthPx < COLUMNS_FROM_PX
  const rowPx = isCompact ? TALL_ROW_PX : ROW_PX
  const virtual = useWindowVirtualizer({
    count: total ?? 0,
    estimateSize: () => rowPx,
    overscan: 10,
    scrollMargin: topPx,
  })
  useLayoutEffect(() => virtual.measure(), [rowPx, virtual])
  const items = virtual.getVirtualItems()
  const [first, last] = [items[0]?.index, items.at(-1)?.index]
  useEffect(() => {
    if (first !== undefined && last !== undefined) onRange?.({ first, last })
  }, [first, last, onRange])

  const hasPanel = panel !== undefined && (isWindowWide || rowPath === undefined)
  const [chosen, setChosen] = useState<T>()
  const chosenKey = chosen === undefined || !hasPanel ? undefined : rowKey(chosen)
  // What was read anew of the chosen row; it is shown on when it is scrolled out of sight.
  const fresh = items.map(({ index }) => rowAt(index)).find((row) => row !== undefined && rowKey(row) === chosenKey)
  const shown = chosenKey === undefined ? undefined : (fresh ?? chosen)
  const { at, setAt } = useListKeys({
    list: box.element,
    count: total ?? 0,
    first: first ?? 0,
    onMove: (index) => {
      const row = rowAt(index)
      if (shown !== undefined && row !== undefined) setChosen(row)
    },
    onEscape: shown === undefined ? undefined : () => setChosen(undefined),
  })
  const open = (event: MouseEvent, index: number) => {
    setAt(index)
    const row = rowAt(index)
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0
    // Enter on the row that stands beside the list already opens its page.
    const isSecondEnter = event.detail === 0 && row !== undefined && rowKey(row) === chosenKey
    if (!hasPanel || row === undefined || !isPlain || isSecondEnter) return
    event.preventDefault()
    setChosen(row)
  }
  const latestOpen = useRef(open)
  latestOpen.current = open
  const onOpen = useCallback((event: MouseEvent, index: number) => latestOpen.current(event, index), [])
  if (error && total === undefined) return <Fault error={error} retry={retry} />
  if (total === undefined) return <Loading lines={8} />
  if (total === 0) return isBare ? empty : <Card>{empty}</Card>
  const isBeside = frame.widthPx >= BESIDE_FROM_PX
  const table = (
    <>
      <Fault error={error} retry={retry} />
      <table aria-label={label} aria-rowcount={total + 1} className="block" ref={box.ref}>
        <Body
          {...list}
          at={at}
          chosenKey={chosenKey}
          isCompact={isCompact}
          items={items.map(({ index, start }) => ({ index, topPx: start - topPx, row: rowAt(index) }))}
          onOpen={onOpen}
          opens={panel !== undefined}
          rowPx={rowPx}
          totalPx={virtual.getTotalSize()}
          widthPx={widthPx}
        />
      </table>
    </>
  )
  return (
    <div
      className={shown !== undefined && isBeside ? 'grid grid-cols-[minmax(0,1fr)_24rem] items-start gap-4' : ''}
      ref={frame.ref}
    >
      {isBare ? table : <Card flush>{table}</Card>}
      {shown !== undefined && (
        <SidePanel isOver={!isBeside} label={label} onClose={() => setChosen(undefined)} path={rowPath?.(shown)}>
          {panel?.(shown)}
        </SidePanel>
      )}
    </div>
  )
}

interface BodyProps<T>
  extends Pick<WorkListProps<T>, 'name' | 'columns' | 'rowKey' | 'rowPath' | 'compact' | 'sorting'> {
  items: readonly { index: number; topPx: number; row: T | undefined }[]
  /** The row that the keyboard is at. */
  at: number
  chosenKey: string | undefined
  isCompact: boolean
  rowPx: number
  totalPx: number
  widthPx: number
  opens: boolean
  onOpen: (event: MouseEvent, index: number) => void
}

function Body<T>({ name, columns, rowKey, rowPath, compact, sorting, items, at, ...drawn }: BodyProps<T>) {
  const { isCompact, widthPx, rowPx } = drawn
  const { chosen, isChosen, flip } = useColumns(name, columns)
  const wanted = chosen.map(({ id }) => id).join(' ')
  const shown = useMemo(() => {
    if (isCompact) return columns.slice(0, 1)
    const ids = wanted.split(' ')
    return columns.filter(({ id, fromPx = 0 }) => ids.includes(id) && widthPx >= fromPx)
  }, [columns, wanted, isCompact, widthPx])
  const template = isCompact ? 'minmax(0,1fr)' : `${shown.map(({ width }) => width).join(' ')} 1.75rem`
  const lines = useRef(compact)
  lines.current = compact
  const secondLine = useCallback((row: T) => lines.current(row), [])
  const isAtDrawn = items.some(({ index }) => index === at)
  return (
    <>
      <thead className="block">
        <tr className="grid h-9 items-center gap-3 px-4" style={{ gridTemplateColumns: template }}>
          {shown.map((column) => (
            <Head column={column} key={column.id} sorting={sorting} />
          ))}
          {!isCompact && (
            <th className="p-0" scope="col">
              <ColumnsMenu columns={columns} isChosen={isChosen} onFlip={flip} />
            </th>
          )}
        </tr>
      </thead>
      <tbody className="relative block" style={{ height: drawn.totalPx }}>
        {items.map(({ index, topPx, row }) => (
          <ListRow
            columns={shown}
            compact={isCompact ? secondLine : undefined}
            heightPx={rowPx}
            index={index}
            isChosen={row !== undefined && rowKey(row) === drawn.chosenKey}
            key={index}
            onOpen={drawn.onOpen}
            opens={drawn.opens}
            path={row === undefined ? undefined : rowPath?.(row)}
            row={row}
            takesTab={index === (isAtDrawn ? at : items[0]?.index)}
            template={template}
            topPx={topPx}
          />
        ))}
      </tbody>
    </>
  )
}

interface HeadProps<T> {
  column: ListColumn<T>
  sorting: Sorting | undefined
}

function Head<T>({ column: { id, name, align, hasHiddenHead, isSortable, sortValue }, sorting }: HeadProps<T>) {
  const isSorted = sorting?.by === id
  const look = `min-w-0 truncate p-0 text-xs font-medium text-muted ${align === 'end' ? 'text-right' : 'text-left'}`
  if (sorting === undefined || !(isSortable || sortValue)) {
    return (
      <th className={look} scope="col">
        {hasHiddenHead ? <span className="sr-only">{name}</span> : name}
      </th>
    )
  }
  return (
    <th aria-sort={isSorted ? (sorting.isAscending ? 'ascending' : 'descending') : 'none'} className={look} scope="col">
      <button
        className="inline-flex max-w-full items-center gap-1 hover:text-ink"
        onClick={() => sorting.onSort(id, isSorted && !sorting.isAscending)}
        type="button"
      >
        <span className="truncate">{name}</span>
        {isSorted && <Icon name={sorting.isAscending ? 'up' : 'down'} size={12} />}
      </button>
    </th>
  )
}
