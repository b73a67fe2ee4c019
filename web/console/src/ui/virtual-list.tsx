import { type InfiniteData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { type Ask, api } from '../data/api.ts'
import type { Page } from '../data/types.ts'
import { Fault } from './fault.tsx'
import { Loading } from './layout.tsx'

const PAGE_SIZE = 60
const ROW_PX = 48

interface VirtualListProps<T> {
  /** A path that answers pages. */
  path: string
  query?: NonNullable<Ask['query']>
  label: string
  rowKey: (row: T) => string
  row: (row: T, index: number) => ReactNode
  /** Above the rows: the names of their columns. */
  head?: ReactNode
  empty: ReactNode
  everyMs?: number
  /** How many there are, for the surrounding page. */
  onTotal?: (total: number) => void
}

/** A list of any length: reads a page as it comes near, and draws the rows in sight alone. */
export function VirtualList<T>({
  path,
  query = {},
  label,
  rowKey,
  row,
  head,
  empty,
  everyMs,
  onTotal,
}: VirtualListProps<T>) {
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery<
    Page<T>,
    Error,
    InfiniteData<Page<T>, number>,
    QueryKey,
    number
  >({
    queryKey: [path, 'pages', query],
    queryFn: ({ pageParam, signal }: { pageParam: number; signal: AbortSignal }): Promise<Page<T>> =>
      api(path, { query: { ...query, page: pageParam, page_size: PAGE_SIZE }, signal }),
    initialPageParam: 1,
    getNextPageParam: ({ page, total_pages }: Page<T>) => (page < total_pages ? page + 1 : undefined),
    // Reading hundreds of pages again because one call ended would be of no use to anybody.
    ...(everyMs === undefined
      ? {}
      : { refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) <= 2 ? everyMs : false) }),
  })
  const rows = data?.pages.flatMap(({ items }) => items) ?? []
  const total = data?.pages[0]?.total
  useEffect(() => {
    if (total !== undefined) onTotal?.(total)
  }, [total, onTotal])
  const box = useRef<HTMLUListElement>(null)
  const [topPx, setTopPx] = useState(0)
  useLayoutEffect(() => {
    setTopPx((box.current?.getBoundingClientRect().top ?? 0) + scrollY)
  }, [])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: 12,
    scrollMargin: topPx,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= rows.length - PAGE_SIZE / 2) void fetchNextPage()
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage])
  if (error && rows.length === 0) return <Fault error={error} retry={() => void refetch()} />
  if (data === undefined) return <Loading lines={8} />
  if (rows.length === 0) return empty
  return (
    <>
      {head}
      <ul aria-label={label} ref={box} style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {items.map(({ index, start }) => (
          <li
            className="absolute inset-x-0 top-0 border-t border-line"
            key={rowKey(rows[index]!)}
            style={{ height: ROW_PX, transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
          >
            {row(rows[index]!, index)}
          </li>
        ))}
      </ul>
    </>
  )
}
