import { setTimeout as sleep } from 'node:timers/promises'
import { type CallEvent, isPassing } from '../../runtime/call/log/events.ts'
import { callEvents } from '../../store/calls/call-events.ts'
import { callById } from '../../store/calls/calls.ts'
import type { Call } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { eventBody } from '../calls/events-schema.ts'
import type { CallFeed } from './call-feed.ts'
import type { EventQueue } from './server-sent.ts'

const READ_AT_ONCE = 500
/** The journal has an event about a second after it happened: what the feed lost is there by then. */
const LOOK_MS = 1_500
/** Live events that came before their turn. */
const MAX_EARLY = 1_000

/**
 * Puts the log of a call into the queue, from one place on, then what happens in it, in order and without gaps, until it
 * has ended. What the feed loses is read from the journal.
 */
export async function followCall(
  tenant: Tenant,
  call: Pick<Call, 'id' | 'created_at' | 'answered_at'>,
  fromSeq: number,
  { feed, queue, signal, caughtUp }: { feed: CallFeed; queue: EventQueue; signal: AbortSignal; caughtUp: () => void },
): Promise<void> {
  let next = fromSeq
  let answeredAt = call.answered_at
  let early: CallEvent[] = []
  let reading = true

  const give = (event: CallEvent) => {
    if (isPassing(event) ? event.seq < next : event.seq !== next) return
    if (event.type === 'answered') answeredAt = new Date(event.at)
    const shown = eventBody(event, answeredAt)
    if (isPassing(event)) return queue.push({ event: event.type, data: shown })
    next++
    queue.push({ id: String(event.seq), event: event.type, data: shown })
  }
  const giveEarly = () => {
    const waiting = early.sort((a, b) => a.seq - b.seq)
    early = []
    for (const event of waiting)
      if (event.seq > next) early.push(event)
      else give(event)
  }
  const end = await feed.listen(tenant.workspaceId, call.id, (event) => {
    if (reading || event.seq > next) early = [...early, event].slice(-MAX_EARLY)
    else give(event)
  })
  try {
    for (;;) {
      reading = true
      const { events } = await callEvents(tenant, { id: call.id, createdAt: call.created_at }, next, READ_AT_ONCE)
      for (const event of events) give(event)
      reading = false
      giveEarly()
      if (queue.waiting < MAX_EARLY && events.length === READ_AT_ONCE) continue
      caughtUp()
      const isOver = await ended(tenant, call.id)
      if (isOver === true && early.length === 0 && events.length === 0) break
      await sleep(LOOK_MS, undefined, { signal })
    }
  } finally {
    end()
    queue.close()
  }
}

/** Undefined when the call was erased meanwhile. */
async function ended(tenant: Tenant, id: string): Promise<boolean | undefined> {
  const call = await callById(tenant, id)
  return call === undefined ? true : call.ended_at !== null
}
