import { useQueries } from '@tanstack/react-query'
import { useRef } from 'react'
import { type Ask, api } from '../../data/api.ts'
import type { Page } from '../../data/types.ts'

const PAGE_SIZE = 40

/** Rows by their place in the list, from 0. */
export interface RowRange {
  readonly first: number
  readonly last: number
}

export interface RowSource<T> {
  /** undefined: not known yet. */
  readonly total: number | undefined
  /** undefined: it is being read. */
  readonly rowAt: (index: number) => T | undefined
  readonly error: Error | null
  readonly retry: () => void
}

interface PagesOptions {
  query: NonNullable<Ask['query']>
  everyMs?: number | undefined
}

/** The pages of a list that are in sight, and no others: page 1,000 is read without the 999 before it. */
export function usePages<T>(path: string, { first, last }: RowRange, { query, everyMs }: PagesOptions): RowSource<T> {
  const from = Math.floor(first / PAGE_SIZE)
  const numbers = Array.from({ length: Math.floor(last / PAGE_SIZE) - from + 1 }, (_, n) => from + n + 1)
  const pages = useQueries({
    queries: numbers.map((page) => ({
      queryKey: [path, 'page', query, page],
      queryFn: ({ signal }: { signal: AbortSignal }): Promise<Page<T>> =>
        api(path, { query: { ...query, page, page_size: PAGE_SIZE }, signal }),
      ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    })),
  })
  const lastTotal = useRef<number>(undefined)
  const newest = pages.toSorted((a, b) => b.dataUpdatedAt - a.dataUpdatedAt)[0]
  lastTotal.current = newest?.data?.total ?? lastTotal.current
  return {
    total: lastTotal.current,
    rowAt: (index) => pages[Math.floor(index / PAGE_SIZE) - from]?.data?.items[index % PAGE_SIZE],
    error: pages.find(({ error }) => error)?.error ?? null,
    retry: () => {
      for (const page of pages) if (page.error) void page.refetch()
    },
  }
}
