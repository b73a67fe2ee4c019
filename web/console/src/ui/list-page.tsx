import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Fault } from './fault.tsx'
import type { IconName } from './icon.tsx'
import { Card, Empty, Loading, PageHead } from './layout.tsx'
import { type Column, Table } from './table.tsx'

interface ListCardProps<T> {
  list: Pick<UseQueryResult<T[]>, 'data' | 'error' | 'refetch'>
  /** Names the table; read by screen readers. */
  label: string
  /** Over the rows, with what makes one more beside it; absent: the page says it. */
  title?: (rows: readonly T[]) => string
  /** What makes one more; false where the role may not. */
  add: ReactNode
  columns: readonly Column<T>[]
  rowKey: (row: T) => string
  empty: { icon: IconName; title: string; children: ReactNode }
}

/** A short list: its fault, its rows, or what to do where there are none. */
export function ListCard<T>({
  list: { data, error, refetch },
  label,
  title,
  add,
  columns,
  rowKey,
  empty,
}: ListCardProps<T>) {
  if (data === undefined) return error ? <Fault error={error} retry={() => void refetch()} /> : <Loading />
  const isEmpty = data.length === 0
  return (
    <div className="space-y-3">
      <Fault error={error} retry={() => void refetch()} />
      <Card actions={title && !isEmpty && add} flush title={isEmpty ? undefined : title?.(data)}>
        {isEmpty ? (
          <Empty action={add} icon={empty.icon} title={empty.title}>
            {empty.children}
          </Empty>
        ) : (
          <Table columns={columns} label={label} rowKey={rowKey} rows={data} />
        )}
      </Card>
    </div>
  )
}

interface ListPageProps<T> extends Omit<ListCardProps<T>, 'title'> {
  title: string
  lead: string
}

/** A screen that is one short list. What makes one more is beside its name, or in the middle while there is none. */
export function ListPage<T>({ title, lead, ...list }: ListPageProps<T>) {
  return (
    <>
      <PageHead actions={list.list.data?.length !== 0 && list.add} lead={lead} title={title} />
      <ListCard {...list} />
    </>
  )
}
