import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { lowerSession, raiseSession, sessionsGiveWay } from '../../runtime/process/priority.ts'
import { autogroupOf } from '../../runtime/process/scheduling/autogroup.ts'
import { loopStanding } from '../../runtime/process/scheduling/realtime-loop.ts'

const LOOK_MS = 1_000
/** Beside the loop that carries audio and other programs; undefined: as whoever started them left them. */
export type Place = 'before other programs' | 'behind the loop' | undefined

/**
 * Where what everybody waits for stands: behind the loop where nobody could raise it; before other programs where it runs in real time,
 * which goes before all of them.
 */
function placeNow(): Place {
  if (sessionsGiveWay()) return 'behind the loop'
  return loopStanding().scheduling === 'realtime' ? 'before other programs' : undefined
}

/**
 * Has the processes that a server starts one by one, each in a session of its own, have their part of the processor: PostgreSQL's
 * backends. Ends with the server.
 */
export async function moveSessionsOfChildren(pid: number | undefined, place = placeNow): Promise<void> {
  // Elsewhere they inherit what the server was given.
  if (pid === undefined || autogroupOf(pid) === undefined) return
  let moved = new Set<string>()
  for (;;) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => undefined)
    if (children === undefined) return
    const to = place()
    const move = to === 'behind the loop' ? lowerSession : raiseSession
    const ids = children.split(' ').filter((id) => id !== '')
    const own = autogroupOf(pid)?.name
    // One that was forked this instant is in the server's session still.
    const isApart = (id: string) => autogroupOf(Number(id))?.name !== own
    moved = new Set(to === undefined ? [] : ids.filter((id) => moved.has(id) || (isApart(id) && move(Number(id)))))
    await sleep(LOOK_MS, undefined, { ref: false })
  }
}
