import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

/** At most this often is a path read again, however much happens. */
const READ_EVERY_MS = 700

/**
 * Follows a stream of what happens and reads the paths again that begin with one of `changes`. The browser comes back by itself
 * when the stream ends; where it is refused, what is read from time to time stands in.
 * @param types the names of its events
 */
export function useFeed(path: string | undefined, types: readonly string[], changes: readonly string[]): void {
  const queries = useQueryClient()
  const latest = useRef(changes)
  latest.current = changes
  const names = types.join(',')
  useEffect(() => {
    if (path === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = () => {
      timer = undefined
      void queries.invalidateQueries({
        predicate: ({ queryKey }) => latest.current.some((prefix) => String(queryKey[0]).startsWith(prefix)),
      })
    }
    const feed = new EventSource(path)
    for (const name of names.split(',')) {
      feed.addEventListener(name, () => {
        timer ??= setTimeout(read, READ_EVERY_MS)
      })
    }
    return () => {
      clearTimeout(timer)
      feed.close()
    }
  }, [path, names, queries])
}

/** What happens to calls, as the stream of the workspace names it. */
export const CALL_TYPES = [
  'call.queued',
  'call.ringing',
  'call.answered',
  'call.turn',
  'call.transferred',
  'call.ended',
] as const
