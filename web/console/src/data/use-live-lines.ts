import { useEffect, useState } from 'react'
import { LIVE_LINE_TYPES, type LiveLine, withEvent } from './live-lines.ts'
import type { CallEvent } from './types.ts'

/** What was said and done in a call so far, and from then on as it happens, words that may still change included. */
export function useLiveLines(callId: string): readonly LiveLine[] {
  const [lines, setLines] = useState<readonly LiveLine[]>([])
  useEffect(() => {
    setLines([])
    const feed = new EventSource(`/calls/${callId}/events/live`)
    const take = ({ data }: MessageEvent<string>) => {
      const event = JSON.parse(data) as CallEvent
      // The stream of a call that is over ends, and the browser would ask for it again.
      if (event.type === 'ended') feed.close()
      setLines((before) => withEvent(before, event))
    }
    for (const type of LIVE_LINE_TYPES) feed.addEventListener(type, take)
    return () => feed.close()
  }, [callId])
  return lines
}
