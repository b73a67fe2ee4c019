import type { ReactNode } from 'react'
import { useKept } from '../../data/kept.ts'
import { t } from '../../language/t.ts'
import { Button } from '../button.tsx'
import { Menu } from '../menu.tsx'

export interface ListColumn<T> {
  /** Names it in what is kept and in the address, as `duration`. */
  readonly id: string
  readonly name: string
  readonly cell: (row: T) => ReactNode
  /** A track of a CSS grid, such as `7rem` or `minmax(0,1fr)`. */
  readonly width: string
  readonly align?: 'end'
  /** The list is at least so wide where it is drawn. */
  readonly fromPx?: number
  /** Its head is for screen readers alone. */
  readonly hasHiddenHead?: boolean
  /** Only where somebody chose it. */
  readonly isExtra?: boolean
  /** The path sorts by its id. */
  readonly isSortable?: boolean
  /** What a list that was read whole is sorted by. */
  readonly sortValue?: (row: T) => string | number
}

/** The columns somebody chose for a list, kept in this browser. The first one always stays. */
export function useColumns<T>(list: string, columns: readonly ListColumn<T>[]) {
  const [flipped, setFlipped] = useKept<readonly string[]>(`columns.${list}`, (kept) =>
    Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : [],
  )
  const isChosen = ({ id, isExtra = false }: ListColumn<T>) => flipped.includes(id) === isExtra
  return {
    chosen: columns.filter(isChosen),
    isChosen,
    flip: (id: string) => setFlipped(flipped.includes(id) ? flipped.filter((one) => one !== id) : [...flipped, id]),
  }
}

interface ColumnsMenuProps<T> {
  columns: readonly ListColumn<T>[]
  isChosen: (column: ListColumn<T>) => boolean
  onFlip: (id: string) => void
}

export function ColumnsMenu<T>({ columns, isChosen, onFlip }: ColumnsMenuProps<T>) {
  return (
    <Menu
      items={columns
        .slice(1)
        .map((column) => ({ label: column.name, checked: isChosen(column), onSelect: () => onFlip(column.id) }))}
      trigger={<Button aria-label={t('Columns')} icon="settings" kind="quiet" size="sm" title={t('Columns')} />}
    />
  )
}
