import type { ServingAgent } from '../types/usage.ts'
import { type CallChange, changeOf, changesStatus, turnOf } from './call-change.ts'
import type { CallEvent } from './events.ts'
import { workspaceEventOf } from './workspace-event.ts'

/** Events of one call that are written together, with all that they change. */
export interface CallEntry {
  workspaceId: string
  callId: string
  firstSeq: number
  lastSeq: number
  /** Of the first event, in ms since 1970. */
  at: number
  /** JSON array; undefined: the database refused them, and only the rest is written. */
  events?: string
  /** The events that are published to the workspace. */
  told?: readonly CallEvent[]
  change?: CallChange
  /** The place of the first turn of these events among the turns of the call. */
  firstTurn?: number
  /** Whose use it is, and by what it is priced. */
  serving?: ServingAgent
  /** Nothing of it is written once the call is over. */
  onlyIfOpen?: boolean
}

/** What an entry has besides its events. */
type EntryContext = Pick<CallEntry, 'firstTurn' | 'serving'>

/** Each change of the call's status ends an entry: what was said before it is published before it. */
export function entriesOf(
  workspaceId: string,
  callId: string,
  events: readonly CallEvent[],
  context: EntryContext = {},
): CallEntry[] {
  const entries: CallEntry[] = []
  let { firstTurn = 0 } = context
  for (let start = 0; start < events.length; ) {
    const last = events.findIndex((event, i) => i >= start && changesStatus(event))
    const part = events.slice(start, last === -1 ? undefined : last + 1)
    entries.push(entryOf(workspaceId, callId, part, { ...context, firstTurn }))
    firstTurn += part.filter((event) => turnOf(event) !== undefined).length
    start += part.length
  }
  return entries
}

export function entryOf(
  workspaceId: string,
  callId: string,
  events: readonly CallEvent[],
  { firstTurn = 0, serving }: EntryContext = {},
): CallEntry {
  const first = events[0]!
  const last = events.at(-1)!
  return {
    ...{ workspaceId, callId, firstSeq: first.seq, lastSeq: last.seq, at: first.at, firstTurn },
    events: JSON.stringify(events),
    told: events.filter((event) => workspaceEventOf(event) !== undefined),
    change: changeOf(events, firstTurn),
    ...(serving === undefined ? {} : { serving }),
    // A call that was over before its log began has another end.
    ...(first.seq === 0 && last.type === 'ended' ? { onlyIfOpen: true } : {}),
  }
}

/**
 * An entry that the database refused, in parts of which it may take some: event by event, then what one event writes into
 * each table, then an end without its error text. A call that stays open holds its places. Empty: it has no parts.
 */
export function partsOf(entry: CallEntry): CallEntry[] {
  const { events, told, change = {}, ...place } = entry
  const list: CallEvent[] = events === undefined ? [] : JSON.parse(events)
  if (list.length > 1) {
    let { firstTurn = 0 } = entry
    return list.map((event) => {
      const part = entryOf(place.workspaceId, place.callId, [event], { ...entry, firstTurn })
      if (turnOf(event) !== undefined) firstTurn++
      return part
    })
  }
  const { turns, ...row } = change
  const parts: CallEntry[] = []
  if (events !== undefined) parts.push({ ...place, events, ...(told === undefined ? {} : { told }) })
  if (turns !== undefined) parts.push({ ...place, change: { turns } })
  if (Object.keys(row).length > 0) parts.push({ ...place, change: row })
  if (parts.length > 1) return parts
  if (row.end?.error === undefined) return []
  const { error: _, ...end } = row.end
  return [{ ...place, change: { ...row, end } }]
}

/** The table of what the entry writes first. */
export const tableOf = ({ events, change }: CallEntry): string =>
  events !== undefined ? 'call_events' : change?.turns !== undefined ? 'call_turns' : 'calls'
