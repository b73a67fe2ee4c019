import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Filters } from './saved-filters.tsx'
import type { Sorting } from './work-list.tsx'

/** What of a list is shown, kept in the address: filters of these names, and what it is sorted by. */
export function useListSearch(names: readonly string[]) {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const read = (of: readonly string[]): Filters =>
    Object.fromEntries(of.flatMap((name) => (search[name] === undefined ? [] : [[name, String(search[name])]])))
  const filters = read(names)
  const { sort: by, order } = read(['sort', 'order'])
  const go = (change: Filters) => {
    const next: Filters = { ...read(Object.keys(search)), ...change }
    const kept = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== ''))
    void navigate({ to: '.', search: () => kept as never, replace: true })
  }
  const sorting: Sorting = {
    by,
    isAscending: order === 'asc',
    onSort: (sort, isAscending) => go({ sort, order: isAscending ? 'asc' : '' }),
  }
  return {
    filters,
    sorting,
    /** The same as fields of a query. */
    sorted: sortedQuery(sorting),
    /** Empty values take a filter away. */
    change: go,
    /** These filters and no others. */
    replace: (next: Filters) => go({ ...Object.fromEntries(names.map((name) => [name, ''])), ...next }),
  }
}

/** What a list is sorted by, as the API's fields. */
export function sortedQuery({ by, isAscending }: Sorting): Filters {
  return by === undefined ? {} : { sort: by, order: isAscending ? 'asc' : 'desc' }
}
