import {
  type Query,
  type QueryKey,
  replaceEqualDeep,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { toast } from '../ui/toast.tsx'
import { type Ask, api, passTag } from './api.ts'

/** What is as before stays the same object, so that little is drawn again; what is not has the tag that it came with. */
function sharing(before: unknown, next: unknown): unknown {
  const answer: unknown = replaceEqualDeep(before, next)
  passTag(next, answer)
  return answer
}

interface ReadOptions<T> {
  query?: Ask['query']
  /** Of what was read last, where that decides it; false: not again. */
  everyMs?: number | ((query: Query<T>) => number | false)
  enabled?: boolean
}

/** What a path answers; read again every `everyMs` where it changes by itself. */
export function useRead<T>(path: string, { query, everyMs, enabled }: ReadOptions<T> = {}) {
  return useQuery<T>({
    queryKey: [path, query ?? {}],
    queryFn: ({ signal }) => api<T>(path, { ...(query ? { query } : {}), signal }),
    structuralSharing: sharing,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(enabled === undefined ? {} : { enabled }),
  })
}

interface WriteOptions<Answer, Input> {
  /** What to say when it is done; nothing: the page shows it. */
  done?: string | ((answer: Answer, input: Input) => string)
  /** Paths whose answers it changes. */
  changes?: readonly string[]
  onDone?: (answer: Answer, input: Input) => void
  /** The fault is shown where it belongs, and not by itself. */
  quiet?: boolean
}

/** A change: says when it is done, says why when it isn't, and reads again what it changed. */
export function useWrite<Answer = { detail: string }, Input = void>(
  ask: (input: Input) => readonly [path: string, ask: Ask],
  { done, changes, onDone, quiet }: WriteOptions<Answer, Input> = {},
) {
  const queries = useQueryClient()
  return useMutation<Answer, Error, Input>({
    mutationFn: (input) => api<Answer>(...ask(input)),
    onSuccess: (answer, input) => {
      const said = typeof done === 'function' ? done(answer, input) : done
      if (said) toast(said)
      if (changes) {
        const isChanged = ({ queryKey }: { queryKey: QueryKey }) =>
          changes.some((path) => String(queryKey[0]).startsWith(path))
        void queries.invalidateQueries({ predicate: isChanged })
      }
      onDone?.(answer, input)
    },
    onError: (error) => {
      if (!quiet) toast(error.message, 'bad')
    },
  })
}
